#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
internal import DefaultJournal

/// A suite of settings in its own files, which survives killed processes, concurrent writers and damaged files.
///
/// It has the methods of `UserDefaults`, and is the standard store on Linux, where Foundation's
/// `UserDefaults` loses data.
///
/// ```swift
/// let suite = try FileDefaults(suiteName: "com.example.player")
/// try suite.set(0.4, forKey: "volume")
/// suite.double(forKey: "volume")
/// ```
///
/// ## Guarantees
///
/// - When a mutating call returns, the change survives even if the process is killed at any instant. After ``flush()``,
///   or with ``Durability/everyWrite``, it also survives a loss of power.
/// - Any number of threads and processes may use one suite. A read sees every change whose call has returned, in any
///   process. ``KeyValueStorage/withExclusiveAccess(_:)`` and ``transaction(_:)`` exclude the writers of all processes.
/// - Setting the value that is already stored writes nothing.
/// - A call that throws has changed nothing; only with ``Durability/everyWrite`` a change may be stored that could not
///   be put on the disk. Reads wait for no other process, and writes for at most five seconds.
/// - Each call that opens the suite, or waits for its lock, throws ``DefaultsError/Code/storeBusy`` if that takes too
///   long, and ``DefaultsError/Code/newerFormat`` for a file of a later version, beside the errors that it names.
/// - When a file is damaged, only the values in the damaged bytes are lost. The damaged file is backed up, and the
///   damage is reported to ``DefaultsDiagnostics``.
///
/// A suite is a directory, and everything in it belongs to one user. <doc:FileFormat> describes its files.
///
/// ## Suites that can't be written
///
/// A suite is opened for reading if it is on a read-only disk, if this user may not write its directory or files, for
/// root if it belongs to another user, and for other users if it is root's. Reads work as in any other suite, and see
/// the changes that others make. Writes, transactions and exclusive access throw
/// ``DefaultsError/Code/storeReadOnly``. Each of them first checks whether the suite has become writable. ``flush()``
/// does nothing. If the suite is missing and can't be created, reads find nothing.
///
/// A child made with `fork` that continues without `exec` opens the suite for itself at its first use; see
/// <doc:Durability>.
public final class FileDefaults: Sendable {
    /// When a change reaches the disk, and not only the system's memory.
    public enum Durability: Sendable, Hashable {
        /// Within about a second, in the background, and when the program ends normally. A loss of power loses about
        /// the last second.
        ///
        /// A program that returns from `main` or calls `exit` waits for its suites to be flushed, for at most a second
        /// in all.
        case background
        /// Before the call returns, or the outermost exclusive access around it. This is about a hundred times as slow.
        case everyWrite
    }

    /// When changes made through this object reach the disk.
    let durability: Durability

    private let suites: PerProcess<FileSuite>
    /// The suite of this process.
    var suite: FileSuite { suites.current }
    /// The sources that the suite is read with; nil without any.
    public var sources: DefaultsSources? {
        switch borrowedSources {
        case .some(let sources): sources.object
        case .none: nil
        }
    }

    /// Whether no source says anything now; see ``DefaultsSources/areSilent(in:)``.
    var hasSilentSources: Bool {
        switch borrowedSources {
        case .some(let sources): sources.object.isSilent
        case .none: true
        }
    }

    /// The same, for reads.
    private let borrowedSources: Borrowed<DefaultsSources>?

