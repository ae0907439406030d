public import Default

// In a separate module, so that importing Default adds no operators to a program.

infix operator ?= : AssignmentPrecedence
postfix operator ++

/// Stores a value under a key that has none, not even from a source or a registered default, atomically across threads
/// and, on a `FileDefaults`, processes.
///
/// ```swift
/// import Default
/// import DefaultOperators
///
/// Defaults["color"] ?= "white"
/// ```
///
/// - Parameters:
///   - proxy: The key to store it under.
///   - value: The value, as for assigning to a string key. It is evaluated only if it is needed.
public func ?= (proxy: Defaults.Proxy, value: @autoclosure () -> Any) { proxy.setIfAbsent(value) }

/// Assigns a value if the target is nil, such as `Defaults[.username]` while nothing is stored.
///
/// For a typed key it is atomic across threads and, on a `FileDefaults`, processes; a value that is there, also one of
/// a source, is not stored again.
///
/// - Parameters:
///   - target: The variable or typed key.
///   - value: The value, evaluated only if it is needed.
public func ?= <Value>(target: inout Value?, value: @autoclosure () -> Value) {
    if target == nil {
        target = value()
    }
}

/// Adds 1 to the stored number, or to 0 if nothing is stored, atomically across threads and, on a `FileDefaults`,
/// processes.
public postfix func ++ (proxy: Defaults.Proxy) { proxy += 1 }

/// Adds 1; for a typed key it is atomic across threads and, on a `FileDefaults`, processes.
public postfix func ++ <Number: Numeric>(number: inout Number) { number += 1 }
