import Default
import DefaultJournal
import Foundation
import JournalProbe

// The actions that the tests run in another process: the first argument is the action's name, the others are
// parameters.

/// A settings type in the platform's standard store, which is the default.
struct StandardSettings: DefaultStorable {
    var themeName: String
}

/// A settings type with a property that its first version did not have.
struct NamedCounter: DefaultStorable {
    var count = 0
    var name = "none"
    static let defaults = MemoryDefaults()
    static var defaultValue: NamedCounter? { NamedCounter() }
}

/// A settings type in the suite whose path is the first argument.
struct Counter: DefaultStorable {
    var count = 0
    static let defaults: FileDefaults = {
        do {
            return try FileDefaults(url: URL(filePath: CommandLine.arguments[2]), lockTimeout: patience)
        } catch {
            print(error)
            exit(3)
        }
    }()
    static var defaultValue: Counter? { Counter() }
}

/// A settings type with a predecessor, in the same suite as `Counter`.
struct MigratedCounter: DefaultMigratable {
    struct Old: Codable { var count: Int }

    var total: Int
    static var defaults: FileDefaults { Counter.defaults }
    static var schemaVersion: Int { 2 }

    init(migrating previous: Old) { total = previous.count + 1 }
}

/// A value whose initializer starts a task that goes on as long as the process.
struct Starting: DefaultProviding {
    var name = "new"
    static let defaultValue = Starting()
    static let (running, end) = AsyncStream.makeStream(of: Void.self)

    init() {}

    init(from decoder: any Decoder) throws {
        Task { for await _ in Self.running {} }
        name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
    }

    private enum CodingKeys: CodingKey {
        case name
    }
}

/// A settings type whose values must be filled in.
struct Starters: DefaultStorable {
    var all: [Starting] = []
    static let defaultValue = Starters()
}

/// A settings type that several processes change in place.
struct LiveCounter: DefaultStorable {
    struct List: Codable { var numbers: [Int] = [] }

    var count = 0
    var list = List()
    static let defaultValue = LiveCounter()
}

let arguments = Array(CommandLine.arguments.dropFirst(2))

func suite() throws -> FileDefaults {
    try FileDefaults(url: URL(filePath: arguments[0]), lockTimeout: patience)
}

func codeOf(_ body: () throws -> Void) -> String {
    do {
        try body()
        return "none"
    } catch {
        return (error as? DefaultsError)?.code.name ?? "\(error)"
    }
}

/// Prints without buffering, because a killed process does not flush.
func printNow(_ text: String) {
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
}

/// Prints the events that the program's handler receives, with their thread and time, and the ones that it causes
/// itself.
func printOwnHandler(key: String) {
    print(DefaultsDiagnostics.handler == nil ? "none" : "there")
    let latest = Locked<DefaultsDiagnostics.Event?>(nil)
    DefaultsDiagnostics.handler = { event in
        print(event.kind, event.error.code, event.error.key ?? "", Thread.isMainThread)
        latest.withLock { $0 = event }
        MemoryDefaults().df.store(Double.nan, forKey: "log")
    }
    MemoryDefaults().df.store(Double.nan, forKey: key)
    print("returned")
    DefaultsDiagnostics.handler = { print("called with", $0.kind) }
    if let event = latest.withLock({ $0 }) {
        DefaultsDiagnostics.handler?(event)
    }
    DefaultsDiagnostics.handler = nil
    print(DefaultsDiagnostics.handler == nil ? "removed" : "still there")
    MemoryDefaults().df.store(Double.nan, forKey: key)
}

/// Prints how many different stack depths the calls of the program's handler have, for a thousand events.
func printHandlerDepths() {
    let depths = Locked<Set<Int>>([])
    DefaultsDiagnostics.handler = { _ in
        let depth = Thread.callStackReturnAddresses.count
        depths.withLock { _ = $0.insert(depth) }
    }
    for _ in 0..<1_000 { DefaultsDiagnostics.report(.writeFailed, DefaultsError(.encodingFailed, reason: "no")) }
    print(depths.withLock { $0.count })
}

