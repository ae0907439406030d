// Foundation's Swift part, as far as the sources use it: signatures and availability, no behaviour. Above each group is
// the page of developer.apple.com/documentation that they are known from.
@_exported import Foundation
@_exported import ObjectiveC
@_exported import Darwin
@_exported import Dispatch

// foundation/referenceconvertible; the bridges between types of Swift and classes, which no page lists
public protocol ReferenceConvertible: _ObjectiveCBridgeable, Hashable {}
extension _ObjectiveCBridgeable {
    public func _bridgeToObjectiveC() -> _ObjectiveCType { fatalError() }
    public static func _forceBridgeFromObjectiveC(_ source: _ObjectiveCType, result: inout Self?) {}
    public static func _conditionallyBridgeFromObjectiveC(_ source: _ObjectiveCType, result: inout Self?) -> Bool {
        false
    }
    public static func _unconditionallyBridgeFromObjectiveC(_ source: _ObjectiveCType?) -> Self { fatalError() }
}
extension String: _ObjectiveCBridgeable { public typealias _ObjectiveCType = NSString }
extension Array: _ObjectiveCBridgeable { public typealias _ObjectiveCType = NSArray }
extension Dictionary: _ObjectiveCBridgeable { public typealias _ObjectiveCType = NSDictionary }
extension Set: _ObjectiveCBridgeable { public typealias _ObjectiveCType = NSSet }
extension Bool: _ObjectiveCBridgeable { public typealias _ObjectiveCType = NSNumber }
extension Int: _ObjectiveCBridgeable { public typealias _ObjectiveCType = NSNumber }
extension Int8: _ObjectiveCBridgeable { public typealias _ObjectiveCType = NSNumber }
extension Int16: _ObjectiveCBridgeable { public typealias _ObjectiveCType = NSNumber }
extension Int32: _ObjectiveCBridgeable { public typealias _ObjectiveCType = NSNumber }
extension Int64: _ObjectiveCBridgeable { public typealias _ObjectiveCType = NSNumber }
extension UInt: _ObjectiveCBridgeable { public typealias _ObjectiveCType = NSNumber }
extension UInt8: _ObjectiveCBridgeable { public typealias _ObjectiveCType = NSNumber }
extension UInt16: _ObjectiveCBridgeable { public typealias _ObjectiveCType = NSNumber }
extension UInt32: _ObjectiveCBridgeable { public typealias _ObjectiveCType = NSNumber }
extension UInt64: _ObjectiveCBridgeable { public typealias _ObjectiveCType = NSNumber }
extension Double: _ObjectiveCBridgeable { public typealias _ObjectiveCType = NSNumber }
extension Float: _ObjectiveCBridgeable { public typealias _ObjectiveCType = NSNumber }
extension NSNumber: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    @nonobjc public required convenience init(integerLiteral value: Int) { fatalError() }
    @nonobjc public required convenience init(floatLiteral value: Double) { fatalError() }
    @nonobjc public required convenience init(booleanLiteral value: Bool) { fatalError() }
}
extension NSNumber: @unchecked Sendable {}

