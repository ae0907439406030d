internal import DefaultJournal
internal import Foundation

/// Tells which values are made of nothing but values, so that nobody can tell whether they were given the same one twice.
///
/// That a type is `Sendable` would say as much, but can't be asked: such protocols leave no trace in a program that runs, and
/// the compiler doesn't choose between implementations by them. So a value is looked through, and what is found out about
/// its type is kept.
enum PlainValues {
    /// What was found out about a value.
    private enum Finding {
        /// All values of its type are plain.
        case always
        /// This one is; another enum case, or an element of a collection that is empty here, may not be.
        case now
        case no
    }

    private static let plainTypes = Guarded<Set<ObjectIdentifier>>([
        ObjectIdentifier(String.self), ObjectIdentifier(Character.self), ObjectIdentifier(Bool.self),
        ObjectIdentifier(Int.self), ObjectIdentifier(Int8.self), ObjectIdentifier(Int16.self),
        ObjectIdentifier(Int32.self), ObjectIdentifier(Int64.self), ObjectIdentifier(Int128.self),
        ObjectIdentifier(UInt.self), ObjectIdentifier(UInt8.self), ObjectIdentifier(UInt16.self),
        ObjectIdentifier(UInt32.self), ObjectIdentifier(UInt64.self), ObjectIdentifier(UInt128.self),
        ObjectIdentifier(Float.self), ObjectIdentifier(Double.self), ObjectIdentifier(CGFloat.self),
        ObjectIdentifier(Decimal.self), ObjectIdentifier(Data.self), ObjectIdentifier(Date.self),
        ObjectIdentifier(URL.self), ObjectIdentifier(UUID.self), ObjectIdentifier(Duration.self),
    ])

    /// Whether a value shares nothing that could be changed.
    static func isPlain<Value>(_ value: Value) -> Bool {
        isKnown(Value.self) || look(at: value) != .no
    }

    private static func isKnown(_ type: Any.Type) -> Bool {
        plainTypes.withLock { $0.contains(ObjectIdentifier(type)) }
    }

    private static func look(at value: Any) -> Finding {
        let type = type(of: value)
        if isKnown(type) {
            return .always
        }
        let finding = lookInside(value)
        if finding == .always {
            _ = plainTypes.withLock { $0.insert(ObjectIdentifier(type)) }
        }
        return finding
    }

    private static func lookInside(_ value: Any) -> Finding {
        if let collection = value as? any ValueCollection {
            if type(of: collection).elementTypes.allSatisfy(isKnown) {
                return .always
            }
            let parts = look(atAll: collection.parts)
            return collection.parts.isEmpty ? .now : parts
        }
        // A mirror of one's own may leave things out.
        guard !(value is any CustomReflectable) else {
            return .no
        }
        let mirror = Mirror(reflecting: value)
        let parts = look(atAll: mirror.children.map(\.value))
        switch mirror.displayStyle {
        case .struct, .tuple:
            // What a struct without visible parts holds can't be seen.
            return mirror.children.isEmpty && size(of: value) > 0 ? .no : parts
        case .enum:
            guard parts != .no else {
                return .no
            }
            // One with a raw value, or a list of all its cases, has nothing beside its case.
            return value is any RawRepresentable || value is any CaseIterable ? .always : .now
        default:
            return .no
        }
    }

    private static func look(atAll parts: [Any]) -> Finding {
        var finding = Finding.always
        for part in parts {
            switch look(at: part) {
            case .always: continue
            case .now: finding = .now
            case .no: return .no
            }
        }
        return finding
    }

    private static func size(of value: Any) -> Int {
        func size<Value>(_ value: Value) -> Int { MemoryLayout<Value>.size }
        return _openExistential(value, do: size)
    }
}

/// A collection, or an optional, that is a value if its elements are.
private protocol ValueCollection {
    static var elementTypes: [Any.Type] { get }
    var parts: [Any] { get }
}

extension Optional: ValueCollection {
    fileprivate static var elementTypes: [Any.Type] { [Wrapped.self] }
    fileprivate var parts: [Any] { map { [$0] } ?? [] }
}

extension Array: ValueCollection {
    fileprivate static var elementTypes: [Any.Type] { [Element.self] }
    fileprivate var parts: [Any] { self }
}

extension Set: ValueCollection {
    fileprivate static var elementTypes: [Any.Type] { [Element.self] }
    fileprivate var parts: [Any] { Array(self) }
}

extension Dictionary: ValueCollection {
    fileprivate static var elementTypes: [Any.Type] { [Key.self, Value.self] }
    fileprivate var parts: [Any] { Array(keys) + Array(values) }
}
