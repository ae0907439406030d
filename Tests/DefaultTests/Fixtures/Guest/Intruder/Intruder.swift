// swift-format-ignore-file
import Foundation

// Changes what a program that imports it means: GuestTests checks that each of these members is noticed.

extension UserDefaults {
    public func set(_ value: Data, forKey key: String) {}

    public func storedKeys() -> [String] { [] }
}

public protocol Intruding {}

extension Intruding {
    public func set(_ value: [String], forKey key: String) throws {}
}

extension UserDefaults: Intruding {}
