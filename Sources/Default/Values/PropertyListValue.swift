#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A property-list value with an explicit type: what a store holds for a key.
///
/// `Any` can hold objects that change later, objects that a property list can't hold, and objects whose type is ambiguous
/// (an `NSNumber` casts to `Bool` and to `Int`). Stores use this type instead, and ``PropertyListConvertible`` types convert
/// themselves to it.
public enum PropertyListValue: Hashable, Sendable {
    /// A string.
    case string(String)
    /// A Boolean. It is distinct from the numbers 0 and 1.
    case boolean(Bool)
    /// A whole number.
    case integer(Int64)
    /// A whole number over `Int64.max`; smaller ones are an ``integer(_:)``.
    case unsigned(UInt64)
    /// A floating-point number.
    case real(Double)
    /// Bytes.
    case data(Data)
    /// A point in time.
    case date(Date)
    /// An array.
    case array([PropertyListValue])
    /// A dictionary with strings as keys.
    case dictionary([String: PropertyListValue])
}

extension PropertyListValue: PropertyListConvertible {
    /// The value itself.
    public var propertyListValue: PropertyListValue { self }

    /// Creates a value from a stored value, which is any property-list value.
    public init?(propertyListValue: PropertyListValue) {
        self = propertyListValue
    }
}

extension PropertyListValue {
    /// The maximum nesting of arrays and dictionaries: far more than settings need, far less than the stack allows.
    package static let maximumDepth = 256

    /// Whether arrays and dictionaries nest deeper than a store can read back.
    package var isTooDeep: Bool { nestsDeeper(than: Self.maximumDepth) }

    private func nestsDeeper(than depth: Int) -> Bool {
        switch self {
        case .array(let elements): depth == 0 || elements.contains { $0.nestsDeeper(than: depth - 1) }
        case .dictionary(let entries): depth == 0 || entries.values.contains { $0.nestsDeeper(than: depth - 1) }
        default: false
        }
    }
}

extension PropertyListValue {
    /// Whether two values have the same binary form.
    ///
    /// Equal values need not have it: "é" has two, and 0 is equal to -0.0. And NaN is not equal to itself.
    // Compiled once: inlined, it takes three kilobytes in each of its callers.
    @inline(never)
    func isSame(as other: PropertyListValue) -> Bool {
        switch (self, other) {
        case (.string(let one), .string(let other)): one.utf8.elementsEqual(other.utf8)
        case (.real(let one), .real(let other)): one.bitPattern == other.bitPattern
        case (.date, .date), (.array, .array), (.dictionary, .dictionary): bytes == other.bytes
        default: self == other
        }
    }
}

extension PropertyListValue? {
    /// Whether there are two values with the same binary form, or none.
    func isSame(as other: PropertyListValue?) -> Bool {
        guard let self, let other else {
            return self == nil && other == nil
        }
        return self.isSame(as: other)
    }
}

extension [PropertyListValue?] {
    /// Whether all elements have the same binary form as those of another array.
    func areSame(as others: [PropertyListValue?]) -> Bool {
        count == others.count && zip(self, others).allSatisfy { $0.isSame(as: $1) }
    }
}