    /// The suite named after the program; launch arguments (`-key value`) override its values, as in `UserDefaults`.
    ///
    /// The name is that of the program's file. On Linux it is the same after the file was deleted or replaced, and for
    /// a program that is started through the dynamic loader. Without `/proc` it isn't known, and the suite can't be
    /// opened: use ``init(suiteName:in:durability:lockTimeout:mandatory:overrides:fallbacks:)`` there.
    ///
    /// Waits five seconds for other processes. If it can't be opened (no home directory), reads find only registered
    /// defaults and launch arguments, and writes throw ``DefaultsError/Code/storeUnavailable``, or
    /// ``DefaultsError/Code/storeReadOnly`` if it doesn't exist and can't be created. Each call tries to open it again.
    /// Calls that don't throw report it as ``DefaultsDiagnostics/Event/Kind/openFailed``, once for each reason.
    public static let standard = FileDefaults(
        suite: FileSuite(location: .program),
        durability: .background,
        sources: SourcePlaces.system.sources(
            ofSuite: SuiteLocation.program.name,
            arguments: LaunchArguments(CommandLine.arguments)
        )
    )

    /// Opens the suite with a name, and creates it if it doesn't exist.
    ///
    /// The suite is the directory `<suiteName>.defaults` in `$XDG_CONFIG_HOME` if that is an absolute path, otherwise
    /// in `~/.config`; on Apple platforms in the user's Application Support directory. On tvOS an app can write nothing
    /// but caches, which the system deletes when it needs room and the app isn't running; the suite is there. If
    /// Foundation keeps a property list of that name in the same directory, or on Apple platforms in
    /// `Library/Preferences`, a new suite imports its values once, and leaves the file unchanged.
    ///
    /// - Parameters:
    ///   - suiteName: One path component: 1 to 200 bytes of UTF-8, no slash, no NUL, not `.` or `..`.
    ///   - place: What the suite is for, which decides where it is: settings by default.
    ///   - durability: When changes reach the disk; within about a second by default.
    ///   - lockTimeout: Seconds that a call waits for another process that writes, before it throws
    ///     ``DefaultsError/Code/storeBusy``. 5 by default; 0 waits for none. Time in which this process stands still,
    ///     with its machine or its container, doesn't count. Of several objects for one suite in a process, the one
    ///     that opens it first decides. Threads of one process wait for each other without a limit.
    ///   - mandatory: Sources whose values can't be changed, before those of the suite's name; none by default.
    ///   - overrides: Sources above what is stored, such as the environment; none by default.
    ///   - fallbacks: Sources that count while nothing is stored, before those of the suite's name; none by default.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidSuiteName``,
    ///   ``DefaultsError/Code/storeUnavailable``, ``DefaultsError/Code/storeBusy`` or
    ///   ``DefaultsError/Code/newerFormat``. Nothing has changed then. A suite that can only be read, or that can't be
    ///   created where nothing can be written, is not an error here.
    public convenience init(
        suiteName: String,
        in place: Place = .configuration,
        durability: Durability = .background,
        lockTimeout: TimeInterval = 5,
        mandatory: [any DefaultsSource] = [],
        overrides: [any DefaultsSource] = [],
        fallbacks: [any DefaultsSource] = []
    ) throws(DefaultsError) {
        let location = place.location(ofSuite: suiteName)
        let sources = SourcePlaces.system.sources(
            ofSuite: location.name,
            mandatory: mandatory,
            overrides: overrides,
            fallbacks: fallbacks
        )
        try self.init(opening: location, durability: durability, lockTimeout: lockTimeout, sources: sources)
    }

    /// What a suite is for.
    public enum Place: Sendable {
        /// Settings, which people choose: in `$XDG_CONFIG_HOME`, else `~/.config`. The suite has the sources of its
        /// name.
        case configuration
        /// What a program remembers, such as the window that was open last: in `$STATE_DIRECTORY`, which systemd sets
        /// for a service with `StateDirectory=`, else in `$XDG_STATE_HOME`, else in `~/.local/state`. Of several
        /// directories in `$STATE_DIRECTORY` the first counts. On Apple platforms it is where settings are. The suite
        /// has only the sources that it is given, and imports nothing.
        case state

        func location(ofSuite name: String) -> SuiteLocation { self == .state ? .state(name) : .named(name) }
    }

