internal import DefaultJournal
#if canImport(os)
internal import os
#endif

/// Receives the errors that non-throwing calls swallow.
///
/// Calls such as ``DefaultStorable/write(to:withKey:)`` and ``DefaultStorable/read(from:forKey:)`` throw nothing. They
/// report errors here as an ``Event``. The built-in handler writes each event of ``Event/Severity/error`` as one line
/// to standard error, and once how to replace it; on Apple platforms it writes warnings as well, to the unified log. A
/// program sets its own handler once, at launch, and gets all events:
///
/// ```swift
/// DefaultsDiagnostics.handler = { event in
///     print("Settings:", event)
/// }
/// ```
///
/// The handler is called on the thread of the call that failed, before that call returns, possibly from several threads
/// at once. The handler may use stores itself. Events that it causes go to the built-in handler, so it can't call
/// itself. Settings that can't be read are reported once for each content and reason, however often they are read, and
/// again if they could be read in between.
public enum DefaultsDiagnostics: Sendable {
    /// A function that receives events.
    public typealias Handler = @Sendable (Event) -> Void

    /// An error that a non-throwing call swallowed.
    public struct Event: Sendable, CustomStringConvertible {
        /// The kind of event.
        public let kind: Kind
        /// The error that was swallowed, with the code, key, type and store.
        public let error: DefaultsError
        /// How the returned value differs from the stored one, for events of the kind ``Kind/filledIn``; otherwise nil.
        public let report: LoadReport?

        init(kind: Kind, error: DefaultsError, report: LoadReport? = nil) {
            self.kind = kind
            self.error = error
            self.report = report
        }

        /// How serious the event is.
        ///
        /// A value that only lacks properties (``Kind/filledIn``) is ``Severity/info``, and so is
        /// ``Kind/sourceRestored``. What could not be read, stored, removed or imported is ``Severity/error``, and so
        /// is a default value that can't be encoded. Everything else is ``Severity/warning``.
        public var severity: Severity {
            if let report, report.unusable.isEmpty { return .info }
            if kind == .sourceRestored { return .info }
            return Self.errors.contains(kind) ? .error : .warning
        }

        private static let errors: [Kind] = [
            .writeFailed, .readFailed, .removalFailed, .openFailed, .storeDamaged, .importFailed, .defaultUnusable,
            .sourceUnusable,
        ]

        /// The event as one line, without stored values.
        public var description: String { "\(kind): \(error)" }
    }

    /// The current handler; nil for the built-in one.
    ///
    /// Applies to the whole process, and may be read and set from any thread. A child made with `fork` begins without
    /// one, since a handler may need locks that its parent's threads held.
    public static var handler: Handler? {
        get { installed.withLock { $0 }?.handle }
        set {
            let handler = newValue.map { InstalledHandler($0) }
            installed.withLock { $0 = handler }
        }
    }

    private static let installed = PerProcess { Locked<InstalledHandler?>(nil) }

    /// Takes precedence over the process's handler within a task.
    ///
    /// Isolates parallel tests, and prevents a handler from calling itself.
    @TaskLocal package static var taskHandler: InstalledHandler?

    /// Wraps a handler, because generic code must not hold a bare function here (Swift 6.3).
    ///
    /// A lock's closure that gets one `inout` wraps it once more at each call, until calling it overflows the stack.
    /// Optimized code crashes when it sets a task local of function type.
    package struct InstalledHandler: Sendable {
        package let handle: Handler

        package init(_ handle: @escaping Handler) { self.handle = handle }
    }
}

extension DefaultsDiagnostics.Event {
    /// How serious an event is, in ascending order.
    public enum Severity: Comparable, Sendable {
        /// Nothing was lost and nothing needs to be done: a stored value lacked properties, as after an update of the
        /// app.
        case info
        /// Something needs attention, but nothing failed: a value was quarantined, or two types share an identifier.
        case warning
        /// Something could not be read, stored or imported.
        case error
    }

    /// A kind of event; later versions may add kinds.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name, stable across versions.
        public let name: String

        /// Creates a kind, for third-party stores.
        ///
        /// - Parameter name: A few words.
        public init(_ name: String) { self.name = name }

        /// A non-throwing write stored nothing, or settings without their mandatory properties.
        public static let writeFailed = Kind("write failed")
        /// A non-throwing read found a value that it could not return.
        public static let readFailed = Kind("read failed")
        /// A non-throwing removal removed nothing, or, of all values, only those that aren't mandatory.
        public static let removalFailed = Kind("removal failed")
        /// A ``PersistentStorage`` could not open its suite, or a ``FileDefaults`` could not open or create its own
        /// for a call that doesn't throw.
        ///
        /// The latter is reported once for each suite and reason.
        public static let openFailed = Kind("open failed")
        /// Two different types use the same identifier in one store; reported once.
        public static let identifierConflict = Kind("identifier conflict")

