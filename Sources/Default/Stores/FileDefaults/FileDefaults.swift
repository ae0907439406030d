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
/// - When a mutating call returns, the change survives even if the process is killed at any instant. After ``flush()``, or
///   with ``Durability-swift.enum/everyWrite``, it also survives a loss of power.
/// - Any number of threads and processes may use one suite. A read sees every change whose call has returned, in any
///   process. ``KeyValueStorage/withExclusiveAccess(_:)`` and ``transaction(_:)`` exclude the writers of all processes.
/// - Setting the value that is already stored writes nothing.
/// - A call that throws has changed nothing. Reads wait for no other process, and writes for at most five seconds.
/// - When a file is damaged, only the values in the damaged bytes are lost. The damaged file is backed up, and the damage is
///   reported to ``DefaultsDiagnostics``.
///
/// A suite is a directory, and everything in it belongs to one user. <doc:FileFormat> describes its files.
///
/// ## Suites that can't be written
///
/// A suite is opened for reading if it is on a read-only disk, if this user may not write its directory or files, or, for root,
/// if it belongs to another user. A read returns what is in the journal, and asks the system once, with `stat`, whether the
/// journal has changed. It takes no lock, so it may also see a write whose call hasn't returned yet. Writes, transactions and
/// exclusive access throw ``DefaultsError/Code/storeReadOnly``. Each of them first checks whether the suite has become
/// writable. ``flush()`` does nothing. If the suite is missing and can't be created, reads find nothing.
///
/// After `fork` without `exec`, the child process must not use suites that its parent has opened.
public final class FileDefaults: Sendable {
    /// When a change reaches the disk, and not only the system's memory.
    public enum Durability: Sendable, Hashable {
        /// Within about a second, in the background, and when the program ends normally. A loss of power loses about the last
        /// second.
        ///
        /// A program that returns from `main` or calls `exit` waits for its suites to be flushed, for at most a second in all.
        case background
        /// Before the call returns. This is about a hundred times as slow.
        case everyWrite
    }

    /// When changes made through this object reach the disk.
    public let durability: Durability

    let suite: FileSuite
    let arguments: LaunchArguments

    /// The suite named after the process; launch arguments (`-key value`) override its values, as in `UserDefaults`.
    ///
    /// Waits five seconds for other processes. If it can't be opened (no home directory), reads find only registered defaults and
    /// launch arguments, and writes throw ``DefaultsError/Code/storeUnavailable``, or ``DefaultsError/Code/storeReadOnly`` if it
    /// doesn't exist and can't be created. Each call tries to open it again.
    public static let standard = FileDefaults(
        suite: FileSuite(location: .named(ProcessInfo.processInfo.processName)),
        durability: .background,
        arguments: LaunchArguments(CommandLine.arguments)
    )

    /// Opens the suite with a name, and creates it if it doesn't exist.
    ///
    /// The suite is the directory `<suiteName>.defaults` in `$XDG_CONFIG_HOME`, otherwise in `~/.config`; on Apple platforms
    /// in the user's Application Support directory. On tvOS an app can write nothing but caches, which the system deletes
    /// when it needs room and the app isn't running; the suite is there. If Foundation keeps a property list of that name in
    /// the same directory, or on Apple platforms in `Library/Preferences`, a new suite imports its values once, and leaves
    /// the file unchanged.
    ///
    /// - Parameters:
    ///   - suiteName: One path component: 1 to 200 bytes of UTF-8, no slash, no NUL, not `.` or `..`.
    ///   - durability: When changes reach the disk; within about a second by default.
    ///   - lockTimeout: Seconds that a call waits for another process that writes, before it throws
    ///     ``DefaultsError/Code/storeBusy``. 5 by default; 0 waits for none. Of several objects for one suite in a process, the one
    ///     that opens it first decides. Threads of one process wait for each other without a limit.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidSuiteName``,
    ///   ``DefaultsError/Code/storeUnavailable``, ``DefaultsError/Code/storeBusy`` or ``DefaultsError/Code/newerFormat``.
    ///   Nothing has changed then. A suite that can only be read, or that can't be created where nothing can be written, is not an
    ///   error here.
    public convenience init(
        suiteName: String,
        durability: Durability = .background,
        lockTimeout: TimeInterval = 5
    ) throws(DefaultsError) {
        try self.init(opening: .named(suiteName), durability: durability, lockTimeout: lockTimeout)
    }

    /// Opens the suite in a directory, and creates it and its parent directories if they don't exist.
    ///
    /// The parent directories may be symbolic links; the suite's directory itself may not.
    ///
    /// - Parameters:
    ///   - url: The file URL of the suite's directory. A component ".." removes the one before it, even if that is a symbolic
    ///     link to a directory elsewhere.
    ///   - durability: When changes reach the disk; within about a second by default.
    ///   - lockTimeout: As for ``init(suiteName:durability:lockTimeout:)``.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable``, ``DefaultsError/Code/storeBusy`` or
    ///   ``DefaultsError/Code/newerFormat``. Nothing has changed then. A suite that can only be read, or that can't be created
    ///   where nothing can be written, is not an error here.
    public convenience init(
        url: URL,
        durability: Durability = .background,
        lockTimeout: TimeInterval = 5
    ) throws(DefaultsError) {
        try self.init(opening: .directory(url), durability: durability, lockTimeout: lockTimeout)
    }

    /// Opens the suite in a directory for reading only.
    ///
    /// Nothing is changed, created, repaired or locked, whether or not the suite could be written. Of a damaged journal, reads give
    /// what is intact; the damage is reported to ``DefaultsDiagnostics``. Reads see the changes that others make, in this process
    /// too. Writes, transactions and exclusive access throw ``DefaultsError/Code/storeReadOnly``.
    ///
    /// For programs that show suites to administrators, such as one that checks a damaged suite before it is repaired.
    ///
    /// - Parameter url: The file URL of the suite's directory.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable`` if there is no suite or it can't be read,
    ///   or ``DefaultsError/Code/newerFormat``.
    public convenience init(readingFrom url: URL) throws(DefaultsError) {
        let suite = FileSuite(location: .directory(url), isReadOnly: true)
        _ = try suite.open()
        self.init(suite: suite, durability: .background, arguments: LaunchArguments([]))
    }

    private convenience init(
        opening location: SuiteLocation,
        durability: Durability,
        lockTimeout: TimeInterval
    ) throws(DefaultsError) {
        let suite = FileSuite(location: location, lockTimeout: lockTimeout)
        _ = try suite.openUnlessReadOnly()
        self.init(suite: suite, durability: durability, arguments: LaunchArguments([]))
    }

    init(suite: FileSuite, durability: Durability, arguments: LaunchArguments) {
        self.suite = suite
        self.durability = durability
        self.arguments = arguments
    }

    /// The suite's directory, even if the suite can't be opened.
    ///
    /// - Throws: ``DefaultsError`` when there is no home directory, or the suite's name is invalid.
    public var url: URL {
        get throws(DefaultsError) { URL(fileURLWithPath: try suite.path(), isDirectory: true) }
    }
}
