/// An optional, for code that knows a type only at run time.
protocol OptionalType {
    static var wrappedType: Any.Type { get }
    var isNil: Bool { get }
}

extension Optional: OptionalType {
    static var wrappedType: Any.Type { Wrapped.self }
    var isNil: Bool { self == nil }
}

/// The type of an optional's value; other types are returned as they are.
func nonOptional(_ type: any Decodable.Type) -> any Decodable.Type {
    var type = type
    while let wrapped = (type as? any OptionalType.Type)?.wrappedType as? any Decodable.Type {
        type = wrapped
    }
    return type
}