// foundation/data
@frozen
public struct Data: Sendable, Hashable, RandomAccessCollection, MutableCollection, RangeReplaceableCollection, Codable,
    ReferenceConvertible
{
    public typealias _ObjectiveCType = NSData
    public typealias Index = Int
    public typealias Indices = Range<Int>
    public init() {}
    public init(count: Int) {}
    public init(capacity: Int) {}
    public init<S: Sequence>(_ elements: S) where S.Element == UInt8 {}
    public init(bytes: UnsafeRawPointer, count: Int) {}
    public init(buffer: UnsafeBufferPointer<UInt8>) {}
    public struct SearchOptions: OptionSet, Sendable {
        public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue }
    }
    public func range(of dataToFind: Data, options: SearchOptions = [], in range: Range<Index>? = nil) -> Range<Index>? { nil }
    public struct ReadingOptions: OptionSet, Sendable {
        public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue }
    }
    public struct WritingOptions: OptionSet, Sendable {
        public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue };
        public static let atomic = WritingOptions(rawValue: 1)
    }
    public init(contentsOf url: URL, options: ReadingOptions = []) throws {}
    public func write(to url: URL, options: WritingOptions = []) throws {}
    public struct Base64EncodingOptions: OptionSet, Sendable {
        public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue }
    }
    public struct Base64DecodingOptions: OptionSet, Sendable {
        public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue }
    }
    public func base64EncodedString(options: Base64EncodingOptions = []) -> String { "" }
    public init?(base64Encoded: String, options: Base64DecodingOptions = []) {}
    public var startIndex: Int { 0 }
    public var endIndex: Int { 0 }
    public var count: Int {
        get { 0 }
        set {}
    }
    public subscript(index: Int) -> UInt8 {
        get { 0 }
        set {}
    }
    public subscript(bounds: Range<Int>) -> Data {
        get { self }
        set {}
    }
    public mutating func replaceSubrange<C: Collection>(_ subrange: Range<Int>, with newElements: C)
    where C.Element == UInt8 {}
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
    public mutating func withUnsafeMutableBytes<R>(_ body: (UnsafeMutableRawBufferPointer) throws -> R) rethrows -> R {
        fatalError()
    }
    public mutating func append(_ other: Data) {}
    public mutating func append(_ bytes: UnsafePointer<UInt8>, count: Int) {}
}
// foundation/timeinterval, date
public typealias TimeInterval = Double
@frozen public struct Date: Sendable, Hashable, Comparable, Codable, ReferenceConvertible {
    public typealias _ObjectiveCType = NSDate
    public init() {}
    public init(timeIntervalSinceReferenceDate: TimeInterval) {}
    public init(timeIntervalSinceNow: TimeInterval) {}
    public init(timeIntervalSince1970: TimeInterval) {}
    public var timeIntervalSinceReferenceDate: TimeInterval { 0 }
    public var timeIntervalSince1970: TimeInterval { 0 }
    public static func < (a: Date, b: Date) -> Bool { false }
    public static let timeIntervalBetween1970AndReferenceDate: TimeInterval = 0
    // foundation/date/iso8601formatstyle
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, *)
    public struct ISO8601FormatStyle: Sendable {
        public init(includingFractionalSeconds: Bool = false) {}
        public func parse(_ value: String) throws -> Date { Date() }
    }
    // foundation/date/formatstyle, parsestrategy
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, *)
    public func formatted(_ style: ISO8601FormatStyle) -> String { "" }
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, *)
    public init(_ value: String, strategy: ISO8601FormatStyle) throws { self.init() }
}
// foundation/url: the calls with a directory hint, and the well-known directories, came with macOS 13
public struct URL: Sendable, Hashable, Codable, ReferenceConvertible {
    public typealias _ObjectiveCType = NSURL
    public enum DirectoryHint: Sendable { case isDirectory, notDirectory, checkFileSystem, inferFromPath }
    public init?(string: String) {}
    public init(fileURLWithPath path: String) {}
    public init(fileURLWithPath path: String, isDirectory: Bool) {}
    @available(macOS 13.0, iOS 16.0, tvOS 16.0, watchOS 9.0, *)
    public init(filePath path: String, directoryHint: DirectoryHint = .inferFromPath, relativeTo base: URL? = nil) {}
    public var isFileURL: Bool { true }
    public var path: String { "" }
    @available(macOS 13.0, iOS 16.0, tvOS 16.0, watchOS 9.0, *)
    public func path(percentEncoded: Bool = true) -> String { "" }
    @available(macOS 13.0, iOS 16.0, tvOS 16.0, watchOS 9.0, *)
    public func appending<S: StringProtocol>(path: S, directoryHint: DirectoryHint = .inferFromPath) -> URL { self }
    @available(macOS 13.0, iOS 16.0, tvOS 16.0, watchOS 9.0, *)
    public static var applicationSupportDirectory: URL { fatalError() }
    public var absoluteString: String { "" }
    public var absoluteURL: URL { self }
    public var standardizedFileURL: URL { self }
    public var lastPathComponent: String { "" }
    public func appendingPathComponent(_ pathComponent: String) -> URL { self }
    public func appendingPathComponent(_ pathComponent: String, isDirectory: Bool) -> URL { self }
    public func deletingLastPathComponent() -> URL { self }
}
// foundation/notification: what a block gets that observes a notification center
public struct Notification: ReferenceConvertible {
    public typealias _ObjectiveCType = NSNotification
    public typealias Name = NSNotification.Name
    public var name: Name { fatalError() }
    public var object: Any? { nil }
    public static func == (a: Notification, b: Notification) -> Bool { false }
    public func hash(into hasher: inout Hasher) {}
}
// foundation/uuid, decimal
public struct UUID: Sendable, Hashable, Codable {
    public init() {}
    public init?(uuidString string: String) {}
    public var uuidString: String { "" }
}
public struct Decimal: Sendable, Hashable, Codable { public init() {} }
// foundation/jsonencoder, jsondecoder, propertylistencoder, propertylistdecoder, propertylistserialization
open class JSONEncoder {
    public struct OutputFormatting: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        @available(macOS 10.13, iOS 11.0, *) public static let sortedKeys = OutputFormatting(rawValue: 2)
        @available(macOS 10.15, iOS 13.0, *) public static let withoutEscapingSlashes = OutputFormatting(rawValue: 8)
    }
    open var outputFormatting: OutputFormatting = []
    open var userInfo: [CodingUserInfoKey: Any] = [:]
    public init() {}
    open func encode<T: Encodable>(_ value: T) throws -> Data { Data() }
}
extension JSONEncoder: @unchecked Sendable {}
open class JSONDecoder {
    public init() {}
    open var userInfo: [CodingUserInfoKey: Any] = [:]
    open func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T { fatalError() }
}
extension JSONDecoder: @unchecked Sendable {}
open class PropertyListEncoder {
    public init() {}
    open var userInfo: [CodingUserInfoKey: Any] = [:]
    open var outputFormat: PropertyListSerialization.PropertyListFormat = .binary
    open func encode<Value: Encodable>(_ value: Value) throws -> Data { Data() }
}
extension PropertyListEncoder: @unchecked Sendable {}
open class PropertyListDecoder {
    public init() {}
    open var userInfo: [CodingUserInfoKey: Any] = [:]
    open func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T { fatalError() }
    open func decode<T: Decodable>(
        _ type: T.Type,
        from data: Data,
        format: inout PropertyListSerialization.PropertyListFormat
    ) throws -> T { fatalError() }
}
extension PropertyListDecoder: @unchecked Sendable {}
open class PropertyListSerialization: NSObject {
    public enum PropertyListFormat: UInt, Sendable { case openStep = 1, xml = 100, binary = 200 }
    public struct ReadOptions: OptionSet, Sendable {
        public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue }
    }
    open class func propertyList(
        from data: Data,
        options opt: ReadOptions = [],
        format: UnsafeMutablePointer<PropertyListFormat>?
    ) throws -> Any { 0 }
    open class func data(fromPropertyList plist: Any, format: PropertyListFormat, options opt: Int) throws -> Data {
        Data()
    }
}
// foundation/jsonserialization
open class JSONSerialization: NSObject {
    public struct ReadingOptions: OptionSet, Sendable {
        public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let fragmentsAllowed = ReadingOptions(rawValue: 4)
    }
    open class func jsonObject(with data: Data, options opt: ReadingOptions = []) throws -> Any { 0 }
}
// foundation/urlresourcevalues
public struct URLResourceValues: Sendable {
    public init() {}
    public var isExcludedFromBackup: Bool?
}
extension URL {
    public mutating func setResourceValues(_ values: URLResourceValues) throws {}
}
// foundation/filehandle
open class FileHandle: NSObject {
    public class var standardError: FileHandle { fatalError() }
    @available(macOS 10.15.4, iOS 13.4, tvOS 13.4, watchOS 6.2, *) public func write<T: Sequence>(contentsOf data: T)
        throws where T.Element == UInt8
    {}
}
// foundation/cocoaerror, nserror
public struct CocoaError: Error {
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        public static var coderInvalidValue: Code { Code(rawValue: 4866) }
        public static var coderValueNotFound: Code { Code(rawValue: 4865) }
        public static var coderReadCorrupt: Code { Code(rawValue: 4864) }
        public static var propertyListReadCorrupt: Code { Code(rawValue: 3840) }
        public static var fileNoSuchFile: Code { Code(rawValue: 4) }
    }
    public init(_ code: Code, userInfo: [String: Any] = [:]) {}
    public var code: Code { .coderInvalidValue }
    public var userInfo: [String: Any] { [:] }
    public static var coderInvalidValue: Code { .coderInvalidValue }
    public static var coderValueNotFound: Code { .coderValueNotFound }
    public static var coderReadCorrupt: Code { .coderReadCorrupt }
    public static var propertyListReadCorrupt: Code { .propertyListReadCorrupt }
}
extension NSError: Error {}
// foundation/nskeyedarchiver, nskeyedunarchiver
open class NSKeyedArchiver: NSObject {
    public class func archivedData(withRootObject object: Any, requiringSecureCoding: Bool) throws -> Data { Data() }
}
open class NSKeyedUnarchiver: NSObject {
    public static func unarchivedObject<T>(ofClass cls: T.Type, from data: Data) throws -> T?
    where T: NSObject, T: NSCoding { nil }
    public static func unarchivedObject(ofClasses classes: [AnyClass], from data: Data) throws -> Any? { nil }
}
// swift/stringprotocol, swift/string (Foundation's additions), foundation/characterset
extension StringProtocol {
    public func addingPercentEncoding(withAllowedCharacters: CharacterSet) -> String? { nil }
    public var precomposedStringWithCanonicalMapping: String { "" }
    public func trimmingCharacters(in set: CharacterSet) -> String { "" }
    public func replacingOccurrences<T: StringProtocol, R: StringProtocol>(of: T, with: R) -> String { "" }
    public func contains<T: StringProtocol>(_ other: T) -> Bool { false }
}
extension String {
    public struct Encoding: Hashable, Sendable {
        public static let ascii = Encoding()
        public static let utf8 = Encoding()
        public static let utf16BigEndian = Encoding()
        public static let utf16LittleEndian = Encoding()
        public static let utf32BigEndian = Encoding()
        public static let utf32LittleEndian = Encoding()
    }
    public init(format: String, _ args: any CVarArg...) { self = "" }
    public init?(data: Data, encoding: Encoding) { nil }
}
public struct CharacterSet: Sendable, Hashable {
    public static var urlPathAllowed: CharacterSet { fatalError() };
    public static var whitespaces: CharacterSet { fatalError() }
}

