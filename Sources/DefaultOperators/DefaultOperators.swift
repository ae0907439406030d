public import Default

// In a module of its own, so that importing Default adds no operator to anybody's code.

infix operator ?= : AssignmentPrecedence
postfix operator ++

/// Stores a value under a key where nothing is stored; one operation across threads and, on a ``FileDefaults``, processes.
///
/// ```swift
/// import Default
/// import DefaultOperators
///
/// Defaults["color"] ?= "white"
/// ```
///
/// - Parameters:
///   - proxy: Where to store it.
///   - value: The value, evaluated only if it is needed; as for assigning to a string key.
public func ?= (proxy: Defaults.Proxy, value: @autoclosure () -> Any) {
    proxy.setIfAbsent(value)
}

/// Assigns a value to what is nil, such as `Defaults[.username]` while nothing is stored under it; there it is one
/// operation across threads and, on a ``FileDefaults``, processes.
///
/// - Parameters:
///   - target: What is assigned to if it is nil.
///   - value: The value, evaluated only if it is needed.
public func ?= <Value>(target: inout Value?, value: @autoclosure () -> Value) {
    if target == nil {
        target = value()
    }
}

/// Adds 1 to the stored number, counting from 0 where nothing is stored; one operation across threads and, on a
/// ``FileDefaults``, processes.
///
/// - Parameter proxy: What to count up.
public postfix func ++ (proxy: Defaults.Proxy) {
    proxy += 1
}

/// Adds 1, to a typed key as one operation across threads and, on a ``FileDefaults``, processes.
///
/// - Parameter number: What to count up.
public postfix func ++ <Number: Numeric>(number: inout Number) {
    number += 1
}
