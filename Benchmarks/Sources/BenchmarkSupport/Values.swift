public import Default
public import Foundation

/// A settings type as programs have them, in the standard store.
public struct VisualSettings: DefaultStorable, Sendable {
    public var themeName = "solarized-light"
    public var accentColor = "#3366FF"
    public var fontSize = 13.5
    public var isSidebarVisible = true
    public var recentCount = 10

    public init() {}

    /// A value that differs from that of the index before; its JSON has 112 bytes or so.
    public init(_ index: Int) {
        recentCount = 10 + index % 64
    }
}

extension DefaultsKeys {
    public static let launchCount = DefaultsKey<Int>("launchCount")
}

/// The bytes and keys that raw values have.
public enum Raw {
    public static let value = Data(repeating: 0x61, count: 112)
    public static let changed = Data(repeating: 0x62, count: 112)

    /// Other bytes than for the index before.
    public static func value(_ index: Int) -> Data {
        index.isMultiple(of: 2) ? changed : value
    }

    /// Other bytes than in the pass over the keys before.
    public static func value(_ index: Int, _ keys: Int) -> Data {
        value(index / keys)
    }

    public static func keys(_ count: Int) -> [String] {
        (0..<count).map { "setting.\($0)" }
    }
}