// foundation/contiguousbytes
public protocol ContiguousBytes { func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R }
extension Data: ContiguousBytes {}
extension Array: ContiguousBytes where Element == UInt8 {}
extension ArraySlice: ContiguousBytes where Element == UInt8 {}
extension ContiguousArray: ContiguousBytes where Element == UInt8 {}
extension UnsafeRawBufferPointer: ContiguousBytes {
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { try body(self) }
}
// foundation/localizederror
public protocol LocalizedError: Error {
    var errorDescription: String? { get }; var failureReason: String? { get }; var recoverySuggestion: String? { get };
    var helpAnchor: String? { get }
}
extension LocalizedError {
    public var errorDescription: String? { nil }; public var failureReason: String? { nil };
    public var recoverySuggestion: String? { nil }; public var helpAnchor: String? { nil }
}
extension Error { public var localizedDescription: String { "" } }
// corefoundation/cgfloat, foundation/posixerror
public struct CGFloat: Sendable, Hashable, Codable { public init() {}; public init(_ v: Double) {} }
extension Double { public init(_ other: CGFloat) { self = 0 } }
public struct POSIXError: Error {
    public typealias Code = POSIXErrorCode
    public init(_ code: POSIXErrorCode, userInfo: [String: Any] = [:]) {}
    public var code: Code { .EIO }
}
// foundation/nslocking: its withLock is compiled into the program
extension NSLocking { public func withLock<R>(_ body: () throws -> R) rethrows -> R { try body() } }
// foundation/nskeyvalueobservation, nskeyvalueobservedchange, objectivec/nsobject-swift.class (observe)
public class NSKeyValueObservation: NSObject { public func invalidate() {} }
public struct NSKeyValueObservedChange<Value> {
    public let newValue: Value?; public let oldValue: Value?; public let isPrior: Bool
}
public protocol _KeyValueCodingAndObserving {}
extension NSObject: _KeyValueCodingAndObserving {}
extension _KeyValueCodingAndObserving {
    @preconcurrency public func observe<Value>(
        _ keyPath: KeyPath<Self, Value>,
        options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation { fatalError() }
}
// What the compiler itself calls where a class meets a value.
public func _convertErrorToNSError(_ error: any Error) -> NSError { fatalError() }
public func _convertNSErrorToError(_ error: NSError?) -> any Error { fatalError() }
public func _convertStringToNSString(_ s: String) -> NSString { fatalError() }
public func _convertNSStringToString(_ s: NSString?) -> String { "" }
// foundation/bundle
open class Bundle: NSObject {
    public class var main: Bundle { fatalError() }
    public var bundleIdentifier: String? { nil }
}