    /// Opens the suite in a directory, and creates it and its parent directories if they don't exist.
    ///
    /// The parent directories may be symbolic links, and the suite's directory may be one that no other user can lead
    /// elsewhere; see <doc:Durability>.
    ///
    /// - Parameters:
    ///   - url: The file URL of the suite's directory. A component ".." removes the one before it, even if that is a
    ///     symbolic link to a directory elsewhere.
    ///   - durability: When changes reach the disk; within about a second by default.
    ///   - lockTimeout: As for ``init(suiteName:in:durability:lockTimeout:mandatory:overrides:fallbacks:)``.
    ///   - mandatory: Sources whose values can't be changed; none by default.
    ///   - overrides: Sources above what is stored, such as the environment; none by default.
    ///   - fallbacks: Sources that count while nothing is stored; none by default.
    ///   - suiteName: The name of a suite whose sources in `/etc/xdg` and `$XDG_CONFIG_DIRS` are read after those that
    ///     are given, as if the suite had this name; nil, the default, for none.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable``,
    ///   ``DefaultsError/Code/storeBusy`` or ``DefaultsError/Code/newerFormat``; with
    ///   ``DefaultsError/Code/invalidSuiteName`` for a name that no suite can have. Nothing has changed then. A suite
    ///   that can only be read, or that can't be created where nothing can be written, is not an error here.
    public convenience init(
        url: URL,
        durability: Durability = .background,
        lockTimeout: TimeInterval = 5,
        mandatory: [any DefaultsSource] = [],
        overrides: [any DefaultsSource] = [],
        fallbacks: [any DefaultsSource] = [],
        sourcesOf suiteName: String? = nil
    ) throws(DefaultsError) {
        if let suiteName { try SuiteLocation.check(suiteName) }
        let sources = SourcePlaces.system.sources(
            ofSuite: suiteName,
            mandatory: mandatory,
            overrides: overrides,
            fallbacks: fallbacks
        )
        try self.init(opening: .directory(url), durability: durability, lockTimeout: lockTimeout, sources: sources)
    }

    /// Opens the suite in a directory for reading only.
    ///
    /// Nothing is changed, created, repaired or locked, whether or not the suite could be written. Of a damaged
    /// journal, reads give what is intact; the damage is reported to ``DefaultsDiagnostics``. Reads see the changes
    /// that others make, in this process too. Whatever the process may read is read: other users' suites, and what
    /// links lead to. Writes, transactions and exclusive access throw ``DefaultsError/Code/storeReadOnly``.
    ///
    /// For programs that show suites to administrators, such as one that checks a damaged suite before it is repaired.
    ///
    /// - Parameters:
    ///   - url: The file URL of the suite's directory.
    ///   - suiteName: The name of a suite whose sources in `/etc/xdg` and `$XDG_CONFIG_DIRS` are read as well; nil, the
    ///     default, for none.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable`` if there is no suite or it
    ///   can't be read, ``DefaultsError/Code/newerFormat`` or ``DefaultsError/Code/invalidSuiteName``.
    public convenience init(readingFrom url: URL, sourcesOf suiteName: String? = nil) throws(DefaultsError) {
        if let suiteName { try SuiteLocation.check(suiteName) }
        let suite = FileSuite(location: .directory(url), isReadOnly: true)
        _ = try suite.open()
        let sources = suiteName.flatMap { SourcePlaces.system.sources(ofSuite: $0) }
        self.init(suite: suite, durability: .background, sources: sources)
    }

    private convenience init(
        opening location: SuiteLocation,
        durability: Durability,
        lockTimeout: TimeInterval,
        sources: DefaultsSources?
    ) throws(DefaultsError) {
        let suite = FileSuite(location: location, lockTimeout: lockTimeout)
        _ = try suite.openUnlessReadOnly()
        self.init(suite: suite, durability: durability, sources: sources)
    }

