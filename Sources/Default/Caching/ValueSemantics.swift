#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Determines whether several reads may return the same decoded value.
///
/// They may if the value shares no mutable state, and if the caller can't notice that it was not decoded again. A
/// property that isn't coded, such as `let id = UUID()`, has a different value after each decoding. A `Sendable`
/// conformance would answer the first question, but can't be checked at run time. The answer also differs between
/// values of one type, because a property of type `any Shape` may hold a struct in one and an object in another. So two
/// values that were decoded from the same bytes are compared part by part.
enum ValueSemantics {
    /// Equatable types whose values share no mutable state.
    private static let leaves: [Any.Type] = {
        var leaves: [Any.Type] = [
            String.self, Character.self, Bool.self, Float.self, Double.self,
            Int.self, Int8.self, Int16.self, Int32.self, Int64.self,
            UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self,
            Decimal.self, Data.self, Date.self, URL.self, UUID.self,
        ]
        if #available(macOS 13, iOS 16, tvOS 16, watchOS 9, visionOS 1, *) {
            leaves.append(Duration.self)
        }
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            leaves += [Int128.self, UInt128.self]
        }
        return leaves + leavesOfFoundation
    }()

    /// Whether two values are equal in every part, and consist only of values.
    static func areInterchangeable(_ one: Any, _ other: Any) -> Bool {
        let type = type(of: one)
        guard type == Swift.type(of: other) else { return false }
        if isLeaf(type) { return areEqual(one, other) }
        if let collection = one as? any ValueCollection {
            return collection.isInterchangeable(with: other)
        }
        // A custom mirror may omit parts; that of an optional doesn't.
        guard one is any OptionalType || !(one is any CustomReflectable) else { return false }
        let mirror = Mirror(reflecting: one)
        let parts = Array(mirror.children)
        let others = Array(Mirror(reflecting: other).children)
        switch mirror.displayStyle {
        case .struct, .tuple:
            // The parts of an opaque struct are not visible.
            guard !parts.isEmpty || size(of: one) == 0 else { return false }
        case .enum:
            // The case is identified by the description if it has no associated values, otherwise by their label.
            guard !parts.isEmpty || "\(one)" == "\(other)" else { return false }
        case .optional:
            break
        default:
            return false
        }
        return parts.count == others.count
            && zip(parts, others).allSatisfy { $0.label == $1.label && areInterchangeable($0.value, $1.value) }
    }

    /// Whether values of a type have no parts that are coded by themselves.
    static func isLeaf(_ type: Any.Type) -> Bool { leaves.contains { $0 == type } }

    static func areEqual(_ one: Any, _ other: Any) -> Bool {
        func areEqual<Value: Equatable>(_ value: Value) -> Bool { value == other as? Value }
        return (one as? any Equatable).map { areEqual($0) } ?? false
    }

    private static func size(of value: Any) -> Int {
        func size<Value>(_ value: Value) -> Int { MemoryLayout<Value>.size }
        return _openExistential(value, do: size)
    }
}

/// A collection, which has value semantics if its elements do.
private protocol ValueCollection {
    func isInterchangeable(with other: Any) -> Bool
}

extension Array: ValueCollection {
    fileprivate func isInterchangeable(with other: Any) -> Bool {
        if ValueSemantics.isLeaf(Element.self) { return ValueSemantics.areEqual(self, other) }
        guard let other = other as? [Element], count == other.count else { return false }
        return zip(self, other).allSatisfy { ValueSemantics.areInterchangeable($0, $1) }
    }
}

extension Set: ValueCollection {
    fileprivate func isInterchangeable(with other: Any) -> Bool {
        other as? Set == self
            && (ValueSemantics.isLeaf(Element.self) || allSatisfy { ValueSemantics.areInterchangeable($0, $0) })
    }
}

extension Dictionary: ValueCollection {
    fileprivate func isInterchangeable(with other: Any) -> Bool {
        guard let other = other as? [Key: Value], count == other.count else { return false }
        return allSatisfy { key, value in
            guard let index = other.index(forKey: key) else { return false }
            return ValueSemantics.areInterchangeable(key, other[index].key)
                && ValueSemantics.areInterchangeable(value, other[index].value)
        }
    }
}
