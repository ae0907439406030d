// What only the tests use of Dispatch: developer.apple.com/documentation/dispatch, dispatchqueue, dispatchmain().

public class DispatchQueue: @unchecked Sendable {
    public struct Attributes: OptionSet, Sendable {
        public let rawValue: UInt64
        public init(rawValue: UInt64) { self.rawValue = rawValue }
        public static let concurrent = Attributes(rawValue: 1 << 1)
    }
    public class var main: DispatchQueue { fatalError() }
    public class func global() -> DispatchQueue { fatalError() }
    public class func concurrentPerform(iterations: Int, execute work: (Int) -> Void) {}
    public init(label: String, attributes: Attributes = []) {}
    @preconcurrency public func async(execute work: @escaping @Sendable @convention(block) () -> Void) {}
    public func sync<T>(execute work: () throws -> T) rethrows -> T { try work() }
}
public func dispatchMain() -> Never { fatalError() }
