internal import DefaultJournal
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A suite that may not be open yet, in one process: see ``inEachProcess``.
final class FileSuite: @unchecked Sendable {
    private let location: SuiteLocation
    /// Nanoseconds.
    private let lockTimeout: UInt64
    /// Whether nothing is ever created, repaired or locked.
    private let isReadOnly: Bool
    private let opening = ThreadLock()
    private let isOpen = Atomic<Bool>(false)
    // Set once, before `isOpen`, and only read after it.
    @exclusivity(unchecked) private var opened: Opened?
    // Used under `opening`. A process that is stopped must not cost each of many reads the whole time.
    private var wasBusy = false
    /// The defaults that were registered through this object, for the suite when it is opened, here or in a child
    /// made with `fork`.
    private let registered: Locked<[StoreKey: PropertyListValue]>
    private let forkCount = ForkCount.current
    /// Those who began to observe the suite before it was opened.
    private let observersBefore = ChangeHub()
    /// The observation of the open suite by which they hear of its changes.
    private let passingOn = Locked<StoreObservation?>(nil)

    /// A reference that can be used without being copied; see ``withOpenSuite(_:)``.
    private struct Opened: ~Copyable {
        let suite: OpenSuite
    }

    /// - Parameters:
    ///   - location: Where the suite is.
    ///   - lockTimeout: Seconds to wait for other processes; none if it is negative or not a number.
    ///   - isReadOnly: Whether the suite is only read, even if it could be written.
    init(location: SuiteLocation, lockTimeout: TimeInterval = 5, isReadOnly: Bool = false) {
        self.location = location
        self.isReadOnly = isReadOnly
        self.lockTimeout = lockTimeout > 0 ? UInt64(min(lockTimeout, 1_000_000_000) * 1_000_000_000) : 0
        registered = Locked([:])
    }

    /// The same suite for a child made with `fork`, which opens it for itself.
    private init(inChildOf parent: FileSuite) {
        location = parent.location
        isReadOnly = parent.isReadOnly
        lockTimeout = parent.lockTimeout
        // If a thread of the parent was just registering some, nobody will ever release their lock here.
        registered = Locked(parent.registered.copyIfFree() ?? [:])
    }

    /// The suite of each process: this object, and in a child made with `fork` one of its own.
    var inEachProcess: PerProcess<FileSuite> {
        PerProcess { self.forkCount == ForkCount.current ? self : FileSuite(inChildOf: self) }
    }

    /// The path of the suite's directory, as it was first opened in this process.
    func path() throws(DefaultsError) -> String {
        if let current { return current.journal.path }
        return try location.path()
    }

    /// The open suite; nil while it has not been opened.
    var current: OpenSuite? { isOpen.load() ? opened?.suite : nil }

    /// Calls a body with the suite, which is opened first if it isn't open; nil if that fails.
    ///
    /// The reference to an open suite is not copied: its count would move between the processors of threads that read
    /// at once.
    func withOpenSuite<Result>(_ body: (OpenSuite) -> Result) -> Result? {
        guard isOpen.load() else { return openIfPossible().map(body) }
        switch opened {
        case .some(let opened): return body(opened.suite)
        case .none: return nil
        }
    }

    /// Opens the suite if it is not open.
    func open() throws(DefaultsError) -> OpenSuite {
        if let current { return current }
        location.reportIgnoredVariable()
        let events = DeferredEvents()
        // A handler may use this suite, which would deadlock while the lock is held.
        defer { events.release() }
        let suite = try openFirst(events)
        passOnChanges(of: suite)
        return suite
    }