    init(suite: FileSuite, durability: Durability, sources: DefaultsSources?) {
        let suites = suite.inEachProcess
        self.suites = suites
        self.durability = durability
        borrowedSources = sources.map { Borrowed($0) }
        sources?.connect { keys in suites.current.noteChange(ofSources: keys) }
    }

    /// The suite's directory, even if the suite can't be opened.
    ///
    /// - Throws: ``DefaultsError`` when the home directory or the program's name is unknown, or the suite's name is
    ///   invalid.
    public var url: URL {
        get throws(DefaultsError) { URL(fileURLWithPath: try suite.path(), isDirectory: true) }
    }
}

extension FileDefaults: DefaultsStore {
    /// The value for a key: that of a source above what is stored, otherwise the stored value, otherwise that of a
    /// fallback, otherwise the registered one.
    public func storedValue(forKey key: String) -> PropertyListValue? {
        switch borrowedSources {
        case .some(let sources):
            return sources.object.value(
                forKey: key,
                own: { ownValue(forKey: key) },
                registered: { registeredValue(forKey: key) }
            )
        case .none:
            return ownValue(forKey: key) ?? registeredValue(forKey: key)
        }
    }

    /// Stores a value under a key, or removes the stored value.
    ///
    /// Inside a transaction of this thread, the change is stored when the transaction ends.
    ///
    /// - Parameters:
    ///   - value: The value, at most 64 MiB in its binary form; nil removes.
    ///   - key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey``,
    ///   ``DefaultsError/Code/unsupportedValue``, ``DefaultsError/Code/valueTooLarge``,
    ///   ``DefaultsError/Code/storeUnavailable``,
    ///   ``DefaultsError/Code/storeReadOnly``, ``DefaultsError/Code/storeFailed`` or
    ///   ``DefaultsError/Code/mandatory``. Nothing has changed then.
    public func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws(DefaultsError) {
        let storeKey = try StoreKey(key)
        try value?.checkDepth(forKey: key, in: self)
        try checkWritable(key)
        if let value, try !isInTransaction() {
            _ = try write(value, forKey: key)
        } else {
            try withSuite { suite throws(DefaultsError) in
                // Also of what is stored but could not be put on the disk.
                defer { suite.notifyChanges() }
                try wrappingErrors(forKey: key) { () throws(JournalError) in
                    try suite.store(value, for: storeKey, durability: durability)
                }
            }
        }
    }

    /// Whether this thread has begun a transaction of the suite, also through another object.
    ///
    /// Opens the suite if it isn't open.
    private func isInTransaction() throws(DefaultsError) -> Bool {
        try withSuite { (suite: OpenSuite) throws(DefaultsError) in suite.isInTransaction }
    }

    // Inlined for the reason that `Journal.acquire` gives.

    /// Stores a value under a valid key; not in a transaction.
    ///
    /// - Returns: Whether it is stored; see ``OpenSuite/set(_:durability:ifNoted:)``.
    @inline(__always)
    private func write(
        _ value: PropertyListValue,
        forKey key: String,
        ifNoted note: UInt8 = 0
    ) throws(DefaultsError) -> Bool {
        try EntryBytes.of(key, value) { entry in
            Result { () throws(DefaultsError) in try write(entry, ifNoted: note) }
        }
        .get()
    }

    /// The same, with closures that capture nothing but addresses: each copy of a value costs two changes of a count
    /// that all threads see.
    @inline(__always)
    private func write(_ entry: EntryBytes, ifNoted note: UInt8) throws(DefaultsError) -> Bool {
        try withSuite { suite throws(DefaultsError) in
            // Also of what is stored but could not be put on the disk.
            defer { suite.notifyChanges() }
            do throws(JournalError) {
                return try suite.set(entry, durability: durability, ifNoted: note)
            } catch {
                throw .failing(error, key: entry.storeKey.string, in: storeDescription)
            }
        }
    }

