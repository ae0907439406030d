internal import DefaultJournal
internal import Foundation

/// Where the errors that non-throwing calls swallow arrive.
///
/// ``DefaultStorable/write(to:withKey:)``, ``DefaultStorable/read(from:forKey:)`` and their like throw nothing; what went
/// wrong in them is reported here as an ``Event``. The built-in handler writes each event as one line to standard
/// error (on Apple's systems, to the unified log). A program puts its own in once, at start:
///
/// ```swift
/// DefaultsDiagnostics.handler = { event in
///     print("Settings:", event)
/// }
/// ```
///
/// The handler is called on the thread of the call that failed, before that call returns, possibly from several
/// threads at once. It may use stores itself: events that it causes go to the built-in handler, so it can't call
/// itself. Settings that can't be read are reported once per key and process, however often they are read.
public enum DefaultsDiagnostics: Sendable {
    /// What receives events.
    public typealias Handler = @Sendable (Event) -> Void

    /// Something that a non-throwing call swallowed.
    public struct Event: Sendable, CustomStringConvertible {
        /// What kind of event this is.
        public let kind: Kind
        /// What was swallowed, with the code, key, type and store.
        public let error: DefaultsError
        /// What is not as stored in the value that was given back, for events of the kind ``Kind/filledIn``; else nil.
        public let report: LoadReport?

        init(kind: Kind, error: DefaultsError, report: LoadReport? = nil) {
            self.kind = kind
            self.error = error
            self.report = report
        }

        /// One line that says it all, without stored values.
        public var description: String { "\(kind): \(error)" }
    }

    /// The handler in use; set nil to get the built-in one back.
    ///
    /// Holds for the whole process, and may be read and set from any thread.
    public static var handler: Handler? {
        get { installed.withLock { $0 } }
        set { installed.withLock { $0 = newValue } }
    }

    private static let installed = Guarded<Handler?>(nil)

    /// Takes precedence over the process's handler within a task: separates parallel tests, and handlers from themselves.
    @TaskLocal package static var taskHandler: TaskHandler?

    /// A handler in a type of its own: optimized code crashes in setting a task local whose type is a function's (Swift 6.3).
    package struct TaskHandler: Sendable {
        package let handle: Handler

        package init(_ handle: @escaping Handler) {
            self.handle = handle
        }
    }
}

extension DefaultsDiagnostics.Event {
    /// A kind of event; an open set, to which later versions add.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name, stable across versions.
        public let name: String

        init(_ name: String) {
            self.name = name
        }

        /// A non-throwing write stored nothing.
        public static let writeFailed = Kind("write failed")
        /// A non-throwing read found something that it could not give back.
        public static let readFailed = Kind("read failed")
        /// A non-throwing removal removed nothing.
        public static let removalFailed = Kind("removal failed")
        /// A ``PersistentStorage`` could not open its suite.
        public static let openFailed = Kind("open failed")
        /// Two different types use one identifier in one store; reported once.
        public static let identifierConflict = Kind("identifier conflict")

        /// Part of a suite's file could not be used.
        public static let storeDamaged = Kind("store damaged")
        /// A suite was deleted or replaced while it was open.
        public static let storeReplaced = Kind("store replaced")
        /// Flushing or compacting a suite in the background failed; it is tried again.
        public static let maintenanceFailed = Kind("maintenance failed")
        /// A new suite could not import what Foundation kept under its name.
        public static let importFailed = Kind("import failed")

        /// A value was read whose stored form lacks properties, or holds some that can't be used.
        ///
        /// Reported once per key, content and process, with a ``DefaultsDiagnostics/Event/report``.
        public static let filledIn = Kind("filled in")
        /// What could not be used was quarantined, and replaced; see ``DefaultStorable/quarantined(in:forKey:)``.
        public static let quarantined = Kind("quarantined")

        /// The kind's name.
        public var description: String { name }
    }
}

extension DefaultsDiagnostics {
    /// Runs what a non-throwing call is made of, and reports what it throws.
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

    /// Reports an error that a non-throwing call swallows; of an unreadable value once.
    static func report(_ kind: Event.Kind, _ error: DefaultsError) {
        if kind != .readFailed || isNew(error) {
            report(Event(kind: kind, error: error))
        }
    }

    static func report(_ event: Event) {
        let handler = taskHandler?.handle ?? handler ?? builtInHandler
        $taskHandler.withValue(TaskHandler(builtInHandler)) { handler(event) }
    }

    /// Reports a value that was filled in, once per process for content with this digest.
    static func report(_ report: LoadReport, error: DefaultsError, content: UInt64) {
        let value = UnreadableValue(store: error.store, key: StoreKey(unchecked: error.key ?? ""), content: content)
        if reportedReads.withLock({ $0.insert(value).inserted }) {
            self.report(Event(kind: .filledIn, error: error, report: report))
        }
    }

    private struct UnreadableValue: Hashable {
        let store: String?
        let key: StoreKey
        var content: UInt64?
    }

    private static let reportedReads = Guarded<Set<UnreadableValue>>([])

    /// Whether this is not an unreadable stored value that has been reported before in this process.
    private static func isNew(_ error: DefaultsError) -> Bool {
        guard [.undecodable, .typeMismatch, .newerVersion, .migrationFailed].contains(error.code) else {
            return true
        }
        let value = UnreadableValue(store: error.store, key: StoreKey(unchecked: error.key ?? ""))
        return reportedReads.withLock { $0.insert(value).inserted }
    }
}