    private func openFirst(_ events: DeferredEvents) throws(DefaultsError) -> OpenSuite {
        opening.lock()
        defer { opening.unlock() }
        if let current { return current }
        let path = try location.path()
        var options = JournalOptions.standard
        options.report = { events.report(.init($0)) }
        options.lockTimeout = lockTimeout
        options.isReadOnly = isReadOnly
        #if canImport(Darwin)
        options.backgroundActivity = AppleFiles.performActivity
        #endif
        let journal: Journal
        do {
            journal = try Journal.open(at: path, options: options, waits: !wasBusy) { SuiteState() }
        } catch {
            let error = DefaultsError.opening(error, advice: location.advice(about: error, in: path))
            wasBusy = error.code == .storeBusy
            throw error
        }
        #if canImport(Darwin)
        if !isReadOnly { AppleFiles.protect(path) }
        #endif
        guard let state = journal.observer as? SuiteState else {
            throw .storeUnavailable(at: path, because: "it is already open in this process for another purpose")
        }
        let suite = OpenSuite(journal: journal, state: state)
        try FoundationImport.run(from: location.foundationPropertyList(), into: suite, events: events)
        state.register(registered.withLock { $0 })
        opened = Opened(suite: suite)
        isOpen.store(true)
        return suite
    }

    /// Opens the suite; nil if that fails, which is reported once for each reason.
    func openIfPossible() -> OpenSuite? {
        if let current { return current }
        do {
            return try openUnlessReadOnly()
        } catch {
            DefaultsDiagnostics.reportOnce(.openFailed, error)
            return nil
        }
    }

    /// Opens the suite; nil if there is none and none can be created because nothing can be written there.
    ///
    /// It is empty then, for those who read. This is reported once.
    func openUnlessReadOnly() throws(DefaultsError) -> OpenSuite? {
        do {
            return try open()
        } catch  where error.code == .storeReadOnly {
            DefaultsDiagnostics.reportOnce(.openFailed, error)
            return nil
        }
    }

    /// Registers defaults for keys that have no stored value, for as long as the process runs.
    func register(_ defaults: [StoreKey: PropertyListValue]) {
        // First: a thread that opens the suite from here on registers them, too.
        registered.withLock { $0.replaceValues(with: defaults) }
        openIfPossible()?.state.register(defaults)
        opening.lock()
        defer { opening.unlock() }
        // Another thread may have opened it in the meantime.
        current?.state.register(defaults)
    }

    /// Calls a handler at each change of the suite, even if it can't be opened yet.
    func observe(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        if let suite = openIfPossible() { return suite.observe(handler) }
        let observation = observersBefore.add(handler) { [self] in
            if !observersBefore.isActive {
                passingOn.exchange(nil)?.cancel()
                // It may have been begun for one that was added in the meantime.
                if let current { passOnChanges(of: current) }
            }
        }
        // Another thread may have opened it in the meantime.
        if let current {
            passOnChanges(of: current)
        }
        return observation
    }

    /// Lets the observers from before the suite was opened hear of its changes, if there are any.
    private func passOnChanges(of suite: OpenSuite) {
        guard observersBefore.isActive else { return }
        let begun = suite.observe { [observersBefore] keys in observersBefore.notify(keys) }
        passingOn.exchange(begun)?.cancel()
        observersBefore.notify(nil)
        // They may have ended in the meantime, and would not have found what has just begun.
        if !observersBefore.isActive {
            begun.cancel()
        }
    }

    /// The default that was registered for a key while the suite could not be opened.
    func registeredValue(for key: StoreKey) -> PropertyListValue? {
        opening.lock()
        defer { opening.unlock() }
        return current.map { $0.state.registeredValue(for: key) } ?? registered.withLock { $0[key] }
    }

    var registeredValues: [StoreKey: PropertyListValue] {
        opening.lock()
        defer { opening.unlock() }
        return current?.state.registeredValues ?? registered.withLock { $0 }
    }
}

/// Defers events to `DefaultsDiagnostics` until no lock is held that its handler may need.
final class DeferredEvents: Sendable {
    private let deferred = Locked<[DefaultsDiagnostics.Event]?>([])

    func report(_ event: DefaultsDiagnostics.Event) {
        let isDeferred = deferred.withLock { events in
            events?.append(event)
            return events != nil
        }
        if !isDeferred {
            DefaultsDiagnostics.report(event)
        }
    }