/// Prints whether the thread that watches a suite wakes up about once a second while nothing changes, and the value
/// that an iterator delivers after a change.
func printWatcherSleeps() throws {
    let suite = try suite()
    let observation = suite.observeChanges { _ in
        print("then saw \(suite.integer(forKey: "count"))")
        exit(0)
    }
    defer { observation.cancel() }
    var status: String?
    while status == nil {
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
        status = threads.map { "/proc/self/task/\($0)/status" }.first { path in
            let status = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            return status.hasPrefix("Name:\tDefaultWatch") && status.contains("State:\tS")
        }
    }
    let before = try sleeps(status ?? "")
    let start = ContinuousClock.now
    for _ in 0..<1_000_000 where suite.integer(forKey: "count") != 0 {
        exit(4)
    }
    let wakeUps = try sleeps(status ?? "") - before
    let seconds = Int((ContinuousClock.now - start).components.seconds)
    print(wakeUps <= 2 * (seconds + 2) ? "seldom woke up, " : "woke up \(wakeUps) times, ", terminator: "")
    try FileDefaults(url: URL(filePath: arguments[0])).set(1, forKey: "count")
}

/// The number of times that a thread has gone to sleep.
func sleeps(_ status: String) throws -> Int {
    let line = try String(contentsOfFile: status, encoding: .utf8).split(separator: "\n")
        .first { $0.hasPrefix("voluntary_ctxt_switches:") }
    return line?.split(separator: "\t").last.flatMap { Int($0) } ?? -1
}