    /// Calls a body with the suite of this process, which is opened first if it isn't open.
    @inline(__always)
    private func withSuite<Result>(
        _ body: (OpenSuite) throws(DefaultsError) -> Result
    ) throws(DefaultsError) -> Result {
        try suites.withCurrent { current throws(DefaultsError) in try current.state.withSuite(body) }
    }

    /// Throws if a source makes a key's value mandatory; see ``DefaultsSources/checkWritable(_:in:)``.
    private func checkWritable(_ key: String) throws(DefaultsError) {
        switch borrowedSources {
        case .some(let sources): try sources.object.checkWritable(key, in: self)
        case .none: break
        }
    }

    /// Changes a value in one step: no other thread or process changes the suite from its look-up to its storage.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - body: Changes the stored value, which is nil when there is none; nil removes it. It runs once.
    /// - Returns: What the body returns.
    /// - Throws: Any error that the body throws, and the errors of ``setStoredValue(_:forKey:)``. The value has not
    ///   changed then.
    public func updateStoredValue<Result>(
        forKey key: String,
        _ body: (inout PropertyListValue?) throws -> Result
    ) throws -> Result {
        let storeKey = try StoreKey(key)
        // Before other processes wait: a source may be on a slow disk.
        try checkWritable(key)
        let suite = try suite.open()
        return try withExclusiveAccess {
            var value = suite.value(for: storeKey)
            let result = try body(&value)
            try value?.checkDepth(forKey: key, in: self)
            // In the suite from which the value is: a child that was forked in the body has another one.
            try wrappingErrors(forKey: key) { () throws(JournalError) in
                try suite.store(value, for: storeKey, durability: durability)
            }
            return result
        }
    }

    /// Stores data in place of a value that has a note, which the data gets as well.
    ///
    /// - Returns: False if there is no such value, or in a transaction. Then nothing has changed.
    func replace(with data: Data, forKey key: String, ifNoted note: UInt8) throws(DefaultsError) -> Bool {
        guard note != 0, suite.current != nil, try !isInTransaction() else { return false }
        try checkWritable(key)
        return try write(.data(data), forKey: key, ifNoted: note)
    }

    /// Gives data a note, if it is what is stored; see ``EntryTable/Entry/note``.
    func note(_ note: UInt8, _ data: Data, forKey key: String) {
        guard note != 0 else { return }
        suite.current?.note(note, data, for: StoreKey(unchecked: key))
    }

    /// The keys that have a stored value; keys with only a launch argument or a registered default are not included.
    public func storedKeys() -> [String] { suite.openIfPossible()?.keys ?? [] }

    /// Flushes all previous writes to the disk: when the call returns, they survive a loss of power.
    ///
    /// In a suite that can only be read there is nothing to flush, and the call does nothing.
    ///
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable`` or
    ///   ``DefaultsError/Code/storeFailed``.
    public func flush() throws(DefaultsError) {
        guard let suite = try suite.openUnlessReadOnly() else { return }
        try wrappingErrors { () throws(JournalError) in try suite.journal.synchronize() }
    }

    /// Prevents all other threads and processes from changing the suite, until the matching ``endExclusiveAccess()``.
    ///
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable``,
    ///   ``DefaultsError/Code/storeReadOnly`` or ``DefaultsError/Code/storeFailed``. Exclusive access has not begun
    ///   then.
    public func beginExclusiveAccess() throws(DefaultsError) {
        try withSuite { suite throws(DefaultsError) in
            try wrappingErrors { () throws(JournalError) in try suite.journal.beginExclusiveAccess() }
        }
    }

