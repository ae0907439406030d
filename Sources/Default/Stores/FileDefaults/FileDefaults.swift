public import Foundation
internal import DefaultJournal

/// A suite of settings in files of its own, which keeps what was saved: through kills, other processes, and damage.
///
/// It has the vocabulary of `UserDefaults`, and is the standard store wherever Foundation's `UserDefaults` loses data, that is
/// on systems other than Apple's.
///
/// ```swift
/// let suite = try FileDefaults(suiteName: "com.example.player")
/// try suite.set(0.4, forKey: "volume")
/// suite.double(forKey: "volume")
/// ```
///
/// ## What it promises
///
/// - When a call that changes something returns, the change survives the process being killed at any instant. After
///   ``flush()``, or with ``Durability-swift.enum/everyWrite``, it also survives the machine losing power.
/// - Any number of threads and processes may use one suite. A read sees every change whose call has returned, in whatever
///   process; ``KeyValueStorage/withExclusiveAccess(_:)`` and ``transaction(_:)`` exclude the writers of all of them.
/// - Setting what is stored already writes nothing.
/// - A call that throws has changed nothing. Damage costs the values that the damaged bytes belong to; the damaged file is
///   kept aside and the damage reported to ``DefaultsDiagnostics``.
///
/// A suite is a directory, and everything in it belongs to one user. <doc:FileFormat> describes its files.
///
/// A child made by `fork` that goes on without `exec` must not use suites that its parent has opened.
public final class FileDefaults: Sendable {
    /// When a change has reached the disk, rather than only the system's memory.
    public enum Durability: Sendable, Hashable {
        /// Within about a second, in the background: what loses power loses at most the last second.
        case background
        /// Before the call returns; about a hundred times as slow.
        case everyWrite
    }

    /// When changes made through this object reach the disk.
    public let durability: Durability

    let suite: FileSuite
    let arguments: LaunchArguments

    /// The suite named after the process, which launch arguments (`-key value`) override as they do in `UserDefaults`.
    ///
    /// Where it can't be opened (no home directory, a read-only disk) reads find registered defaults and launch arguments
    /// only; writes throw ``DefaultsError/Code/storeUnavailable``, and each of them tries to open it again.
    public static let standard = FileDefaults(
        suite: FileSuite(location: .named(ProcessInfo.processInfo.processName)),
        durability: .background,
        arguments: LaunchArguments(CommandLine.arguments)
    )

    /// Opens the suite of a name, creating it if there is none.
    ///
    /// It is the directory `<suiteName>.defaults` in `$XDG_CONFIG_HOME`, else in `~/.config`; on Apple's systems in the
    /// user's Application Support. Where Foundation has a property list of that name there (`<suiteName>.plist`), a new
    /// suite takes its values over, once, and leaves the file.
    ///
    /// - Parameters:
    ///   - suiteName: One path component: 1 to 200 bytes of UTF-8, no slash, no NUL, not `.` or `..`.
    ///   - durability: When changes reach the disk; within a second by default.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidSuiteName``,
    ///   ``DefaultsError/Code/storeUnavailable`` or ``DefaultsError/Code/newerFormat``; nothing was changed then.
    public convenience init(suiteName: String, durability: Durability = .background) throws(DefaultsError) {
        try self.init(opening: .named(suiteName), durability: durability)
    }

    /// Opens the suite in a directory, creating it, and the directories above it, if they don't exist.
    ///
    /// The directories above it may be links; it itself may not.
    ///
    /// - Parameters:
    ///   - url: The suite's directory, by a file URL.
    ///   - durability: When changes reach the disk; within a second by default.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable`` or
    ///   ``DefaultsError/Code/newerFormat``; nothing was changed then.
    public convenience init(url: URL, durability: Durability = .background) throws(DefaultsError) {
        try self.init(opening: .directory(url), durability: durability)
    }

    private convenience init(opening location: SuiteLocation, durability: Durability) throws(DefaultsError) {
        let suite = FileSuite(location: location)
        _ = try suite.open()
        self.init(suite: suite, durability: durability, arguments: LaunchArguments([]))
    }

    init(suite: FileSuite, durability: Durability, arguments: LaunchArguments) {
        self.suite = suite
        self.durability = durability
        self.arguments = arguments
    }

    /// The suite's directory; where it would be, when it can't be opened.
    ///
    /// - Throws: ``DefaultsError`` when there is no home directory for it, or its name can't be one.
    public var url: URL {
        get throws(DefaultsError) { URL(filePath: try suite.path(), directoryHint: .isDirectory) }
    }
}
