// The declarations that the code blocks in doc comments use. `.ci/snippets` compiles the blocks with them.

public import Default
public import Foundation

public struct VisualSettings: DefaultStorable {
    public var themeName = "bright"
    public var backgroundImageURL: URL?

    public static var defaultValue: VisualSettings? { VisualSettings() }

    public init(themeName: String = "bright") { self.themeName = themeName }
}

public struct VolumeSetting: Codable, Sendable {
    public var sourceName: String
    public var value: Double

    public init(sourceName: String, value: Double) {
        self.sourceName = sourceName
        self.value = value
    }
}

public enum Theme: String, Sendable { case light, dark }

public struct Palette: Codable, Sendable {}

extension Defaults.Keys {
    public static let launchCount = Defaults.Key<Int>("launchCount")
    public static let volume = Defaults.Key<Double>("volume")
    public static let theme = Defaults.Key<Theme>("theme", default: .light)
}

public final class Player: Sendable {
    public init() {}

    public func use(_ theme: Theme) {}
}

public let player = Player()
public let store = MemoryDefaults()
public let suite = try! FileDefaults(suiteName: "com.example.player")
public let storage = PersistentStorage(suiteName: "com.example.player")!

/// A store of your own, as its tests use it.
public func Vault(directory: URL? = nil) -> MemoryDefaults { MemoryDefaults() }
