// swift-format-ignore-file
import Foundation

// Changes the meaning of programs that import it: GuestTests checks that each of these members is detected.

extension UserDefaults {
    public func set(_ value: Data, forKey key: String) {}

    public func storedKeys() -> [String] { [] }
}

public protocol Intruding {}

extension Intruding {
    public func set(_ value: [String], forKey key: String) throws {}
}

extension UserDefaults: Intruding {}