    /// Ends the access that ``beginExclusiveAccess()`` began, on the same thread.
    ///
    /// If values were changed with ``Durability/everyWrite``, the outermost call puts them on the disk. A
    /// failure is reported as ``DefaultsDiagnostics/Event/Kind/writeFailed``;
    /// ``withExclusiveAccess(_:)`` throws it.
    public func endExclusiveAccess() {
        _ = DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in try endAccess() }
    }

    /// Runs a body during which no other thread or process changes the suite.
    ///
    /// Calls nest. If the body changes values with ``Durability/everyWrite``, the outermost call puts them
    /// on the disk when it has ended the access, so that other writers don't wait for the disk.
    ///
    /// - Parameter body: Runs once.
    /// - Returns: What the body returns.
    /// - Throws: Any error that the body throws, and then a failure to reach the disk is reported as
    ///   ``DefaultsDiagnostics/Event/Kind/writeFailed``; ``DefaultsError`` with the code
    ///   ``DefaultsError/Code/storeUnavailable``, ``DefaultsError/Code/storeReadOnly`` or
    ///   ``DefaultsError/Code/storeFailed`` when the body could not run; with the last one also when what it has stored
    ///   could not be put on the disk.
    public func withExclusiveAccess<Result>(_ body: () throws -> Result) throws -> Result {
        try beginExclusiveAccess()
        let result: Result
        do {
            result = try body()
        } catch {
            endExclusiveAccess()
            throw error
        }
        try endAccess()
        return result
    }

    private func endAccess() throws(DefaultsError) {
        // An open suite stays open, so this is the journal on which the access began; unless this is a child that
        // returns from the closure in which its parent forked, and has no access to end.
        try suites.withCurrent { current throws(DefaultsError) in
            try current.state.withCurrent { suite throws(DefaultsError) in
                guard suite.journal.hasExclusiveAccess else { return }
                try wrappingErrors { () throws(JournalError) in try suite.endExclusiveAccess() }
            }
        }
    }

    /// Calls a handler at each change of the suite, made through this object, another object for the suite, or another
    /// process.
    ///
    /// While a suite has observations, its directory is watched. One descriptor and two threads serve all suites of the
    /// process: one waits for changes by other processes, one calls the handlers for them. The end of the last
    /// observation ends both. If the system refuses to watch the directory, the library checks for changes twice a
    /// second until it allows that, and ``DefaultsDiagnostics/Event/Kind/watchFailed`` says why. On Apple platforms
    /// nothing is watched: changes by other processes are noticed at the next read.
    ///
    /// - Parameter handler: Receives the keys that changed, on any thread, when the new values can be read.
    /// - Returns: The observation. It keeps the suite open.
    public func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        let observation = suite.observe(handler)
        return sources?.watching(observation) ?? observation
    }

    /// Opens the suite if it isn't open.
    ///
    /// A suite that can only be read is available, and so is one that doesn't exist where nothing can be written: it is
    /// empty.
    ///
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable``,
    ///   ``DefaultsError/Code/storeBusy`` or ``DefaultsError/Code/newerFormat``.
    public func checkAvailability() throws(DefaultsError) { _ = try suite.openUnlessReadOnly() }

    /// "FileDefaults" with the path of the suite's directory.
    public var storeDescription: String { "FileDefaults(\((try? suite.path()) ?? "unavailable"))" }
}

extension FileDefaults {
    /// A store as a suite, without a cast, which takes hundreds of instructions, and the first in a process a million;
    /// nil if it is another one.
    static func of<Store: DefaultsStore>(_ store: Store) -> FileDefaults? {
        guard Store.self == FileDefaults.self else { return nil }
        return withUnsafePointer(to: store) { store in
            store.withMemoryRebound(to: FileDefaults.self, capacity: 1) { $0.pointee }
        }
    }
}

extension FileDefaults {
    /// The value that is stored for a key, whatever launch arguments and sources say.
    public func ownValue(forKey key: String) -> PropertyListValue? {
        suites.withCurrent { current in
            let key = StoreKey(unchecked: key)
            let value = current.state.withCurrent { $0.value(for: key) }
            return value ?? current.state.openIfPossible()?.value(for: key)
        }
    }

