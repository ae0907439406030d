import Default
import DefaultJournal
import Foundation
import Observation
import Testing

extension Defaults.Keys {
    fileprivate static let volume = Defaults.Key<Double>("volume", default: 0.5)
    fileprivate static let isSoundOn = Defaults.Key<Bool>("isSoundOn", default: true)
    fileprivate static let launchCount = Defaults.Key<Int>("launchCount")
}

extension PersistentStorage {
    fileprivate var balance: KeyValueContainer<Double> { makeContainer(default: 0.5) }
}

private struct AppSettings: DefaultStorable, Equatable {
    var isDark = false
    static var defaultValue: AppSettings? { AppSettings() }
}

/// The reads and assignments of a settings screen; Examples/SettingsScreen has the screen itself.
private struct Screen {
    @Stored(.volume) var volume
    @Stored(.isSoundOn) var isSoundOn
    let settings = LiveSettings<AppSettings>()
    let balance = PersistentStorage()!.balance

    /// A read in the screen's body, the change that its control makes, and one that another process makes.
    enum Row: String, CaseIterable, CustomTestStringConvertible {
        case volume, isSoundOn, isDark, launchCount, color, balance

        var testDescription: String { rawValue }

        func read() -> AnyHashable {
            switch self {
            case .volume: Screen().volume
            case .isSoundOn: Screen().isSoundOn
            case .isDark: Screen().settings.isDark
            case .launchCount: Defaults[.launchCount]
            case .color: Defaults["color"].stringValue
            case .balance: Screen().balance.currentValue
            }
        }

        func assign(_ number: Int) {
            let screen = Screen()
            switch self {
            case .volume: screen.volume = Double(number)
            case .isSoundOn: screen.isSoundOn.toggle()
            case .isDark: screen.settings.isDark.toggle()
            case .launchCount: Defaults[.launchCount] += 1
            case .color: Defaults["color"] = "\(number)"
            case .balance: screen.balance.currentValue += 0.125
            }
        }

        /// The arguments for a helper process that stores another value than before.
        func assignment(_ number: Int) -> [String] {
            switch self {
            case .volume, .balance: [rawValue, "real", "\(number).5"]
            case .isSoundOn: [rawValue, "boolean", "\(!number.isMultiple(of: 2))"]
            case .isDark: ["AppSettings", "data", #"{"isDark":\#(number.isMultiple(of: 2))}"#]
            case .launchCount: [rawValue, "integer", "\(100 + number)"]
            case .color: [rawValue, "string", "color \(number)"]
            }
        }
    }
}

/// A view that is rendered again at each notice, and counts them.
private final class Rendering: Sendable {
    private let row: Screen.Row
    private let store: FileDefaults
    private let notices = Locked<[AnyHashable]>([])
    private let events: AsyncStream<Void>.Continuation
    /// A stream with an element for each notice.
    let stream: AsyncStream<Void>

    init(_ row: Screen.Row, from store: FileDefaults) {
        self.row = row
        self.store = store
        (stream, events) = AsyncStream.makeStream(of: Void.self)
        render()
    }

    var count: Int { notices.withLock { $0.count } }

    private func render() {
        withDefaults(store) {
            withObservationTracking {
                _ = row.read()
            } onChange: { [self] in
                // The values read at the notices, which come after the change.
                let value = withDefaults(store) { row.read() }
                notices.withLock { $0.append(value) }
                render()
                events.yield()
            }
        }
    }

    /// The values at the notices; they all differ unless a change was notified twice.
    var values: [AnyHashable] { notices.withLock { $0 } }
}

@Suite("The reads of a settings screen", .waits)
struct ViewsBlock {
    @Test("are tracked, and notified once for each change", arguments: Screen.Row.allCases)
    fileprivate func ownChanges(row: Screen.Row) throws {
        try withTemporaryDirectory { directory in
            let suite = try FileDefaults(url: directory.appending(path: "suite.defaults"))
            let rendering = Rendering(row, from: suite)
            #expect(rendering.count == 0)
            for number in 1...3 {
                withDefaults(suite) { row.assign(number) }
                #expect(rendering.count == number)
            }
            withDefaults(suite) {
                for other in Screen.Row.allCases where other != row {
                    other.assign(1)
                }
                Defaults["unrelated"] = true
            }
            #expect(rendering.count == 3)
            try suite.removeObject(forKey: row == .isDark ? "AppSettings" : row.rawValue)
            #expect(rendering.count == 4)
        }
    }

    @Test("read the default while nothing is stored, and what was stored afterwards", arguments: Screen.Row.allCases)
    fileprivate func values(row: Screen.Row) throws {
        let store = MemoryDefaults()
        withDefaults(store) {
            let before = row.read()
            #expect(store.storedKeys() == [])
            row.assign(1)
            #expect(row.read() != before)
        }
    }

    #if !canImport(Darwin)
    @Test("are notified once for each change that another process makes", arguments: Screen.Row.allCases)
    fileprivate func changesOfAnotherProcess(row: Screen.Row) async throws {
        try await withTemporaryDirectory { directory in
            let url = directory.appending(path: "suite.defaults")
            let suite = try FileDefaults(url: url)
            let rendering = Rendering(row, from: suite)
            var notices = rendering.stream.makeAsyncIterator()
            func assignElsewhere(_ row: Screen.Row, _ number: Int) throws {
                #expect(try TestHelper.run(["assign", url.path] + row.assignment(number)).status == 0)
            }
            for number in 1...3 {
                for other in Screen.Row.allCases where other != row {
                    try assignElsewhere(other, number)
                }
                try assignElsewhere(row, number)
                await notices.next()
                #expect(rendering.count == number)
            }
            // Changes by both alternate, so that a second notice for one of them would come before the last one.
            withDefaults(suite) { row.assign(20) }
            try assignElsewhere(row, 21)
            await notices.next()
            await notices.next()
            #expect(rendering.count == 5)
            #expect(zip(rendering.values, rendering.values.dropFirst()).allSatisfy { $0 != $1 })
        }
    }
    #endif
}
