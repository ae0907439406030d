import Default
import DefaultJournal
import DefaultTesting
import Foundation
import Testing

private struct Player: DefaultStorable, Equatable {
    var volume = 0.5
    static let defaultValue = Player()
}

/// What each test finds, and leaves: nothing of the others'.
private func useDefaults(_ volume: Double) async throws {
    #expect(Player.current == Player() && Defaults().keys == [])
    try Player.update { $0.volume = volume }
    // The tasks of the test have its store too.
    async let child = Player.current.volume
    #expect(await child == volume)
    #expect(await Task { Player.current.volume }.value == volume)
    #expect(await Task.detached { Defaults().keys.contains("Player") }.value == false)
}

@Suite("Tests with a standard store of their own", .isolatedDefaults)
struct IsolatedDefaultsTests {
    @Test("find nothing of each other, case by case", arguments: 1...20)
    func cases(number: Int) async throws { try await useDefaults(Double(number)) }

    @Test("find nothing of another test either")
    func another() async throws { try await useDefaults(21) }

    @Test("may have a suite of files", .isolatedDefaults(FileDefaults.temporary), arguments: 1...4)
    func files(number: Int) async throws {
        try await useDefaults(Double(number))
        #expect(Defaults().suite is FileDefaults)
    }

    @Test("leave no file, also when they throw")
    func cleaning() async throws {
        let trait = IsolatedDefaults.isolatedDefaults(FileDefaults.temporary)
        let test = try #require(Test.current)
        let place = Locked<URL?>(nil)
        await #expect(throws: CancellationError.self) {
            try await trait.provideScope(for: test, testCase: nil) {
                Defaults["volume"] = 1
                let suite = Defaults().suite as? FileDefaults
                place.withLock { $0 = try? suite?.url.deletingLastPathComponent() }
                throw CancellationError()
            }
        }
        let directory = try #require(place.withLock { $0 })
        #expect(!FileManager.default.fileExists(atPath: directory.path))
    }
}
