import Default
import Foundation

/// A typical settings type, in the standard store.
package struct VisualSettings: DefaultStorable, Sendable {
    package var themeName = "solarized-light"
    package var accentColor = "#3366FF"
    package var fontSize = 13.5
    package var isSidebarVisible = true
    package var recentCount = 10

    package init() {}

    /// A value that differs from that of the index before; its JSON has about 112 bytes.
    package init(_ index: Int) {
        recentCount = 10 + index % 64
    }
}

extension DefaultsKeys {
    package static let launchCount = DefaultsKey<Int>("launchCount")
}

/// The bytes and keys of raw values.
package enum Raw {
    package static let value = newValue()
    package static let changed = Data(repeating: 0x62, count: 112)

    /// The same bytes as ``value``, in their own memory, as the values of different settings are: threads that read
    /// copies of one value slow each other down.
    package static func newValue() -> Data {
        Data(repeating: 0x61, count: 112)
    }

    /// Other bytes than for the index before.
    package static func value(_ index: Int) -> Data {
        index.isMultiple(of: 2) ? changed : value
    }

    /// Other bytes than in the pass over the keys before.
    package static func value(_ index: Int, _ keys: Int) -> Data {
        value(index / keys)
    }

    package static func keys(_ count: Int) -> [String] {
        (0..<count).map { "setting.\($0)" }
    }
}