    /// Reports the deferred events; later events are reported immediately.
    func release() {
        for event in deferred.exchange(nil) ?? [] {
            DefaultsDiagnostics.report(event)
        }
    }
}

/// The location of a suite that may not exist yet.
enum SuiteLocation: Sendable {
    /// In the configuration directory, under a name.
    case named(String)
    /// In the configuration directory, under the program's name.
    case program
    case directory(URL)

    /// The suite's directory.
    ///
    /// - Throws: `invalidSuiteName`, or `storeUnavailable` when the home directory or the program's name is unknown.
    func path() throws(DefaultsError) -> String {
        switch self {
        case .named(let name): return try Self.path(named: name)
        case .program: return try Self.path(named: Self.programName())
        case .directory(let url):
            guard url.isFileURL, !url.path.isEmpty else {
                throw .storeUnavailable(at: url.absoluteString, because: "it is not a file URL")
            }
            return Self.standardized(url.absoluteURL.path)
        }
    }

    private static func path(named name: String) throws(DefaultsError) -> String {
        try check(name)
        return try configurationHome() + "/" + name + ".defaults"
    }

    private static func programName() throws(DefaultsError) -> String {
        #if os(Linux)
        // Foundation's name of the process is the path's last part, even if the file was deleted or is the dynamic
        // loader.
        guard let name = knownProgramName else { throw .programUnknown }
        return name
        #else
        return ProcessInfo.processInfo.processName
        #endif
    }

    #if os(Linux)
    /// As it was first asked for: the file may be renamed later.
    private static let knownProgramName = ProgramEnvironment.programName
    #endif

    /// The suite's name; nil if it has none, or none that can be used.
    var name: String? {
        switch self {
        case .named(let name): (try? Self.check(name)) == nil ? nil : name
        case .program: try? Self.programName()
        case .directory: nil
        }
    }

    /// The property list in which Foundation keeps the suite with the same name.
    func foundationPropertyList() throws(DefaultsError) -> URL? {
        let name: String
        switch self {
        case .named(let given): name = given
        case .program: name = try Self.programName()
        case .directory: return nil
        }
        #if canImport(Darwin)
        let directory = try Self.userDirectory(.libraryDirectory) + "/Preferences"
        #else
        let directory = try Self.configurationHome()
        #endif
        return URL(fileURLWithPath: directory + "/" + name + ".plist", isDirectory: false)
    }

    /// A path without empty components, "." and "..", if it is absolute.
    ///
    /// Foundation's `standardizedFileURL` also removes "/private" while there is a file at the rest of the path, and so
    /// leads to another directory on systems where the two differ.
    private static func standardized(_ path: String) -> String {
        // A URL without a base, or one that was made in a working directory that is gone; the engine refuses the
        // latter.
        guard path.hasPrefix("/") else { return path }
        var components: [String] = []
        for component in path.split(separator: "/").map(String.init) where component != "." {
            if component == ".." { _ = components.popLast() } else { components.append(component) }
        }
        return "/" + components.joined(separator: "/")
    }

    private static func check(_ name: String) throws(DefaultsError) {
        let utf8 = name.utf8
        guard (1...200).contains(utf8.count), name != ".", name != "..", !utf8.contains(0),
            !utf8.contains(UInt8(ascii: "/"))
        else {
            throw .invalidSuiteName(name)
        }
    }

    #if canImport(Darwin)
    private static func userDirectory(_ directory: FileManager.SearchPathDirectory) throws(DefaultsError) -> String {
        guard let url = FileManager.default.urls(for: directory, in: .userDomainMask).first else {
            throw .storeUnavailable(at: "the user's library", because: "the system names no such directory")
        }
        return url.path
    }
    #endif

    private var isGiven: Bool { if case .directory = self { true } else { false } }

    /// Reports, once, a configuration directory that isn't used because the variable for it isn't an absolute path.
    func reportIgnoredVariable() {
        #if !canImport(Darwin)
        guard !isGiven, let value = ProgramEnvironment.variable(Self.variable), !value.isEmpty, !value.hasPrefix("/")
        else {
            return
        }
        DefaultsDiagnostics.reportOnce(.variableIgnored, .ignoredVariable(value))
        #endif
    }

