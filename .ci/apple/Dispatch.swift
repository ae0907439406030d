// developer.apple.com/documentation/dispatch: dispatchsemaphore, dispatchgroup, dispatchtime, +(_:_:),
// dispatchtimeoutresult.

public enum DispatchTimeoutResult: Sendable {
    case success
    case timedOut
}

public struct DispatchTime: Sendable {
    public static func now() -> DispatchTime { fatalError() }
    public var uptimeNanoseconds: UInt64 { fatalError() }
}

public func + (time: DispatchTime, seconds: Double) -> DispatchTime { fatalError() }

public class DispatchSemaphore: @unchecked Sendable {
    public init(value: Int) {}
    public func wait() {}
    public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { fatalError() }
    @discardableResult public func signal() -> Int { fatalError() }
}

public class DispatchGroup: @unchecked Sendable {
    public init() {}
    public func enter() {}
    public func leave() {}
    public func wait() {}
    public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { fatalError() }
}
