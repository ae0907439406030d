/// The type with which to read a value, if an optional is read as its wrapped type; nil unless that is `Codable`.
func codedType<Value>(of type: Value.Type) -> (any Codable.Type)? {
    (type as? any OptionalType.Type)?.wrapped ?? type as? any Codable.Type
}

private protocol OptionalType {
    static var wrapped: (any Codable.Type)? { get }
}

extension Optional: OptionalType {
    fileprivate static var wrapped: (any Codable.Type)? { Wrapped.self as? any Codable.Type }
}
