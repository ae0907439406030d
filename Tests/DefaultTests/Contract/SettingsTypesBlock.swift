import Default
import Foundation
import Testing

// The calls of version 3 of the older library, and those that this library adds. They must compile outside a test's
// actor or closure.

private struct VisualSettings: Codable, DefaultStorable {
    var themeName: String
    let backgroundImageURL: URL?
    static let defaults = MemoryDefaults()
}

private struct Tuned: DefaultStorable {
    var level = 3
    static var defaultIdentifier: String { "tuned.v1" }
    static let defaults = MemoryDefaults()
    static var defaultValue: Tuned? { Tuned() }
}

#if Foundation
private struct Grouped: DefaultStorable {
    var level = 3
    static var defaults: UserDefaults { UserDefaults(suiteName: "group.app")! }
}
#endif

private struct Plain: DefaultStorable {
    var level = 3
}

private struct VolumeSetting: Codable, Equatable {
    let sourceName: String
    let value: Double
}

@Suite("The calls of settings types")
struct SettingsTypesBlock {
    @Test("write, read and clear under the type's name and under a key")
    func settingsTypes() throws {
        let settings = VisualSettings(
            themeName: "bright",
            backgroundImageURL: URL(string: "https://example.com/a.png")
        )
        settings.write()
        settings.write(withKey: "someUniqueKey")
        if let settings = VisualSettings.read() {
            #expect(settings.themeName == "bright")
            #expect(settings.backgroundImageURL == URL(string: "https://example.com/a.png"))
        } else {
            Issue.record("nothing under the type's name")
        }
        if let settings = VisualSettings.read(forKey: "someUniqueKey") {
            #expect(settings.themeName == "bright")
        } else {
            Issue.record("nothing under the key")
        }
        let bytes = try #require(VisualSettings.defaults.data(forKey: "VisualSettings"))
        #expect(try JSONDecoder().decode(VisualSettings.self, from: bytes).themeName == "bright")

        try settings.save()
        #expect(try VisualSettings.load()?.themeName == "bright")
        try VisualSettings.update { $0.themeName = "dark" }
        #expect(try VisualSettings.load()?.themeName == "dark")

        settings.clear()
        #expect(VisualSettings.read() == nil)
        VisualSettings.clear()
        VisualSettings.clear(forKey: "someUniqueKey")
        #expect(VisualSettings.read(forKey: "someUniqueKey") == nil)
        #expect(VisualSettings.defaultIdentifier == "VisualSettings")
    }

    @Test("choose identifier, store and default value with static properties")
    func choices() {
        #expect(Tuned.defaults.storeDescription != Plain.defaults.storeDescription)
        #expect(Tuned.defaultIdentifier == "tuned.v1")
        #expect(Tuned.read()?.level == 3)
        #expect(Plain.defaults === StandardDefaults.standard)
    }

    #if Foundation
    @Test("choose a UserDefaults as the store")
    func group() {
        #expect(Grouped.defaults.storeDescription != Plain.defaults.storeDescription)
    }
    #endif

    @Test("store and fetch any Codable value on every store", arguments: StoreKind.allCases)
    func accessor(kind: StoreKind) throws {
        let setting = VolumeSetting(sourceName: "amp", value: 0.4)
        try kind.withStore { store in
            store.df.store(setting, forKey: "volume")
            #expect(store.df.fetch(forKey: "volume", type: VolumeSetting.self) == setting)

            store.df.store(setting, forKey: "v", encoder: PropertyListEncoder())
            #expect(store.df.fetch(forKey: "v", type: VolumeSetting.self, decoder: PropertyListDecoder()) == setting)

            try store.df.save(setting, forKey: "v")
            #expect(try store.df.load(forKey: "v", type: VolumeSetting.self) == setting)
        }
        let memory = MemoryDefaults()
        memory.df.store(setting, forKey: "v")
        #expect(memory.df.fetch(forKey: "v", type: VolumeSetting.self) == setting)
    }
}