func run() throws {
    // Without /proc there are no arguments, so the environment has the action.
    let action =
        CommandLine.arguments.count > 1
        ? CommandLine.arguments[1] : ProcessInfo.processInfo.environment["HELPER_ACTION"] ?? ""
    switch action {
    case "read-standard":
        print(StandardSettings.read()?.themeName ?? "nothing")
    case "write-standard":
        StandardSettings(themeName: arguments[0]).write()
    case "write-nan":
        for key in arguments { MemoryDefaults().df.store(Double.nan, forKey: key) }
    case "write-nan-unread":
        try breakStandardError(isFull: arguments[0] == "full")
        MemoryDefaults().df.store(Double.nan, forKey: "level")
        print("returned")
    case "read-old-settings":
        let store = MemoryDefaults()
        try store.set(Data(#"{"count":1}"#.utf8), forKey: "lacking")
        try store.set(Data(#"{"count":1,"name":2}"#.utf8), forKey: "unusable")
        for key in ["lacking", "unusable"] {
            _ = NamedCounter.read(from: store, forKey: key)
        }
    case "own-handler":
        printOwnHandler(key: arguments[0])
    case "handler-depths":
        printHandlerDepths()
    case "live-settings-without-default":
        if #available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *) {
            _ = LiveSettings<StandardSettings>(in: MemoryDefaults())
        }
    case "container-without-default":
        if #available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *) {
            let container: KeyValueContainer<Int> = MemoryDefaults().makeContainer(key: "number")
            container.value = 1
            _ = container.currentValue
        }
    case "tasks-of-initializers":
        let store = MemoryDefaults()
        try store.set(Data(#"{"all":[{}]}"#.utf8), forKey: "Starters")
        print(Starters.read(from: store)?.all.map(\.name) ?? [])

    case "fill":
        let suite = try suite()
        for number in 0..<(Int(arguments[1]) ?? 0) {
            try suite.set("value of key \(number)", forKey: "key \(number)")
        }
    case "count":
        for _ in 0..<(Int(arguments[1]) ?? 0) {
            try Counter.update { $0.count += 1 }
        }
    case "increment":
        let suite = try suite()
        let defaults = Defaults(suite: suite)
        for _ in 0..<(Int(arguments[1]) ?? 0) {
            suite[DefaultsKey<Int>("count")] += 1
            defaults["string key"] += 1
        }
    case "increment-live":
        let live = LiveSettings<LiveCounter>(in: try suite())
        for number in 0..<(Int(arguments[1]) ?? 0) {
            live.count += 1
            live.value.count += 1
            live.list.numbers.append(number)
        }
    case "print-live":
        let live = LiveSettings<LiveCounter>(in: try suite())
        print(live.count, live.list.numbers.count)
    case "idle-watcher":
        try printWatcherSleeps()
    case "migrate":
        for _ in 0..<(Int(arguments[1]) ?? 0) {
            try MigratedCounter.migrate()
            try MigratedCounter.update { $0.total += 10 }
        }
    case "keys":
        let suite = try suite()
        for number in 0..<(Int(arguments[2]) ?? 0) {
            try suite.transaction {
                try suite.set(number, forKey: "\(arguments[1]).\(number)")
                try suite.set(Data(count: 200), forKey: "\(arguments[1]) latest")
            }
            if number.isMultiple(of: 100) {
                try suite.compact()
            }
        }
    case "pairs":
        let suite = try suite()
        for number in 1...(Int(arguments[1]) ?? 1) {
            try suite.transaction {
                try suite.set(number, forKey: "a")
                try suite.set(number, forKey: "b")
            }
        }
    case "write-forever":
        let suite = try suite()
        var number = suite.integer(forKey: "number")
        while true {
            number += 1
            try suite.set(number, forKey: "number")
            printNow("\(number)")
        }
    case "assign":
        let suite = try suite()
        let (key, text) = (arguments[1], arguments[3])
        switch arguments[2] {
        case "real": try suite.set(Double(text) ?? 0, forKey: key)
        case "integer": try suite.set(Int(text) ?? 0, forKey: key)
        case "boolean": try suite.set(text == "true", forKey: key)
        case "data": try suite.set(Data(text.utf8), forKey: key)
        default: try suite.set(text, forKey: key)
        }
    case "busy":
        try printBusySuite(URL(filePath: arguments[0]))
    case "read-only":
        try printReadOnlySuite(URL(filePath: arguments[0]), makeWritable: arguments.dropFirst().first)
    case "print-number":
        print(try suite().integer(forKey: "number"))

    case "use-standard":
        // The changes that an update makes to the program's file.
        switch arguments.first {
        case "deleted": try FileManager.default.removeItem(atPath: arguments[1])
        case "replaced":
            try Data("new".utf8).write(to: URL(filePath: arguments[1] + ".new"))
            guard rename(arguments[1] + ".new", arguments[1]) == 0 else { exit(5) }
        default: break
        }
        DefaultsDiagnostics.handler = { event in print("event:", event.kind, event.error.code) }
        print("read:", FileDefaults.standard.integer(forKey: "number"))
        do {
            try FileDefaults.standard.set(1, forKey: "number")
            print(try FileDefaults.standard.url.path)
        } catch {
            print(error)
        }
    case "use-named":
        if arguments[0] != "same user" {
            guard let user = UInt32(arguments[0]), setgid(user) == 0, setuid(user) == 0 else { exit(7) }
        }
        DefaultsDiagnostics.handler = { event in print(event) }
        // Like the standard suite, these are opened at their first use.
        for name in arguments.dropFirst() {
            do {
                let suite = try FileDefaults(suiteName: name)
                print("read:", suite.integer(forKey: "number"))
                try suite.set(1, forKey: "number")
                print("stored:", try suite.url.path)
            } catch {
                print("\(error.code.name): \(error)")
            }
        }
    case "unavailable-standard":
        try FileDefaults.standard.register(defaults: ["r": "registered"])
        print(FileDefaults.standard.string(forKey: "r") ?? "nothing")
        print("load:", codeOf { _ = try FileDefaults.standard.df.load(forKey: "k", type: Int.self) })
        print("read:", FileDefaults.standard.object(forKey: "k").map { "\($0)" } ?? "nil")
        print("save:", codeOf { try FileDefaults.standard.set(1, forKey: "k") })
        FileDefaults.standard.df.store("dark", forKey: "k")
        let home = ProcessInfo.processInfo.environment["HOME"] ?? ""
        try FileManager.default.removeItem(atPath: home)
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        FileDefaults.standard.df.store("dark", forKey: "k")
        print("later:", FileDefaults.standard.df.fetch(forKey: "k", type: String.self) ?? "nothing")
    case "handler-in-standard":
        DefaultsDiagnostics.handler = { event in
            FileDefaults.standard.df.store(event.error.code.name, forKey: "last event")
        }
        print(FileDefaults.standard.df.fetch(forKey: "last event", type: String.self) ?? "nothing")
    case "write-foundation":
        let suite = UserDefaults(suiteName: arguments[0]) ?? .standard
        let values: [(String, Any)] = [
            ("text", "dark"), ("number", 0.5), ("array", [1, 2]), ("data", Data([1, 2])),
            ("precomposed \u{E9}", ""), ("decomposed e\u{301}", ""),
        ]
        for (key, value) in values {
            suite.set(value, forKey: key)
        }
        suite.synchronize()
    case "print-forms":
        try printForms(of: suite())
    case "write-suite":
        try FileDefaults(suiteName: arguments[0]).set(arguments[2], forKey: arguments[1])
    case "print-suite":
        let values = try FileDefaults(suiteName: arguments[0]).dictionaryRepresentation()
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            print([key, "\(value)"].filter { !$0.isEmpty }.joined(separator: " "))
        }
    case "clear-suite":
        let suite = try FileDefaults(suiteName: arguments[0])
        for key in suite.dictionaryRepresentation().keys {
            try suite.removeObject(forKey: key)
        }
        try suite.compact()
    case "standard-values":
        let values = arguments[0].split(separator: ",").map { key in
            FileDefaults.standard.array(forKey: String(key)).map {
                "[" + $0.map { "\($0)" }.joined(separator: ", ") + "]"
            }
                ?? FileDefaults.standard.string(forKey: String(key)) ?? "nil"
        }
        print(values.joined(separator: " "))
    case "first-asynchronous-use":
        printFirstAsynchronousUse()
    case "count-watchers":
        try printWatchers(of: suite())
    case "watch-many":
        try printNoticesOfManySuites(in: URL(filePath: arguments[0]), count: Int(arguments[1]) ?? 0)
    case "write-many":
        try writeToManySuites(in: URL(filePath: arguments[0]), count: Int(arguments[1]) ?? 0)
    case "watch-refused":
        try printNoticesWithoutWatch(of: suite())
    case "change-and-compact":
        let suite = try suite()
        try suite.set("another value", forKey: "changed")
        try suite.set("new", forKey: "added")
        try suite.removeObject(forKey: "removed")
        try suite.compact()
    case "print-places":
        for home in arguments {
            setenv("XDG_CONFIG_HOME", home, 1)
            print(try FileDefaults(suiteName: "s").url.path)
        }
    case "print-state-place":
        DefaultsDiagnostics.handler = { print("event:", $0.kind) }
        print(try FileDefaults(suiteName: "app", in: .state).url.path)
    case "print-volumes":
        let url = URL(filePath: arguments[0]).appending(path: "elsewhere.defaults")
        let suites = [
            try FileDefaults(suiteName: "app"), try FileDefaults(suiteName: "app", in: .state),
            try FileDefaults(url: url), try FileDefaults(url: url, sourcesOf: "app"),
            try FileDefaults(readingFrom: url, sourcesOf: "app"), try FileDefaults(readingFrom: url),
        ]
        print(suites.map { "\($0.double(forKey: "volume"))" }.joined(separator: " "))
    case "load-storing":
        let number = try Defaults(suite: suite()).load(Defaults.Key<Int?>("id"), storing: .random(in: 1 ... .max))
        print(number)
    case "track-two-suites":
        if #available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *) {
            printNoticesOfTwoSuites()
        }
    case "track-while-changing":
        if #available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *) {
            printReadsThatAreNeverReported(rounds: Int(arguments[0]) ?? 0)
        }
    case "record-history":
        try recordHistory(arguments)
    case "sequences-while-changing":
        printSequencesThatGoOn(rounds: Int(arguments[0]) ?? 0)
    default:
        if try !runSeams() { try runWithUserDefaults() }
    }
}

endWithParent()
do {
    try run()
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(3)
}
