internal import DefaultJournal
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Converts values of a type to and from stored values.
///
/// The conversion is chosen once, when a key or a container is created: by the compiler where the conformances are
/// known statically, and by ``topLevel`` where only `Codable` is known. No access inspects the type again.
struct ValueBridge<Value>: @unchecked Sendable {
    // The functions capture only types and other bridges, which don't change.

    /// The value to store; nil to remove the stored value.
    let encode: (Value) throws -> PropertyListValue?
    /// Decodes a stored value.
    let decode: (PropertyListValue) throws -> Value
    /// Whether values are decoded from JSON `Data`, which is slow, so that they are remembered.
    var decodesData = false
    /// Whether no other form is read than that which `encode` makes.
    var isExclusive = false
}

/// Thrown for a stored value that can't be converted to a type; the error that callers see describes the stored value.
struct UnexpectedValue: Error {}

extension ValueBridge where Value: PropertyListConvertible {
    /// Stores a value as its property-list value.
    static var native: ValueBridge {
        if let type = Value.self as? any NativeValue.Type, let bridge = native(type) as? ValueBridge {
            return bridge
        }
        return ValueBridge(
            encode: { $0.propertyListValue },
            decode: { try require(Value(propertyListValue: $0)) }
        )
    }

    private static func native<Native: NativeValue>(_ type: Native.Type) -> any Sendable {
        ValueBridge<Native>(encode: { $0.propertyListValue }, decode: Native.decode)
    }
}

/// The types of Swift and Foundation that are stored as single property-list values.
///
/// A call of `init?(propertyListValue:)` in generic code looks up the type of its optional result at run time, which
/// takes a fifth of a read. The default implementation below is compiled for each of the types.
private protocol NativeValue: PropertyListConvertible {
    static func decode(_ stored: PropertyListValue) throws -> Self
}

extension NativeValue {
    static func decode(_ stored: PropertyListValue) throws -> Self { try require(Self(propertyListValue: stored)) }
}

extension Bool: NativeValue {}
extension Data: NativeValue {}
extension Date: NativeValue {}
extension Double: NativeValue {}
extension Float: NativeValue {}
extension Int: NativeValue {}
extension Int64: NativeValue {}
extension String: NativeValue {}
extension UInt: NativeValue {}
extension URL: NativeValue {}

extension ValueBridge where Value: RawRepresentable {
    /// Stores the raw value, with the bridge of its type.
    static func rawValue(by bridge: ValueBridge<Value.RawValue>) -> ValueBridge {
        ValueBridge(
            encode: { try bridge.encode($0.rawValue) },
            decode: { try require(Value(rawValue: bridge.decode($0))) }
        )
    }
}

extension ValueBridge where Value: Codable {
    /// Stores a value as JSON `Data`.
    static var json: ValueBridge { data(of: .json, decodesData: true) }

    /// Stores a value as the `Data` of a coder that was given, which alone reads it.
    ///
    /// Decoded values are not remembered: they may be secret, and another key of that name may have another coder.
    static func coded(by coder: DefaultsCoder) -> ValueBridge { data(of: coder, isExclusive: true) }

    private static func data(
        of coder: DefaultsCoder,
        decodesData: Bool = false,
        isExclusive: Bool = false
    ) -> ValueBridge {
        ValueBridge(
            encode: { .data(try coder.encodeTopLevel($0)) },
            decode: { try coder.decodeTopLevel(Value.self, from: require(Data(propertyListValue: $0))) },
            decodesData: decodesData,
            isExclusive: isExclusive
        )
    }
}

extension ValueBridge {
    /// Stores anything that a property list can hold.
    ///
    /// - Parameter cast: Casts a property-list object to the type.
    /// - Returns: The bridge.
    static func propertyListObject(as cast: @escaping (Any) -> Value?) -> ValueBridge {
        ValueBridge(encode: { try PropertyListValue(object: $0) }, decode: { try require(cast($0.object)) })
    }
}

extension ValueBridge where Value: PropertyListCollection {
    /// Stores a collection as an array or dictionary of its elements, with the bridge of their type.
    static func collection(of element: ValueBridge<Value.StoredElement>) -> ValueBridge {
        ValueBridge(
            encode: { collection in
                try collection.propertyListValue { try require(element.encode($0)) }
            },
            decode: { try require(Value(propertyListValue: $0, element: element.decode)) }
        )
    }
}

extension ValueBridge {
    /// The bridge for an optional with its own key: nil removes the stored value.
    var optional: ValueBridge<Value?> {
        ValueBridge<Value?>(
            encode: { try $0.flatMap(encode) },
            decode: { .some(try decode($0)) },
            decodesData: decodesData,
            isExclusive: isExclusive
        )
    }
}

extension ValueBridge where Value: Codable {
    /// The bridge for a type of which only `Codable` is known statically: native, else by raw value, else JSON.
    ///
    /// An optional is stored as its wrapped value, and nil removes the stored value.
    static var topLevel: ValueBridge {
        func optional<Wrapped: Codable>(_ type: Wrapped.Type) -> any Sendable {
            ValueBridge<Wrapped>.nested.optional
        }
        return known(in: topLevelBridges) {
            let wrapped = (Value.self as? any OptionalType.Type)?.wrappedType as? any Codable.Type
            return wrapped.map { optional($0) } as? ValueBridge ?? nested
        }
    }

    /// The bridge for a type whose every value is stored: a nil optional is stored as JSON's null.
    static var nested: ValueBridge {
        known(in: nestedBridges) { direct(Value.self) as? ValueBridge ?? json }
    }

    /// Looks up a bridge, so that each type is inspected once.
    private static func known(in table: PerProcess<BridgeTable>, _ make: () -> ValueBridge) -> ValueBridge {
        let id = ObjectIdentifier(Value.self)
        if let bridge = table.withLock({ $0[id] }) as? ValueBridge { return bridge }
        let bridge = make()
        table.withLock { $0[id] = bridge }
        return bridge
    }
}

/// The bridge for a type whose values are stored without a coder; nil for other types.
private func direct(_ type: Any.Type) -> (any Sendable)? {
    func native<Native: PropertyListConvertible>(_ type: Native.Type) -> any Sendable {
        ValueBridge<Native>.native
    }
    func rawValue<Raw: RawRepresentable>(_ type: Raw.Type) -> (any Sendable)? {
        (direct(Raw.RawValue.self) as? ValueBridge<Raw.RawValue>).map { ValueBridge<Raw>.rawValue(by: $0) }
    }
    func collection<List: PropertyListCollection>(_ type: List.Type) -> (any Sendable)? {
        (direct(List.StoredElement.self) as? ValueBridge<List.StoredElement>).map {
            ValueBridge<List>.collection(of: $0)
        }
    }
    if let type = type as? any PropertyListConvertible.Type { return native(type) }
    if let type = type as? any RawRepresentable.Type, let bridge = rawValue(type) { return bridge }
    return (type as? any PropertyListCollection.Type).flatMap { collection($0) }
}

/// Bridges by type; there are at most as many as the program has types in containers and keys.
private typealias BridgeTable = Locked<[ObjectIdentifier: any Sendable]>
private let topLevelBridges = PerProcess { BridgeTable([:]) }
private let nestedBridges = PerProcess { BridgeTable([:]) }