        /// Part of a suite's file could not be used.
        public static let storeDamaged = Kind("store damaged")
        /// A suite was deleted or replaced while it was open.
        public static let storeReplaced = Kind("store replaced")
        /// All users may write to a suite's directory, and so may replace what is stored there.
        public static let storeExposed = Kind("store exposed")
        /// An environment variable, `XDG_CONFIG_HOME` or `XDG_STATE_HOME`, isn't an absolute path and was ignored;
        /// reported once per process.
        ///
        /// The XDG Base Directory Specification asks for that. A tilde that no shell has expanded is such a path too.
        public static let variableIgnored = Kind("variable ignored")
        /// A call has been waiting for a second for another process, which has a suite's lock; the process is named
        /// where the system names it.
        public static let storeBusy = Kind("store busy")
        /// Flushing or compacting a suite in the background failed; it will be tried again.
        ///
        /// Or its file system can't put the name of a new suite on the disk, which is reported once.
        public static let maintenanceFailed = Kind("maintenance failed")
        /// The system refused to watch a suite for changes by other processes; reported once per suite and process.
        ///
        /// The library checks for such changes twice a second instead, if it can start a thread.
        public static let watchFailed = Kind("watch failed")
        /// A new suite could not import the values that Foundation stored under its name.
        public static let importFailed = Kind("import failed")

        /// A stored value was read that lacks properties, or has some that can't be used.
        ///
        /// Reported once per store, key, type, reason and process, for however many contents, with a
        /// ``DefaultsDiagnostics/Event/report``. If properties are missing and nothing is unusable, the
        /// ``DefaultsDiagnostics/Event/severity`` is ``Severity/info``.
        public static let filledIn = Kind("read with differences")
        /// A type's default value can't be encoded, so stored values that lack properties can't be filled in from it.
        ///
        /// Reported once per type and process, when a stored value has to be filled in. The error names the type, and
        /// has the code ``DefaultsError/Code/encodingFailed``.
        public static let defaultUnusable = Kind("default unusable")
        /// One of a type's ``DefaultProviding/renamedProperties`` ends at a name that no property has, so it was
        /// ignored: otherwise it would take the value away from the property with the old name.
        ///
        /// Usually it is stated the wrong way round: the old name comes first. Reported once per process, when a value
        /// with the old name is read. The error names the type, and has the code ``DefaultsError/Code/valueMissing``.
        public static let renameIgnored = Kind("rename ignored")
        /// A property was stored under a name that the type's decoder doesn't turn back, so that it reads as nil.
        ///
        /// Foundation's strategies for snake case do that with names such as "imageURL": give the property a coding key
        /// whose name survives, such as "imageUrl". Reported once per process, type and names; the error has the code
        /// ``DefaultsError/Code/encodingFailed``.
        public static let nameUnreadable = Kind("name unreadable")
        /// A value that could not be used was quarantined and replaced; see
        /// ``DefaultStorable/quarantined(in:forKey:)``.
        ///
        /// Reported at each write that does so. If only a part of the value can't be used, once per store, key, type,
        /// reason and process, so that two releases which alternate don't report at each write.
        public static let quarantined = Kind("quarantined")
        /// A quarantined copy was removed to make room for another one.
        ///
        /// The oldest and the newest two of a key are kept, those beside the newest while they have at most 4 MiB
        /// together; see ``DefaultStorable/quarantined(in:forKey:)``.
        ///
        /// The error has the code ``DefaultsError/Code/quarantineFailed``.
        public static let quarantineFull = Kind("quarantine full")

        /// A source can't be used, or a part of what it has for a settings type.
        ///
        /// For a file, reported once when it becomes so, with the line and the column of a fault in JSON. A fallback or
        /// an override keeps its last good values; while it is a mandatory source, nothing can be written. For a part,
        /// reported once per process and reason; the part is left out.
        public static let sourceUnusable = Kind("source unusable")
        /// A source that could not be used can be used again.
        public static let sourceRestored = Kind("source restored")

        /// The kind's name.
        public var description: String { name }
    }
}

extension DefaultsDiagnostics {
    /// Runs the body of a non-throwing call and reports any error that it throws.
    static func reporting<Value>(
        _ kind: Event.Kind,
        _ body: () throws(DefaultsError) -> Value
    ) -> Value? {
        do {
            return try body()
        } catch {
            report(kind, error)
            return nil
        }
    }

    /// Reports an error that a non-throwing call swallows, for third-party stores as well.
    ///
    /// The handler is called on this thread, before the call returns, so the caller must not hold a lock that the
    /// handler may need. For ``Event/Kind/readFailed``, each value that can't be used is reported once for each reason
    /// and, for the library's own errors, content, until it can be read again.
    ///
    /// - Parameters:
    ///   - kind: The kind of event.
    ///   - error: The error.
    public static func report(_ kind: Event.Kind, _ error: DefaultsError) {
        if kind != .readFailed || isNew(error) {
            report(Event(kind: kind, error: error))
        }
    }

