import DefaultJournal
import Foundation
import Testing

@testable import Default

private enum Player {
    struct Settings: DefaultStorable {
        static var defaults: MemoryDefaults { sharedStore }
    }
}

private enum Editor {
    struct Settings: DefaultStorable {
        static var defaults: MemoryDefaults { sharedStore }
    }
}

private enum Elsewhere {
    struct Settings: DefaultStorable {
        static let defaults = MemoryDefaults()
    }
}

private let sharedStore = MemoryDefaults()

@Suite("Diagnostics")
struct DiagnosticsTests {
    @Test("report two types with the same identifier in one store once, and name both")
    func identifierConflict() throws {
        let collector = EventCollector()
        collector.collect {
            // Under two different keys the two types don't conflict.
            Player.Settings().write(withKey: "player")
            Editor.Settings().write(withKey: "editor")
            _ = try? Player.Settings.loadWithReport(forKey: "player")
            _ = try? Editor.Settings.loadWithReport(forKey: "editor")
            #expect(collector.events.isEmpty)
            Player.Settings().write()
            Elsewhere.Settings().write()
            _ = Player.Settings.read()
            #expect(collector.events.isEmpty)
            _ = Editor.Settings.read()
            Editor.Settings().write()
            Player.Settings().write()
        }
        #expect(collector.codes == [.identifierConflict])
        let event = try #require(collector.events.first)
        #expect(event.kind == .identifierConflict)
        #expect(event.error.description.contains("Player.Settings"))
        #expect(event.error.description.contains("Editor.Settings"))
        #expect(event.error.store == sharedStore.storeDescription)
    }

    @Test("receive events of stores that other packages bring, of kinds of their own")
    func thirdPartyEvents() {
        let collector = EventCollector()
        collector.collect {
            let error = DefaultsError(.init("vault.closed"), reason: "It is night.")
            DefaultsDiagnostics.report(.init("vault closed"), error)
        }
        #expect(collector.codes == [DefaultsError.Code("vault.closed")])
        #expect(collector.events.first?.kind == DefaultsDiagnostics.Event.Kind("vault closed"))
        #expect(collector.events.first?.severity == .warning)
        #expect(collector.events.first?.description == "vault closed: It is night.")
    }

    @Test("treat two canonically equivalent keys as different keys")
    func equivalentKeys() throws {
        let store = MemoryDefaults()
        let collector = EventCollector()
        try collector.collect {
            for key in ["\u{E9}", "e\u{301}"] {
                try store.set(Data(), forKey: key)
                _ = store.df.fetch(forKey: key, type: Int.self)
            }
        }
        #expect(collector.codes == [.undecodable, .undecodable])
    }

