#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension PropertyListValue {
    /// Why an object is not a property-list value.
    public struct UnsupportedObject: Error, Sendable {
        /// A clause that names the offending object's type: "A value of type UIColor is not a property-list value".
        public let reason: String
        /// The path to the offending object, outermost step first: ".colors[2]"; empty when it is the object itself.
        public let path: String

        package static let tooDeep = UnsupportedObject(
            reason: "The value nests more than \(PropertyListValue.maximumDepth) levels",
            path: ""
        )

        fileprivate static func of(_ kind: String) -> UnsupportedObject {
            UnsupportedObject(reason: "A \(kind) is not a property-list value", path: "")
        }

        /// The same error for the object that contains this one; the step leads to this one.
        fileprivate func inside(_ step: String) -> UnsupportedObject {
            UnsupportedObject(reason: reason, path: step + path)
        }
    }

    /// Creates a value from an object that contains only property-list types.
    ///
    /// Accepts `String`, `Bool`, numbers, `Data`, `Date`, and arrays and string-keyed dictionaries of those, as Swift
    /// types or Foundation classes. A non-empty optional is unwrapped.
    ///
    /// - Parameter object: The object. It is copied, so changing it later does not change the value.
    /// - Throws: ``UnsupportedObject`` for any other object, and for one that nests more than 256 levels.
    public init(object: Any) throws(UnsupportedObject) { try self.init(object, depth: 0) }

    private init(_ object: Any, depth: Int) throws(UnsupportedObject) {
        switch object {
        case let string as String: self = .string(string)
        case let data as Data: self = .data(data)
        case let date as Date: self = .date(date)
        default:
            if let number = Self(number: object) {
                self = number
            } else {
                try self.init(container: object, depth: depth)
            }
        }
    }

    private init(container object: Any, depth: Int) throws(UnsupportedObject) {
        switch object {
        case let array as [Any] where depth < Self.maximumDepth:
            var elements: [PropertyListValue] = []
            elements.reserveCapacity(array.count)
            for (index, element) in array.enumerated() {
                do throws(UnsupportedObject) {
                    elements.append(try Self(element, depth: depth + 1))
                } catch {
                    throw error.inside("[\(index)]")
                }
            }
            self = .array(elements)
        case let dictionary as [AnyHashable: Any] where depth < Self.maximumDepth:
            var entries: [String: PropertyListValue] = [:]
            entries.reserveCapacity(dictionary.count)
            for (key, value) in dictionary {
                guard let key = key.base as? String else {
                    throw .of("dictionary with keys of type \(type(of: key.base))")
                }
                do throws(UnsupportedObject) {
                    entries[key] = try Self(value, depth: depth + 1)
                } catch {
                    throw error.inside(".\(key)")
                }
            }
            self = .dictionary(entries)
        case let value as PropertyListValue: self = value
        case is [Any], is [AnyHashable: Any]: throw .tooDeep
        default:
            guard let wrapped = Self.unwrapped(object) else { throw .of("value of type \(type(of: object))") }
            try self.init(wrapped, depth: depth)
        }
    }

    /// The wrapped value of an optional inside an `Any`; nil for an empty optional and for other types.
    private static func unwrapped(_ object: Any) -> Any? {
        let mirror = Mirror(reflecting: object)
        return mirror.displayStyle == .optional ? mirror.children.first?.value : nil
    }

    /// The value in Swift's own types: `Int` for whole numbers, `UInt` for those over `Int.max`, `Double` for others.
    ///
    /// A whole number that a 32-bit `Int` can't represent is an `Int64`, or a `UInt64` over `Int64.max`.
    public var object: Any {
        switch self {
        case .string(let string): string
        case .boolean(let boolean): boolean
        case .integer(let integer): integer.narrowed(to: Int.self)
        case .unsigned(let unsigned): unsigned.narrowed(to: UInt.self)
        case .real(let real): real
        case .data(let data): data
        case .date(let date): date
        case .array(let array): array.map(\.object)
        case .dictionary(let dictionary): dictionary.mapValues(\.object)
        }
    }
}

extension FixedWidthInteger {
    /// The number as another type; itself where that can't represent it.
    func narrowed<Narrow: FixedWidthInteger>(to type: Narrow.Type) -> Any {
        if let narrow = Narrow(exactly: self) { narrow } else { self }
    }
}
