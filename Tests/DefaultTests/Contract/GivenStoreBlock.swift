import Default
import Foundation
import Testing

private struct VisualSettings: DefaultStorable, Equatable {
    var themeName = "bright"
    var size = 12
    static var defaultValue: VisualSettings? { VisualSettings() }
}

@Suite("The calls of settings types on a given store")
struct GivenStoreBlock {
    @Test("write, read, change and clear there and nowhere else", arguments: StoreKind.allCases)
    func calls(kind: StoreKind) async throws {
        try await kind.withStore { suite in
            try await withDefaults(MemoryDefaults()) {
                let settings = VisualSettings(themeName: "blue")
                settings.write(to: suite)
                settings.write(to: suite, withKey: "k")
                #expect(VisualSettings.read(from: suite) == settings)
                #expect(VisualSettings.read(from: suite, forKey: "k") == settings)
                try VisualSettings(themeName: "green").save(to: suite)
                #expect(try VisualSettings.load(from: suite)?.themeName == "green")
                #expect(try VisualSettings.load(from: suite, forKey: "k")?.themeName == "blue")
                #expect(try VisualSettings.loadWithReport(from: suite)?.value.themeName == "green")
                #expect(try VisualSettings.loadWithReport(from: suite)?.report.isEmpty == true)
                try VisualSettings.update(in: suite) { $0.themeName = "dark" }
                #expect(VisualSettings.read(from: suite)?.themeName == "dark")

                // An incomplete value is filled in, and stored that way when asked for.
                try suite.setStoredValue(.data(Data(#"{"themeName":"old"}"#.utf8)), forKey: "VisualSettings")
                #expect(try VisualSettings.loadWithReport(from: suite)?.report.isEmpty == false)
                #expect(try VisualSettings.migrate(in: suite))
                #expect(try !VisualSettings.migrate(in: suite))
                #expect(try VisualSettings.load(from: suite) == VisualSettings(themeName: "old"))

                try suite.setStoredValue(.data(Data("garbage".utf8)), forKey: "VisualSettings")
                settings.write(to: suite)
                #expect(try VisualSettings.quarantined(in: suite).count == 1)
                try VisualSettings.removeQuarantined(in: suite)
                #expect(try VisualSettings.quarantined(in: suite).isEmpty)

                var updates = VisualSettings.updates(in: suite).makeAsyncIterator()
                #expect(await updates.next(isolation: nil) == settings)
                let live = LiveSettings<VisualSettings>(in: suite)
                live.size = 14
                #expect(await updates.next(isolation: nil) == VisualSettings(themeName: "blue", size: 14))
                #expect(live.value == VisualSettings(themeName: "blue", size: 14))

                VisualSettings.clear(in: suite)
                #expect(await updates.next(isolation: nil) == VisualSettings())
                #expect(VisualSettings.read(from: suite, forKey: "k") == settings)
                settings.clear(in: suite, forKey: "k")
                #expect(try VisualSettings.load(from: suite, forKey: "k") == nil)
                settings.write(to: suite)
                try VisualSettings.remove(from: suite)
                #expect(try VisualSettings.load(from: suite) == nil)

                #expect(Defaults().keys == [])
                #expect(VisualSettings.read() == VisualSettings())
            }
        }
    }

    @Test("have one value in each suite")
    func suites() throws {
        try withTemporaryDirectory { directory in
            for tenant in 1...3 {
                let suite = try FileDefaults(url: directory.appending(path: "\(tenant)"))
                VisualSettings(size: tenant).write(to: suite)
            }
            for tenant in 1...3 {
                let suite = try FileDefaults(url: directory.appending(path: "\(tenant)"))
                #expect(VisualSettings.read(from: suite)?.size == tenant)
                #expect(suite.storedKeys() == ["VisualSettings"])
            }
        }
    }
}
