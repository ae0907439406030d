// The bridges between Objective-C and Swift: developer.apple.com/documentation/objectivec, objcbool, selector.
@_exported import ObjectiveC
@frozen public struct ObjCBool: ExpressibleByBooleanLiteral, Sendable {
    var _value: Bool
    public init(_ value: Bool) { _value = value }
    public init(booleanLiteral value: Bool) { _value = value }
    public var boolValue: Bool { _value }
}
public func _convertBoolToObjCBool(_ x: Bool) -> ObjCBool { ObjCBool(x) }
public func _convertObjCBoolToBool(_ x: ObjCBool) -> Bool { x.boolValue }
@frozen public struct Selector: ExpressibleByStringLiteral {
    var ptr: OpaquePointer; public init(stringLiteral value: String) { fatalError() }
}
extension NSObject: Equatable, Hashable {
    public static func == (lhs: NSObject, rhs: NSObject) -> Bool { fatalError() }
    public func hash(into hasher: inout Hasher) {}
    public var hashValue: Int { 0 }
}
