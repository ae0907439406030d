public import Foundation

/// A property-list value with its type spelled out: what a store keeps under a key.
///
/// `Any` can hold objects that change later, that no property list can hold, or that are of one type under several
/// casts (an `NSNumber` is a `Bool` and an `Int`). Stores keep this instead, and ``PropertyListConvertible`` types say how
/// they are stored with it.
public enum PropertyListValue: Hashable, Sendable {
    /// A string.
    case string(String)
    /// A Boolean, which is no number here.
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

extension PropertyListValue {
    /// Why an object is not a property-list value.
    package struct Unsupported: Error {
        /// A clause that names the offending object's type.
        package var reason: String
        /// Where in the object it was found, outermost step first; empty when it is the object itself.
        package var path: String
    }

    /// How deep arrays and dictionaries may nest: far more than settings do, far less than the stack holds.
    package static let maximumDepth = 256

    /// Copies an object, if it is a property-list value all through.
    package init(_ object: Any) throws(Unsupported) {
        try self.init(object, depth: 0)
    }

    private init(_ object: Any, depth: Int) throws(Unsupported) {
        guard depth <= Self.maximumDepth else {
            throw Unsupported(reason: "The value nests more than \(Self.maximumDepth) levels", path: "")
        }
        switch object {
        case let string as String:
            self = .string(string)
        case let data as Data:
            self = .data(data)
        case let date as Date:
            self = .date(date)
        case let number as NSNumber:
            self.init(number)
        case let array as [Any]:
            self = .array(try Self.elements(of: array, depth: depth))
        case let dictionary as [AnyHashable: Any]:
            self = .dictionary(try Self.entries(of: dictionary, depth: depth))
        case let value as PropertyListValue:
            self = value
        default:
            guard let wrapped = Self.unwrapped(object) else {
                throw Unsupported(reason: "A \(type(of: object)) is not a property-list value", path: "")
            }
            try self.init(wrapped, depth: depth + 1)
        }
    }

    private init(_ number: NSNumber) {
        // The only way to tell a Bool from an Int8 on every platform: their objCType is the same.
        if type(of: number) == type(of: NSNumber(value: true)) {
            self = .boolean(number.boolValue)
        } else if let integer = number as? Int64 {
            self = number.isFloatingPoint ? .real(number.doubleValue) : .integer(integer)
        } else if let unsigned = number as? UInt64, !number.isFloatingPoint {
            self = .unsigned(unsigned)
        } else {
            self = .real(number.doubleValue)
        }
    }

    private static func elements(of array: [Any], depth: Int) throws(Unsupported) -> [PropertyListValue] {
        var elements: [PropertyListValue] = []
        elements.reserveCapacity(array.count)
        for (index, element) in array.enumerated() {
            elements.append(try step("[\(index)]") { () throws(Unsupported) in try Self(element, depth: depth + 1) })
        }
        return elements
    }

    private static func entries(
        of dictionary: [AnyHashable: Any],
        depth: Int
    ) throws(Unsupported) -> [String: PropertyListValue] {
        var entries: [String: PropertyListValue] = [:]
        entries.reserveCapacity(dictionary.count)
        for (key, value) in dictionary {
            guard let key = key.base as? String else {
                throw Unsupported(reason: "A dictionary with a key of type \(type(of: key.base)), not String", path: "")
            }
            let entry = try step(".\(key)") { () throws(Unsupported) in try Self(value, depth: depth + 1) }
            entries[key] = entry
        }
        return entries
    }

    /// Puts the step taken before the path of what went wrong below it.
    private static func step(
        _ step: String,
        _ body: () throws(Unsupported) -> PropertyListValue
    ) throws(Unsupported) -> PropertyListValue {
        do {
            return try body()
        } catch {
            throw Unsupported(reason: error.reason, path: step + error.path)
        }
    }

    /// What an optional inside an `Any` holds; nil for an empty one and for what is no optional.
    private static func unwrapped(_ object: Any) -> Any? {
        let mirror = Mirror(reflecting: object)
        return mirror.displayStyle == .optional ? mirror.children.first?.value : nil
    }
}

extension PropertyListValue {
    /// Copies an object that is to be stored, nil when there is none.
    ///
    /// - Throws: ``DefaultsError/Code/unsupportedValue`` for what is not a property-list value all through.
    package init?(_ object: Any?, forKey key: String, in store: some DefaultsStore) throws(DefaultsError) {
        guard let object else {
            return nil
        }
        do {
            try self.init(object)
        } catch {
            throw .unsupportedValue(error, key: key, store: store.storeDescription)
        }
    }

    /// The value as Foundation's types: `Int` for whole numbers, `UInt` for those over `Int.max`, `Double` for others.
    package var object: Any {
        switch self {
        case .string(let string): string
        case .boolean(let boolean): boolean
        case .integer(let integer): Int(integer)
        case .unsigned(let unsigned): UInt(unsigned)
        case .real(let real): real
        case .data(let data): data
        case .date(let date): date
        case .array(let array): array.map(\.object)
        case .dictionary(let dictionary): dictionary.mapValues(\.object)
        }
    }
}

extension NSNumber {
    fileprivate var isFloatingPoint: Bool {
        // "f" and "d", as in Objective-C's type encodings.
        objCType[0] == 0x66 || objCType[0] == 0x64
    }
}

extension PropertyListValue {
    /// Checks a value that did not come through `init(_:)`, which checks as it copies.
    ///
    /// - Throws: ``DefaultsError/Code/unsupportedValue`` for one that nests deeper than can be read back.
    func checkDepth(forKey key: String, in store: some DefaultsStore) throws(DefaultsError) {
        guard !nestsDeeper(than: Self.maximumDepth) else {
            let fault = Unsupported(reason: "The value nests more than \(Self.maximumDepth) levels", path: "")
            throw .unsupportedValue(fault, key: key, store: store.storeDescription)
        }
    }

    private func nestsDeeper(than depth: Int) -> Bool {
        switch self {
        case .array(let elements): depth == 0 || elements.contains { $0.nestsDeeper(than: depth - 1) }
        case .dictionary(let entries): depth == 0 || entries.values.contains { $0.nestsDeeper(than: depth - 1) }
        default: false
        }
    }
}
