internal import DefaultJournal
internal import Foundation

/// How values of a type go into a store and come out of it again.
///
/// Which way a type takes is decided once, when a key or a container is made: statically where the compiler knows, and
/// by ``stored(_:)`` where only `Codable` is known. No access looks at the type again.
struct ValueBridge<Value>: @unchecked Sendable {
    // The functions capture types and other bridges, nothing that could change.

    /// What to store; nil for a value that is stored by removing what is there.
    let encode: (Value) throws -> PropertyListValue?
    /// The value that was stored.
    let decode: (PropertyListValue) throws -> Value
    /// Whether a value is decoded from `Data` by a coder, which takes its time.
    var decodesData = false
}

/// A stored value that a type can't be made of; what was found stands in the error that callers see.
struct UnexpectedValue: Error {}

extension ValueBridge where Value: PropertyListConvertible {
    /// As the property-list value that the type chose.
    static var native: ValueBridge {
        ValueBridge(
            encode: { $0.propertyListValue },
            decode: decodeNative
        )
    }

    private static func decodeNative(_ stored: PropertyListValue) throws -> Value {
        guard let value = Value(propertyListValue: stored) else {
            throw UnexpectedValue()
        }
        return value
    }
}

extension ValueBridge where Value: RawRepresentable {
    /// As the raw value, which goes as its own bridge says.
    static func rawValue(by bridge: ValueBridge<Value.RawValue>) -> ValueBridge {
        ValueBridge(
            encode: { try bridge.encode($0.rawValue) },
            decode: { stored in
                guard let value = Value(rawValue: try bridge.decode(stored)) else {
                    throw UnexpectedValue()
                }
                return value
            }
        )
    }
}

extension ValueBridge where Value: Codable {
    /// As JSON `Data`.
    static var json: ValueBridge {
        ValueBridge(
            encode: { .data(try DefaultsCoder.json.encodeTopLevel($0)) },
            decode: { stored in
                guard case .data(let data) = stored else {
                    throw UnexpectedValue()
                }
                return try DefaultsCoder.json.decodeTopLevel(Value.self, from: data)
            },
            decodesData: true
        )
    }
}

extension ValueBridge where Value: NSObject & NSSecureCoding {
    /// As a keyed archive, of which no class but this one and its subclasses comes back.
    static var archive: ValueBridge {
        ValueBridge(
            encode: { .data(try NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: true)) },
            decode: { stored in
                guard case .data(let data) = stored else {
                    throw UnexpectedValue()
                }
                guard let value = try NSKeyedUnarchiver.unarchivedObject(ofClass: Value.self, from: data) else {
                    throw CocoaError(.coderValueNotFound)
                }
                return value
            }
        )
    }
}

extension ValueBridge {
    /// For an optional under a key of its own: nil is stored by storing nothing.
    var optional: ValueBridge<Value?> {
        ValueBridge<Value?>(
            encode: { try $0.flatMap(encode) },
            decode: { .some(try decode($0)) },
            decodesData: decodesData
        )
    }
}

extension ValueBridge where Value: Codable {
    /// The way of a type of which only `Codable` is known: native, else as its raw value, else as JSON; an optional goes as
    /// what it wraps, nil by storing nothing.
    static func stored() -> ValueBridge {
        known(in: bridges) { ((Value.self as? any OptionalValue.Type)?.bridge as? ValueBridge) ?? storedInside() }
    }

    /// The way of a type that is always stored as something: of an optional, nil is JSON's null.
    static func storedInside() -> ValueBridge {
        known(in: insideBridges) {
            if let type = Value.self as? any PropertyListConvertible.Type, let bridge = native(type) as? ValueBridge {
                return bridge
            }
            if let type = Value.self as? any RawRepresentable.Type, let bridge = rawValue(type) as? ValueBridge {
                return bridge
            }
            return json
        }
    }

    private static func native<Native: PropertyListConvertible>(_ type: Native.Type) -> any Sendable {
        ValueBridge<Native>.native
    }

    private static func rawValue<Raw: RawRepresentable>(_ type: Raw.Type) -> (any Sendable)? {
        guard let rawType = Raw.RawValue.self as? any PropertyListConvertible.Type,
            let bridge = native(rawType) as? ValueBridge<Raw.RawValue>
        else {
            return nil
        }
        return ValueBridge<Raw>.rawValue(by: bridge)
    }

    /// Looks a bridge up, so that what is found out about a type is found out once.
    private static func known(in table: BridgeTable, _ make: () -> ValueBridge) -> ValueBridge {
        let id = ObjectIdentifier(Value.self)
        if let bridge = table.withLock({ $0[id] }) as? ValueBridge {
            return bridge
        }
        let bridge = make()
        table.withLock { $0[id] = bridge }
        return bridge
    }
}

/// Bridges by type; there are as many as the program has types in containers and keys.
private typealias BridgeTable = Guarded<[ObjectIdentifier: any Sendable]>
private let bridges = BridgeTable([:])
private let insideBridges = BridgeTable([:])

/// An optional, whatever it wraps.
private protocol OptionalValue {
    /// The bridge that stores nil by storing nothing, if what is wrapped is `Codable`.
    static var bridge: (any Sendable)? { get }
}

extension Optional: OptionalValue {
    fileprivate static var bridge: (any Sendable)? {
        func bridge<Other: Codable>(_ type: Other.Type) -> any Sendable {
            ValueBridge<Other>.storedInside().optional
        }
        return (Wrapped.self as? any Codable.Type).map { bridge($0) }
    }
}