    /// Reports an error once for each subject and reason.
    static func reportOnce(_ kind: Event.Kind, _ error: DefaultsError) {
        if reportedReads.withLock({ $0.insert(error.context, reason: error.description.hashValue) }) {
            report(Event(kind: kind, error: error))
        }
    }

    static func report(_ event: Event) {
        let handler = taskHandler?.handle ?? handler ?? builtInHandler
        $taskHandler.withValue(InstalledHandler(builtInHandler)) { handler(event) }
    }

    /// Writes events to the system's log, or errors to the standard error stream, where no handler is installed.
    private static let builtInHandler: Handler = { event in
        #if canImport(os)
        guard event.severity != .info else { return }
        Logger(subsystem: "Default", category: "diagnostics").error("\(event.description, privacy: .public)")
        #else
        // What logs there may expect lines of another form, so it gets no more than it must.
        guard event.severity == .error else { return }
        ProgramEnvironment.writeError("Default: \(event)\n")
        if handler == nil, !hasExplained.exchange(true) { ProgramEnvironment.writeError(explanation) }
        #endif
    }

    #if !canImport(os)
    private static let hasExplained = Atomic<Bool>(false)
    private static let explanation = """
        Default: Set DefaultsDiagnostics.handler when the program starts to log this elsewhere, and warnings too. This \
        line comes once.

        """
    #endif

    /// Reports a value that was filled in, once per key and message; the message is made only then.
    static func report(_ report: LoadReport, _ context: @autoclosure () -> ErrorContext) {
        guard !report.isEmpty else { return }
        let (context, digest) = (context(), report.messageDigest)
        if reportedReads.withLock({ $0.insert(context, reason: digest) }) {
            self.report(Event(kind: .filledIn, error: .filledIn(report, context), report: report))
        }
    }

    /// Reports a type whose default value is missing or can't be encoded, once per process.
    static func reportDefault(of type: Any.Type, _ error: DefaultsError) {
        if reportedReads.withLock({ $0.insert(ErrorContext(type: type), reason: 0) }) {
            report(.defaultUnusable, error)
        }
    }

    /// Reports a rename that ends at a name that no property has, once per process.
    static func reportRenaming(from old: [String], to new: [String], of type: Any.Type) {
        let error = DefaultsError.renameToNothing(from: old, to: new, type: type)
        if reportedReads.withLock({ $0.insert(ErrorContext(type: type), reason: error.description.hashValue) }) {
            report(.init(kind: .renameIgnored, error: error))
        }
    }

    /// Reports properties that a coder stores under names that it doesn't look for, once per process.
    static func reportUnreadableNames(_ paths: [[String]], of type: Any.Type) {
        let error = DefaultsError.unreadableNames(paths, type: type)
        if reportedReads.withLock({ $0.insert(ErrorContext(type: type), reason: error.description.hashValue) }) {
            report(.init(kind: .nameUnreadable, error: error))
        }
    }

    /// Reports what can't be used of a source, once for each type and reason.
    static func report(_ parts: [LoadReport.UnusableValue], of origin: DefaultsOrigin, _ context: ErrorContext) {
        guard !parts.isEmpty else { return }
        reportOnce(.sourceUnusable, .sourceUnusable(parts, of: origin, context))
    }

    private static let reportedReads = PerProcess { Locked(ReportedReads()) }

    /// The ``ReportedReads/unreadableKeys``: 0 in nearly all programs, where ``noteReadable(_:_:)`` costs one load.
    private static let unreadableKeys = Atomic<UInt64>(0)

    /// Returns false for an unreadable stored value that has already been reported in this process, unless it was read
    /// since.
    private static func isNew(_ error: DefaultsError) -> Bool {
        guard error.isAboutStoredValue else { return true }
        return reportedReads.withLock { reports in
            let reason = "\(error.content ?? 0) \(error.description)".hashValue
            defer { unreadableKeys.store(reports.unreadableKeys) }
            return reports.insert(error.context, reason: reason, isUnreadable: true)
        }
    }

    /// Notes that a value can be read, or that there is none.
    ///
    /// If it breaks in the same way again, that is reported again. Reads call this when they have decoded something,
    /// and not when they return a value that was decoded before.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - context: The key, the type and the store.
    static func noteReadable(_ key: String, _ context: @autoclosure () -> ErrorContext) {
        let unreadable = unreadableKeys.load()
        guard unreadable != 0, unreadable & ReportedReads.bit(of: key) != 0 else { return }
        let context = context()
        reportedReads.withLock { reports in
            reports.removeUnreadable(context)
            unreadableKeys.store(reports.unreadableKeys)
        }
    }
}

extension DefaultsError {
    /// Whether a read failed because of the stored value, and not because of the store or the key.
    var isAboutStoredValue: Bool {
        [.undecodable, .typeMismatch, .newerVersion, .migrationFailed].contains(code)
    }
}