    @Test("report the same failure once for each key, store and type")
    func distinctFailures() throws {
        struct Point: Codable {
            var x = 1
            var y = 2
        }
        let stores = [MemoryDefaults(), MemoryDefaults()]
        let collector = EventCollector()
        try collector.collect {
            for store in stores {
                for key in ["a", "b"] { try store.set(Data("?".utf8), forKey: key) }
                for key in ["c", "d"] { try store.set(Data(#"{"x":1}"#.utf8), forKey: key) }
            }
            for _ in 0..<2 {
                for store in stores {
                    for key in ["a", "b"] {
                        _ = store.df.fetch(forKey: key, type: Int.self)
                        _ = store.df.fetch(forKey: key, type: [Int].self)
                    }
                    for key in ["c", "d"] { _ = Defaults(suite: store)[Defaults.Key<Point>(key, default: Point())] }
                }
            }
        }
        let places = collector.events.map { "\($0.error.store ?? "") \($0.error.key ?? "")" }
        #expect(places.count == 12 && Set(places).count == 8)
        #expect(collector.events.count { $0.kind == .readFailed && $0.severity == .error } == 8)
    }

    @Test("describe an event on one line, without stored values")
    func oneLine() throws {
        let store = MemoryDefaults()
        try store.set(Data(#"{"pin":"hunter2"}"#.utf8), forKey: "a\nb")
        let collector = EventCollector()
        collector.collect {
            _ = store.df.fetch(forKey: "a\nb", type: [String: Int].self)
            store.df.store(["pin": Double.nan], forKey: "a\nb")
        }
        #expect(collector.events.map(\.kind) == [.readFailed, .writeFailed])
        for event in collector.events {
            #expect(!event.description.contains("hunter2"))
            #expect(!event.description.contains("\n"))
            #expect(event.description.contains(#""a\nb""#))
            #expect(event.description.contains(store.storeDescription))
        }
    }

    @Test("go to the program's handler on its own thread before the call returns; it may cause the same error itself")
    func ownHandler() throws {
        let outcome = try TestHelper.run(["own-handler", "level"])
        #expect(outcome.status == 0)
        let expected = [
            "none", "write failed encodingFailed level true", "returned", "called with write failed", "removed", "",
        ]
        #expect(outcome.output == expected.joined(separator: "\n"))
        // The handler's own events go to the built-in one, and so do all events after it is removed.
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.first?.contains("\"log\"") == true)
        #expect(lines.dropFirst().first?.contains("\"level\"") == true)
        // Only where there is no handler.
        #expect(lines.last?.contains("Set DefaultsDiagnostics.handler") == true)
    }

    @Test("reach the program's handler by the same calls each time, however many there were before")
    func handlerDepth() throws {
        let outcome = try TestHelper.run(["handler-depths"])
        #expect(outcome.output == "1\n", "\(outcome.errors)")
    }

    @Test("that are errors go to standard error as lines if the program has no handler, which is explained once")
    func builtInHandler() throws {
        let outcome = try TestHelper.run(["write-nan", "level", "other"])
        #expect(outcome.status == 0)
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.first?.hasPrefix("Default: write failed: ") == true)
        #expect(lines.first?.contains("\"level\"") == true && lines.last?.contains("\"other\"") == true)
        #expect(lines.dropFirst().first?.hasPrefix("Default: Set DefaultsDiagnostics.handler") == true)
    }

    @Test("end or hang no program whose standard error nobody reads", arguments: ["ended", "full"])
    func unreadErrors(_ reader: String) throws {
        let outcome = try TestHelper.run(["write-nan-unread", reader])
        #expect(outcome.status == 0 && outcome.output == "returned\n")
    }

    @Test("that are no errors are not written to standard error")
    func builtInHandlerSeverity() throws {
        let outcome = try TestHelper.run(["read-old-settings"])
        #expect(outcome.status == 0 && outcome.errors == "")
    }

    @Test("name the property that can't be decoded, and the cure")
    func cure() throws {
        struct Settings: DefaultStorable {
            struct Window: Codable { var width: Int }
            var window: Window
            static let defaults = MemoryDefaults()
        }
        for (text, fault) in [
            (#"{"window":{}}"#, #"no value for "window.width""#),
            (#"{"window":{"width":"w"}}"#, #""window.width" is not"#),
        ] {
            try Settings.defaults.set(Data(text.utf8), forKey: "Settings")
            let error = expectError(.undecodable) { try Settings.load() }
            let message = try #require(error?.description)
            #expect(message.contains(fault))
            #expect(message.contains("Make the property optional, or give the settings type a defaultValue"))
            // The event of the write that replaces the value says the same.
            let collector = EventCollector()
            collector.collect { Settings(window: .init(width: 5)).write() }
            #expect(collector.events.map(\.kind) == [.quarantined])
            #expect(collector.events.first?.description.contains(fault) == true)
        }
        // Bytes that aren't JSON have no properties.
        try Settings.defaults.set(Data("{".utf8), forKey: "Settings")
        let error = expectError(.undecodable) { try Settings.load() }
        #expect(error?.description.hasSuffix("They were left unchanged.") == true)
    }

    @Test("name the property of a value that was filled in, and quarantined when it was replaced")
    func quarantinedProperty() throws {
        struct Settings: DefaultStorable {
            var name = "n"
            var count = 1
            static let defaults = MemoryDefaults()
            static var defaultValue: Settings? { Settings() }
        }
        try Settings.defaults.set(Data(#"{"name":"x","count":"y"}"#.utf8), forKey: "Settings")
        let collector = EventCollector()
        collector.collect { Settings().write() }
        #expect(collector.events.map(\.kind) == [.quarantined])
        #expect(collector.events.first?.description.contains(#""count" is not of type Int"#) == true)
    }

    @Test("don't say that anything was filled in where an old name and the new one have a value")
    func nameConflict() throws {
        struct Settings: DefaultStorable {
            var color = "red"
            static let defaults = MemoryDefaults()
            static var defaultValue: Settings? { Settings() }
            static var renamedProperties: [String: String] { ["colour": "color"] }
        }
        try Settings.defaults.set(Data(#"{"color":"blue","colour":"green"}"#.utf8), forKey: "Settings")
        let collector = EventCollector()
        collector.collect {
            #expect(Settings.read()?.color == "blue")
            Settings().write()
        }
        #expect(collector.events.map(\.kind) == [.filledIn, .quarantined])
        for event in collector.events {
            #expect(event.description.contains(#""colour" has an old name"#))
            #expect(!event.description.contains("filled in"))
        }
        #expect(collector.events.first?.description.contains("These were not used.") == true)
    }

    @Test("state how serious an event is")
    func severities() throws {
        struct Settings: DefaultStorable {
            var name = "n"
            var count = 1
            static let defaults = MemoryDefaults()
            static var defaultValue: Settings? { Settings() }
        }
        let cases: [(String, [DefaultsDiagnostics.Event.Severity])] = [
            (#"{"name":"x","count":2}"#, []),
            (#"{"name":"x"}"#, [.info]),
            (#"{"name":"x","count":"y"}"#, [.warning, .warning]),
            ("{", [.error, .warning]),
        ]
        for (text, expected) in cases {
            try Settings.defaults.set(Data(text.utf8), forKey: "Settings")
            let collector = EventCollector()
            collector.collect {
                _ = Settings.read()
                Settings().write()
            }
            #expect(collector.events.map(\.severity) == expected, "\(text)")
        }
        #expect(DefaultsDiagnostics.Event.Severity.info < .warning)
        #expect(DefaultsDiagnostics.Event.Severity.warning < .error)
    }
}

@Suite("An error")
struct DefaultsErrorTests {
    @Test("is caught only by its own code")
    func codes() {
        let error = DefaultsError(.undecodable, reason: "Because.", key: "k")
        #expect(DefaultsError.Code.undecodable ~= error)
        #expect(!(DefaultsError.Code.typeMismatch ~= error))
        #expect(!(DefaultsError.Code.undecodable ~= CancellationError()))
        #expect(DefaultsError.Code("app.full") == DefaultsError.Code("app.full"))
        #expect(error.localizedDescription == "Because.")
        #expect("\(DefaultsError.Code.undecodable)" == "undecodable")
    }

    @Test("names the path of the value at fault")
    func paths() throws {
        struct Inner: Codable { var level: Int }
        struct Outer: Codable { var inners: [Inner] }
        let store = MemoryDefaults()
        let cases: [(String, String)] = [
            (#"{"inners":[{"level":"x"}]}"#, "\"inners[0].level\" is not of type Int"),
            (#"{"inners":[{}]}"#, "no value for \"inners[0].level\""),
            (#"{"inners":[{"level":null}]}"#, "null at \"inners[0].level\""),
            (#"{"#, "the top level is malformed"),
        ]
        for (text, fault) in cases {
            try store.set(Data(text.utf8), forKey: "k")
            let error = expectError(.undecodable) { try store.df.load(forKey: "k", type: Outer.self) }
            #expect(error?.description.contains(fault) == true, "\(error?.description ?? "")")
        }
    }
}

@Suite("A report about a stored value")
struct ReportedReadsTests {
    @Test("is remembered up to 4,096 reports, and forgotten with the one after them")
    func bound() {
        var reports = ReportedReads()
        func areNew(_ numbers: some Sequence<Int>) -> [Bool] {
            numbers.map { reports.insert(ErrorContext(key: "k"), reason: $0) }
        }
        #expect(areNew(1...4_096).allSatisfy { $0 })
        // All of them are remembered, and asking doesn't displace any.
        #expect(areNew([1, 4_096, 1]) == [false, false, false])
        #expect(areNew([4_097, 4_097, 1]) == [true, false, true])
    }
}

@Suite("An event")
struct DefaultsEventTests {
    private typealias Kind = DefaultsDiagnostics.Event.Kind

    @Test("has a kind with a name that is stable across versions, and the severity of its kind")
    func kinds() {
        let errors: [(Kind, String)] = [
            (.writeFailed, "write failed"), (.readFailed, "read failed"), (.removalFailed, "removal failed"),
            (.openFailed, "open failed"), (.storeDamaged, "store damaged"), (.importFailed, "import failed"),
            (.defaultUnusable, "default unusable"),
        ]
        let warnings: [(Kind, String)] = [
            (.identifierConflict, "identifier conflict"), (.storeReplaced, "store replaced"),
            (.storeExposed, "store exposed"), (.storeBusy, "store busy"), (.maintenanceFailed, "maintenance failed"),
            (.watchFailed, "watch failed"), (.filledIn, "read with differences"), (.quarantined, "quarantined"),
            (.init("vault closed"), "vault closed"),
        ]
        let error = DefaultsError(.storeFailed, reason: "R.", key: "k")
        for (kinds, severity) in [(errors, DefaultsDiagnostics.Event.Severity.error), (warnings, .warning)] {
            for (kind, name) in kinds {
                let event = DefaultsDiagnostics.Event(kind: kind, error: error)
                #expect(kind.name == name && "\(kind)" == name)
                #expect(event.severity == severity, "\(name)")
                #expect(event.report == nil && event.kind == kind && event.error.key == "k")
                #expect("\(event)" == "\(name): R.")
            }
        }
        typealias Severity = DefaultsDiagnostics.Event.Severity
        #expect(!(Severity.error < .info) && !(Severity.info < .info))
        #expect([Severity.error, .info, .warning].sorted() == [.info, .warning, .error])
    }

    @Test("of a filled-in value is information only while nothing is unusable")
    func filledIn() {
        let error = DefaultsError(.filledIn, reason: "R.")
        let missing = LoadReport(filledIn: ["a"])
        let unusable = LoadReport(filledIn: ["a"], unusable: [.init(keys: ["b"], reason: .malformed)])
        let info = DefaultsDiagnostics.Event(kind: .filledIn, error: error, report: missing)
        let warning = DefaultsDiagnostics.Event(kind: .filledIn, error: error, report: unusable)
        #expect(info.severity == .info && info.report == missing)
        #expect(warning.severity == .warning && warning.report == unusable)
    }

    @Test("of a value that can't be read is sent once for each place, type and reason, and other events each time")
    func repetitions() {
        let store = "Store \(UUID().uuidString)"
        func error(_ code: DefaultsError.Code, _ reason: String = "R.", key: String = "k", type: Any.Type = Int.self)
            -> DefaultsError
        {
            DefaultsError(code, reason: reason, key: key, type: type, store: store)
        }
        func count(_ kind: Kind, _ error: DefaultsError) -> Int {
            EventCollector.codes { for _ in 0..<2 { DefaultsDiagnostics.report(kind, error) } }.count
        }
        for code in [DefaultsError.Code.undecodable, .typeMismatch, .newerVersion, .migrationFailed] {
            let reason = "\(code)."
            #expect(count(.readFailed, error(code, reason)) == 1, "\(code)")
            #expect(count(.readFailed, error(code, reason)) == 0, "\(code)")
            #expect(count(.readFailed, error(code, reason + "!")) == 1, "\(code)")
            #expect(count(.readFailed, error(code, reason, key: "other")) == 1, "\(code)")
            #expect(count(.readFailed, error(code, reason, type: String.self)) == 1, "\(code)")
            #expect(count(.readFailed, error(code, reason).about(content: 1)) == 1, "\(code)")
            #expect(count(.readFailed, error(code, reason).about(content: 2)) == 1, "\(code)")
            #expect(count(.readFailed, error(code, reason).about(content: 1)) == 0, "\(code)")
            let elsewhere = DefaultsError(code, reason: reason, key: "k", type: Int.self, store: store + "!")
            #expect(count(.readFailed, elsewhere) == 1, "\(code)")
            #expect(count(.writeFailed, error(code, reason)) == 2, "\(code)")
        }
        for code in [DefaultsError.Code.invalidKey, .storeUnavailable, .storeFailed, .init("vault.closed")] {
            #expect(count(.readFailed, error(code)) == 2, "\(code)")
        }
    }

    @Test("of a value that can't be read comes again for each other content", arguments: StoreKind.allCases)
    func contents(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            func counts(_ contents: [PropertyListValue], _ read: () -> Void) throws -> [Int] {
                try contents.map { content in
                    try store.setStoredValue(content, forKey: "k")
                    return EventCollector.codes { for _ in 0..<2 { read() } }.count
                }
            }
            let texts: [PropertyListValue] = [.string("ab"), .string("cd"), .array([.string("ab")]), .string("ab")]
            let numbers = try counts(texts) { _ = defaults[DefaultsKey<Int>("k")] }
            #expect(numbers == [1, 1, 1, 0])
            // The bytes have the same length, and are malformed at the same place.
            let bytes = ["{a", "{b", "{a"].map { PropertyListValue.data(Data($0.utf8)) }
            let fetched = try counts(bytes) { _ = store.df.fetch(forKey: "k", type: [Int].self) }
            #expect(fetched == [1, 1, 0])
            let read = try counts(bytes) { _ = defaults[DefaultsKey<[String: [Int]]>("k")] }
            #expect(read == [1, 1, 0])
        }
    }

    @Test("of a filled-in value comes once for each place and each content of its message")
    func reports() {
        let store = "Store \(UUID().uuidString)"
        let context = ErrorContext(key: "k", type: Int.self, store: store)
        func event(_ report: LoadReport, _ context: ErrorContext) -> DefaultsDiagnostics.Event? {
            let collector = EventCollector()
            collector.collect { DefaultsDiagnostics.report(report, context) }
            return collector.events.first
        }
        func report(
            missing: Int = 0,
            unusable: Int = 0,
            last: String = "z",
            reason: LoadReport.UnusableValue.Reason = .missing
        ) -> LoadReport {
            LoadReport(
                filledIn: (0..<missing).map { "m\(100 + $0)" },
                unusable: (0..<unusable).map { number in
                    .init(keys: [number == unusable - 1 ? last : "a\(100 + number)"], reason: reason)
                }
            )
        }
        #expect(event(LoadReport(), context) == nil)
        #expect(event(LoadReport(migratedFrom: "Old"), context) == nil)
        let first = event(report(missing: 1), context)
        #expect(first?.kind == .filledIn && first?.error.code == .filledIn && first?.report == report(missing: 1))
        #expect(first?.error.key == "k" && first?.error.type == Int.self && first?.error.store == store)
        #expect(event(report(missing: 1), context) == nil)
        #expect(event(report(missing: 1), ErrorContext(key: "other", type: Int.self, store: store)) != nil)
        #expect(event(report(missing: 1), ErrorContext(key: "k", type: String.self, store: store)) != nil)
        for (number, other) in [
            report(missing: 2), report(unusable: 1), report(unusable: 1, last: "y"),
            report(unusable: 1, reason: .malformed),
            report(missing: 1, unusable: 1), report(unusable: 20), report(unusable: 20, last: "y"),
            // These have one more path than the message lists.
            report(unusable: 21), report(missing: 1, unusable: 20, last: "x"),
        ].enumerated() {
            #expect(event(other, context)?.report == other, "report \(number)")
            #expect(event(other, context) == nil, "report \(number)")
        }
        // The message contains neither the last of 21 paths nor the missing ones.
        #expect(event(report(unusable: 21, last: "y"), context) == nil)
        #expect(event(report(missing: 20, unusable: 1), context) != nil)
        let names = (0..<19).map { "m\(100 + $0)" } + ["n"]
        #expect(event(LoadReport(filledIn: names, unusable: [.init(keys: ["z"], reason: .missing)]), context) == nil)
    }
}

@Suite("A load report")
struct LoadReportTests {
    @Test("has its parts in the order of their paths, and is empty without any")
    func parts() {
        func unusable(_ paths: String...) -> [LoadReport.UnusableValue] {
            paths.map { .init(keys: [$0], reason: .malformed) }
        }
        let report = LoadReport(filledIn: ["b", "a.c", "a"], unusable: unusable("y", "x"), migratedFrom: "Old")
        #expect(report.filledIn == ["a", "a.c", "b"])
        #expect(report.unusable == unusable("x", "y"))
        #expect(report.migratedFrom == "Old")
        #expect(!report.isEmpty && report.isFilledIn)
        #expect(LoadReport(migratedFrom: "Old").isEmpty && !LoadReport(migratedFrom: "Old").isFilledIn)
        #expect(!LoadReport(filledIn: ["a"]).isEmpty && LoadReport(filledIn: ["a"]).isFilledIn)
        #expect(!LoadReport(unusable: unusable("a")).isEmpty && LoadReport(unusable: unusable("a")).isFilledIn)
        #expect(LoadReport().migratedFrom == nil)
        // A part that is only left out does not count as filled in.
        typealias Part = LoadReport.UnusableValue
        let leftOut = [Part(keys: ["a"], reason: .oldName), Part(keys: ["b"], reason: .unknown)]
        #expect(!LoadReport(unusable: leftOut).isFilledIn && !LoadReport(unusable: leftOut).isEmpty)
        #expect(LoadReport(unusable: leftOut + unusable("c")).isFilledIn)
    }

    @Test("has paths with dots between keys and brackets around indexes")
    func paths() {
        func path(_ keys: PathKey...) -> String { LoadReport.path(LoadReport.keys(of: keys)) }
        #expect(path(PathKey(stringValue: "a"), PathKey(intValue: 2), PathKey(stringValue: "b")) == "a[2].b")
        #expect(path(PathKey(intValue: 0), PathKey(intValue: 1)) == "[0][1]")
        #expect(path(PathKey(stringValue: "7")) == "7")
        #expect(path() == "")
        #expect(LoadReport.path(["a", "b", "[3]", "c"]) == "a.b[3].c")
        #expect(PathKey(intValue: 3).stringValue == "3" && PathKey(intValue: 3).intValue == 3)
        #expect(PathKey(stringValue: "3").intValue == nil)
    }
}