    /// The value that was registered for a key in this process.
    public func registeredValue(forKey key: String) -> PropertyListValue? {
        let key = StoreKey(unchecked: key)
        // An open suite needs no lock of the opening.
        return suite.current.map { $0.state.registeredValue(for: key) } ?? suite.registeredValue(for: key)
    }

    /// All stored values.
    func ownValues() -> [StoreKey: PropertyListValue] { suite.openIfPossible()?.values ?? [:] }
}

extension FileDefaults: UserDefaultsVocabulary {
    /// Registers values for keys of this suite that have no stored value, for as long as the process runs.
    ///
    /// They apply to every object for the suite in this process, and to no other suite.
    ///
    /// - Parameter defaults: Property-list values by their keys. They replace values that were registered earlier for
    ///   the same keys.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey`` or
    ///   ``DefaultsError/Code/unsupportedValue``. Nothing is registered then.
    public func register(defaults: [String: Any]) throws(DefaultsError) {
        suite.register(try defaults.checkedValues(in: self))
        sources?.forget()
    }

    /// A snapshot of all keys and values: those of sources, stored values and registered ones.
    public func dictionaryRepresentation() -> [String: Any] {
        let suite = self.suite.openIfPossible()
        var values = suite?.state.registeredValues ?? self.suite.registeredValues
        sources?.addFallbacks(to: &values)
        values.replaceValues(with: suite?.values ?? [:])
        sources?.addOverrides(to: &values)
        return values.objects
    }
}

extension FileDefaults {
    /// Makes several changes as one unit: they become visible and durable together, in all processes, or not at all.
    ///
    /// Inside the body, reads on its thread see the changes. Other threads and processes see them when the body has
    /// returned. If the body throws or the process ends, the changes are discarded. No other thread or process can
    /// write in between. A nested transaction becomes part of the outer one: when only the inner body throws, only its
    /// changes are discarded.
    ///
    /// ```swift
    /// try suite.transaction {
    ///     try suite.set("example.com", forKey: "host")
    ///     try suite.set(443, forKey: "port")
    /// }
    /// ```
    ///
    /// - Parameter body: Makes the changes: at most 64 MiB for each value, and 1 GiB for all of them.
    /// - Returns: What the body returns.
    /// - Throws: Any error that the body throws; ``DefaultsError`` with the code
    ///   ``DefaultsError/Code/storeUnavailable``, ``DefaultsError/Code/storeReadOnly``,
    ///   ``DefaultsError/Code/valueTooLarge`` or
    ///   ``DefaultsError/Code/storeFailed``. Nothing has changed then.
    public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        let suite = try suite.open()
        return try withExclusiveAccess {
            let outer = suite.state.transaction
            suite.state.transaction = outer ?? [:]
            do {
                let result = try body()
                if outer == nil { try commit(in: suite) }
                return result
            } catch {
                suite.state.transaction = outer
                throw error
            }
        }
    }

    /// Ends the transaction, and writes its changes as one record.
    private func commit(in suite: OpenSuite) throws(DefaultsError) {
        let changes = suite.state.transaction ?? [:]
        suite.state.transaction = nil
        var batch = JournalBatch()
        // A value that is stored already is not a change, and neither is the removal of a key that has none.
        for (key, value) in changes where !suite.journal.entries.holds(value, for: key) {
            batch.set(key, to: value)
        }
        try wrappingErrors { () throws(JournalError) in
            try suite.journal.append(batch)
            if !changes.isEmpty, durability == .everyWrite { try suite.promise() }
        }
    }

    /// Calls a body on an open suite; errors of the engine become errors of this store.
    func wrappingErrors<Result>(
        forKey key: String? = nil,
        _ body: () throws(JournalError) -> Result
    ) throws(DefaultsError) -> Result {
        do {
            return try body()
        } catch {
            throw .failing(error, key: key, in: storeDescription)
        }
    }
}