    /// What can be done about an error besides its own advice: a sentence after a space, or nothing.
    func advice(about error: JournalError, in path: String) -> String {
        #if canImport(Darwin)
        return ""
        #else
        // What is in the suite's directory is no matter of where that is.
        guard !isGiven, error.isUnusablePlace, path == error.path || path.hasPrefix(error.path + "/") else { return "" }
        return " Or set the variable \(Self.variable) to a folder that this user may write."
        #endif
    }

    #if !canImport(Darwin)
    private static let variable = "XDG_CONFIG_HOME"
    #endif

    /// `$XDG_CONFIG_HOME`, otherwise `~/.config`, according to the XDG Base Directory Specification; on Apple platforms
    /// the user's Application Support directory, and on tvOS, where apps can write nothing else, the one of caches.
    private static func configurationHome() throws(DefaultsError) -> String {
        #if os(tvOS)
        return try userDirectory(.cachesDirectory)
        #elseif canImport(Darwin)
        return try userDirectory(.applicationSupportDirectory)
        #else
        if let directory = directory(inEnvironment: variable) { return directory }
        guard let home = directory(inEnvironment: "HOME") ?? systemHome else { throw .noHomeDirectory }
        return home + "/.config"
        #endif
    }

    #if !canImport(Darwin)
    private static var systemHome: String? {
        #if os(Linux)
        // Foundation makes up a directory for a user that the system doesn't know.
        return ProgramEnvironment.homeDirectory.flatMap(absolute)
        #else
        return absolute(FileManager.default.homeDirectoryForCurrentUser.path)
        #endif
    }

    /// The directory that a variable names; nil without one, and for a relative path, which the specification calls
    /// invalid.
    private static func directory(inEnvironment name: String) -> String? {
        ProgramEnvironment.variable(name).flatMap(absolute)
    }

    /// An absolute path without slashes at its end, so that of the root nothing is left; nil for a relative one.
    private static func absolute(_ path: String) -> String? {
        guard path.hasPrefix("/") else { return nil }
        var path = path
        while path.hasSuffix("/") { path.removeLast() }
        return path
    }
    #endif
}

/// Values from the command line: `-key value`, as in `UserDefaults`'s argument domain.
struct LaunchArguments: Sendable {
    let entries: [StoreKey: PropertyListValue]

    /// Parses a command line, which begins with the program's name.
    ///
    /// A key is an argument that begins with one hyphen. Its value is the next argument. Property lists in a textual
    /// form (`(a, b)`, `{ a = 1; }`, XML) become arrays and dictionaries. Everything else is a string, which the typed
    /// getters convert. Arguments with two hyphens and arguments without a key are left to the program.
    init(_ commandLine: [String]) {
        var values: [StoreKey: PropertyListValue] = [:]
        var index = 1
        while index < commandLine.count - 1 {
            let (argument, value) = (commandLine[index], commandLine[index + 1])
            index += 1
            guard Self.isKey(argument), !argument.hasPrefix("--"), !Self.isKey(value),
                let key = try? StoreKey(String(argument.dropFirst()))
            else { continue }
            values[key] = Self.parse(value)
            index += 1
        }
        entries = values
    }

    /// Whether an argument begins with a hyphen and isn't a negative number; "-inf" and "-nan" are keys.
    private static func isKey(_ argument: String) -> Bool {
        guard argument.hasPrefix("-") else { return false }
        let bytes = Array(argument.utf8)
        return bytes.count < 2 || bytes[1] > UInt8(ascii: "9") || Double(argument) == nil
    }

    static func parse(_ text: String) -> PropertyListValue {
        if let first = text.first, "({<".contains(first),
            let value = PropertyListFile.value(of: Data(utf8Of: text))
        {
            return value
        }
        return .string(text)
    }
}
