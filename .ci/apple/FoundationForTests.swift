// What only the tests use of Foundation: signatures without behaviour, in the module that Foundation.swift begins.
// Above each group is the page of developer.apple.com/documentation that they are known from.

// foundation/filemanager, fileattributekey
extension FileManager {
    public var temporaryDirectory: URL { fatalError() }
    public var currentDirectoryPath: String { "" }
    public func createDirectory(
        at url: URL,
        withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]? = nil
    ) throws {}
    public func createDirectory(
        atPath path: String,
        withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]? = nil
    ) throws {}
    public func removeItem(at url: URL) throws {}
    public func removeItem(atPath path: String) throws {}
    public func moveItem(at source: URL, to destination: URL) throws {}
    public func moveItem(atPath source: String, toPath destination: String) throws {}
    public func copyItem(at source: URL, to destination: URL) throws {}
    public func copyItem(atPath source: String, toPath destination: String) throws {}
    public func linkItem(at source: URL, to destination: URL) throws {}
    public func linkItem(atPath source: String, toPath destination: String) throws {}
    public func createSymbolicLink(at url: URL, withDestinationURL destination: URL) throws {}
    public func createSymbolicLink(atPath path: String, withDestinationPath destination: String) throws {}
    public func destinationOfSymbolicLink(atPath path: String) throws -> String { "" }
    public func attributesOfItem(atPath path: String) throws -> [FileAttributeKey: Any] { [:] }
    public func contents(atPath path: String) -> Data? { nil }
    public func contentsOfDirectory(
        at url: URL,
        includingPropertiesForKeys keys: [URLResourceKey]?,
        options mask: DirectoryEnumerationOptions = []
    ) throws -> [URL] { [] }
    public func isExecutableFile(atPath path: String) -> Bool { false }
    public struct DirectoryEnumerationOptions: OptionSet, Sendable {
        public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue }
    }
}
public struct URLResourceKey: Hashable, Sendable {}
extension FileAttributeKey {
    public static var modificationDate: FileAttributeKey { fatalError() }
    public static var posixPermissions: FileAttributeKey { fatalError() }
    public static var size: FileAttributeKey { fatalError() }
    public static var systemFileNumber: FileAttributeKey { fatalError() }
    public static var type: FileAttributeKey { fatalError() }
}
// foundation/nstemporarydirectory()
public func NSTemporaryDirectory() -> String { "" }
// foundation/process, pipe, filehandle
open class Process: NSObject {
    public enum TerminationReason: Int, Sendable { case exit = 1, uncaughtSignal = 2 }
    open var executableURL: URL?
    open var currentDirectoryURL: URL?
    open var arguments: [String]?
    open var environment: [String: String]?
    open var standardInput: Any?
    open var standardOutput: Any?
    open var standardError: Any?
    open func run() throws {}
    open func waitUntilExit() {}
    open var isRunning: Bool { false }
    open var processIdentifier: Int32 { 0 }
    open var terminationStatus: Int32 { 0 }
    open var terminationReason: TerminationReason { .exit }
}
extension Process: @unchecked Sendable {}
open class Pipe: NSObject {
    open var fileHandleForReading: FileHandle { fatalError() }
    open var fileHandleForWriting: FileHandle { fatalError() }
}
extension Pipe: @unchecked Sendable {}
extension FileHandle: @unchecked Sendable {}
extension FileHandle {
    public class var standardOutput: FileHandle { fatalError() }
    public class var standardInput: FileHandle { fatalError() }
    public class var nullDevice: FileHandle { fatalError() }
    public convenience init(forReadingFrom url: URL) throws { fatalError() }
    public convenience init(forWritingTo url: URL) throws { fatalError() }
    public convenience init(forUpdating url: URL) throws { fatalError() }
    public var availableData: Data { Data() }
    public func readDataToEndOfFile() -> Data { Data() }
    public func write(_ data: Data) {}
    public func closeFile() {}
    public func seek(toFileOffset offset: UInt64) {}
    @available(macOS 10.15.4, *) public func readToEnd() throws -> Data? { nil }
    @available(macOS 10.15.4, *) public func read(upToCount count: Int) throws -> Data? { nil }
    @available(macOS 10.15, *) public func close() throws {}
    @available(macOS 10.15, *) public func seek(toOffset offset: UInt64) throws {}
    @available(macOS 10.15.4, *) @discardableResult public func seekToEnd() throws -> UInt64 { 0 }
    @available(macOS 10.15, *) public func truncate(atOffset offset: UInt64) throws {}
    @available(macOS 10.15, *) public func synchronize() throws {}
}
// foundation/thread, processinfo, bundle
extension Thread {
    public class var isMainThread: Bool { true }
    public class var callStackReturnAddresses: [NSNumber] { [] }
    public class func detachNewThread(_ block: @escaping @Sendable () -> Void) {}
    public class func sleep(forTimeInterval interval: TimeInterval) {}
}
extension ProcessInfo {
    public var processIdentifier: Int32 { 0 }
}
extension Bundle {
    public class var allBundles: [Bundle] { [] }
    public var bundleURL: URL { fatalError() }
    public var executableURL: URL? { nil }
}
// foundation/date, url, data, uuid
extension Date {
    public static var now: Date { fatalError() }
    public static var distantPast: Date { fatalError() }
    public static var distantFuture: Date { fatalError() }
    public var timeIntervalSinceNow: TimeInterval { 0 }
    public func timeIntervalSince(_ date: Date) -> TimeInterval { 0 }
    public static func + (date: Date, interval: TimeInterval) -> Date { date }
}
extension URL {
    public init?(string: String, relativeTo base: URL?) { nil }
    public var hasDirectoryPath: Bool { false }
    public var standardized: URL { self }
    public var pathExtension: String { "" }
    public mutating func deleteLastPathComponent() {}
    public func deletingPathExtension() -> URL { self }
    @available(macOS 13.0, iOS 16.0, *)
    public func appending<S: StringProtocol>(component: S, directoryHint: DirectoryHint = .inferFromPath) -> URL { self }
    public func resolvingSymlinksInPath() -> URL { self }
}
// foundation/decimal
extension Decimal: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, Comparable {
    public init(integerLiteral value: Int) {}
    public init(floatLiteral value: Double) {}
    public init(_ value: Int) {}
    public init(_ value: Double) {}
    public init?(string: String, locale: Locale? = nil) {}
    public static func < (a: Decimal, b: Decimal) -> Bool { false }
}
public struct Locale: Hashable, Sendable {}
// foundation/jsonencoder, jsondecoder, jsonserialization
extension JSONEncoder {
    public enum KeyEncodingStrategy: Sendable { case useDefaultKeys, convertToSnakeCase, custom(@Sendable ([any CodingKey]) -> any CodingKey) }
    public enum DateEncodingStrategy: Sendable {
        case deferredToDate, secondsSince1970, millisecondsSince1970, iso8601
        case custom(@Sendable (Date, any Encoder) throws -> Void)
    }
    public var keyEncodingStrategy: KeyEncodingStrategy {
        get { .useDefaultKeys }
        set {}
    }
    public var dateEncodingStrategy: DateEncodingStrategy {
        get { .deferredToDate }
        set {}
    }
}
extension JSONDecoder {
    public enum KeyDecodingStrategy: Sendable { case useDefaultKeys, convertFromSnakeCase, custom(@Sendable ([any CodingKey]) -> any CodingKey) }
    public enum DateDecodingStrategy: Sendable {
        case deferredToDate, secondsSince1970, millisecondsSince1970, iso8601
        case custom(@Sendable (any Decoder) throws -> Date)
    }
    public var keyDecodingStrategy: KeyDecodingStrategy {
        get { .useDefaultKeys }
        set {}
    }
    public var dateDecodingStrategy: DateDecodingStrategy {
        get { .deferredToDate }
        set {}
    }
}
extension JSONSerialization {
    public struct WritingOptions: OptionSet, Sendable {
        public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue }
        public static var sortedKeys: WritingOptions { WritingOptions(rawValue: 2) }
    }
    public class func data(withJSONObject object: Any, options: WritingOptions = []) throws -> Data { Data() }
}
// foundation/cocoaerror
extension CocoaError.Code {
    public static var fileReadUnknown: CocoaError.Code { .init(rawValue: 256) }
    public static var fileReadCorruptFile: CocoaError.Code { .init(rawValue: 259) }
    public static var fileWriteUnknown: CocoaError.Code { .init(rawValue: 512) }
}
// swift/string (Foundation's additions), foundation/characterset
extension String {
    public init(contentsOf url: URL, encoding: Encoding) throws { self = "" }
    public init(contentsOfFile path: String, encoding: Encoding) throws { self = "" }
}
extension StringProtocol {
    public func data(using encoding: String.Encoding, allowLossyConversion: Bool = false) -> Data? { nil }
    public func write(toFile path: String, atomically: Bool, encoding: String.Encoding) throws {}
    public func write(to url: URL, atomically: Bool, encoding: String.Encoding) throws {}
    public func components<T: StringProtocol>(separatedBy separator: T) -> [String] { [] }
    public func components(separatedBy separator: CharacterSet) -> [String] { [] }
    public func padding<T: StringProtocol>(toLength length: Int, withPad pad: T, startingAt index: Int) -> String { "" }
    public func range<T: StringProtocol>(of text: T) -> Range<Index>? { nil }
}
extension CharacterSet {
    public static var newlines: CharacterSet { fatalError() }
    public static var whitespacesAndNewlines: CharacterSet { fatalError() }
}
// foundation/nsuserdefaults
extension UserDefaults {
    public func removePersistentDomain(forName name: String) {}
    public func setVolatileDomain(_ domain: [String: Any], forName name: String) {}
    public func removeVolatileDomain(forName name: String) {}
    public func stringArray(forKey key: String) -> [String]? { nil }
    public func float(forKey key: String) -> Float { 0 }
}
// foundation/iso8601dateformatter
open class ISO8601DateFormatter: NSObject {
    open func date(from string: String) -> Date? { nil }
    open func string(from date: Date) -> String { "" }
}
// foundation/nsuuid, nsstring, nsmutablestring, nsarray, nsmutablearray, nsdictionary, nsdata, nsurl, nsnumber, nscoder
open class NSUUID: NSObject, NSCopying, NSSecureCoding {
    public override init() {}
    public init?(uuidString string: String) {}
    public var uuidString: String { "" }
}
extension NSUUID: @unchecked Sendable {}
open class NSMutableString: NSString {}
open class NSCoder: NSObject {
    open func encode(_ object: Any?, forKey key: String) {}
}
extension NSString: ExpressibleByStringLiteral {
    public required convenience init(stringLiteral value: StaticString) { fatalError() }
    public convenience init(string: String) { fatalError() }
    public convenience init(_ string: NSString) { fatalError() }
}
extension NSArray: ExpressibleByArrayLiteral {
    public required convenience init(arrayLiteral elements: Any...) { fatalError() }
    public convenience init(array: [Any]) { fatalError() }
}
extension NSDictionary: ExpressibleByDictionaryLiteral {
    public required convenience init(dictionaryLiteral elements: (Any, Any)...) { fatalError() }
    public convenience init(dictionary: [AnyHashable: Any]) { fatalError() }
}
extension NSData {
    public convenience init(data: Data) { fatalError() }
}
extension NSURL: @unchecked Sendable {}
extension NSMutableArray {
    public func add(_ object: Any) {}
}
extension NSURL {
    public convenience init?(string: String) { nil }
}
extension NSNumber {
    public convenience init(value: Int8) { fatalError() }
    public convenience init(value: Float) { fatalError() }
}
