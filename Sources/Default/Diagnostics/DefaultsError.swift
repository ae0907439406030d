#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Describes what went wrong with a stored value, where, and why.
///
/// Calls such as ``DefaultStorable/save(to:withKey:)`` throw it. Non-throwing calls such as
/// ``DefaultStorable/write(to:withKey:)`` report it to ``DefaultsDiagnostics`` instead. Match the code:
///
/// ```swift
/// do {
///     let settings = try VisualSettings.load()
/// } catch DefaultsError.Code.undecodable {
///     // The stored bytes are unchanged.
/// } catch {
///     print(error)
/// }
/// ```
///
/// The ``description`` names the key, the type and the store, but never a stored value. The ``underlyingError`` may contain
/// one, so be careful about logging it.
public struct DefaultsError: Error, Sendable {
    /// The kind of error.
    public var code: Code { contents.code }
    /// The key that was read or written; nil when the error is not about a single key.
    public var key: String? { contents.context.key }
    /// The type that was to be stored or read; nil when the call had none.
    public var type: Any.Type? { contents.context.type }
    /// The store's ``DefaultsStore/storeDescription``; nil when the error occurred before a store was used.
    public var store: String? { contents.context.store }
    /// The error that the coder or the store threw; nil when this library detected the fault itself.
    public var underlyingError: (any Error)? { contents.underlyingError }

    var context: ErrorContext { contents.context }
    /// What is wrong with which parts of a value that was filled in, as clauses without stored values.
    var faults: String? { contents.faults }
    /// A digest of the stored value that can't be read; nil for other errors.
    var content: UInt64?

    private let contents: Contents

    // An object, because every function that throws would copy fifteen words otherwise.
    private final class Contents: Sendable {
        let code: Code
        let context: ErrorContext
        let reason: String
        let underlyingError: (any Error)?
        let faults: String?

        init(
            _ code: Code,
            _ context: ErrorContext,
            _ reason: String,
            _ underlyingError: (any Error)?,
            _ faults: String?
        ) {
            self.code = code
            self.context = context
            self.reason = reason
            self.underlyingError = underlyingError
            self.faults = faults
        }
    }

    /// Creates an error, for third-party stores and coders.
    ///
    /// - Parameters:
    ///   - code: The kind of error.
    ///   - reason: A complete sentence for the user: what happened and what to do. No stored values.
    ///   - key: The key that was read or written.
    ///   - type: The type that was to be stored or read.
    ///   - store: The store's ``DefaultsStore/storeDescription``.
    ///   - underlyingError: The error that caused this one.
    public init(
        _ code: Code,
        reason: String,
        key: String? = nil,
        type: Any.Type? = nil,
        store: String? = nil,
        underlyingError: (any Error)? = nil
    ) {
        self.init(code, ErrorContext(key: key, type: type, store: store), reason, causedBy: underlyingError)
    }

    init(
        _ code: Code,
        _ context: ErrorContext,
        _ reason: String,
        causedBy underlyingError: (any Error)? = nil,
        faults: String? = nil
    ) {
        contents = Contents(code, context, reason, underlyingError, faults)
    }
}

/// What a call that failed was about.
struct ErrorContext: Sendable {
    var key: String?
    var type: Any.Type?
    var store: String?

    /// The key and the store, for messages.
    var location: String { "\((key ?? "").debugDescription) in \(store ?? "")" }
    /// The name of the type, for messages.
    var typeName: String { type.map { "\($0)" } ?? "" }
}

extension DefaultsError {
    /// A kind of error; later versions may add codes.
    public struct Code: Hashable, Sendable {
        /// The code's name, stable across versions.
        public let name: String

        /// Creates a code, for third-party stores and coders.
        ///
        /// - Parameter name: Your own name, preferably with a prefix.
        public init(_ name: String) {
            self.name = name
        }

        /// The value could not be encoded; what was stored before is unchanged.
        public static let encodingFailed = Code("encodingFailed")
        /// The stored bytes could not be decoded as the requested type; they are unchanged.
        public static let undecodable = Code("undecodable")
        /// The stored value is not of the requested type; it is unchanged.
        public static let typeMismatch = Code("typeMismatch")
        /// The key is empty, contains a NUL character, or is longer than 65,535 bytes of UTF-8.
        public static let invalidKey = Code("invalidKey")
        /// The object is not a property-list value; nothing was stored.
        public static let unsupportedValue = Code("unsupportedValue")
        /// Nothing is stored, and the type has no ``DefaultStorable/defaultValue`` to start from.
        public static let valueMissing = Code("valueMissing")
        /// `UserDefaults` could not save to the disk; the previous value was restored.
        public static let synchronizationFailed = Code("synchronizationFailed")
        /// A suite can't be opened; the message names its path and the reason.
        public static let storeUnavailable = Code("storeUnavailable")
        /// Another process has kept a suite's lock for longer than this one waits, five seconds by default; nothing was changed.
        public static let storeBusy = Code("storeBusy")
        /// Nothing can be written to a suite; it can be read.
        ///
        /// It is on a read-only disk, the system doesn't permit it, or it is another user's and the program runs as root. Nothing
        /// was stored; the next write tries again.
        public static let storeReadOnly = Code("storeReadOnly")
        /// A suite was written by a later version of this library, in a format unknown to this one; it is unchanged.
        public static let newerFormat = Code("newerFormat")
        /// The name is not a valid suite name.
        public static let invalidSuiteName = Code("invalidSuiteName")
        /// A value is over 64 MiB, or a transaction over 1 GiB; nothing was stored.
        ///
        /// For a `UserDefaults` on Apple platforms: a value has 4 MiB or more, or, on tvOS, all values have 512 KiB or more.
        public static let valueTooLarge = Code("valueTooLarge")
        /// Part of a suite's file could not be used; everything else was kept.
        public static let storeDamaged = Code("storeDamaged")
        /// A suite was deleted or replaced while it was open.
        public static let storeReplaced = Code("storeReplaced")
        /// All users may write to a suite's directory, and so may replace what is stored there; reported when it is opened.
        public static let storeExposed = Code("storeExposed")
        /// One of Foundation's property lists could not be imported; it is unchanged.
        public static let importFailed = Code("importFailed")
        /// A store failed; ``DefaultsError/underlyingError`` is the system's error or the store's own.
        public static let storeFailed = Code("storeFailed")
        /// The result of adding to a string key's number does not fit into a 64-bit integer; nothing was stored.
        public static let arithmeticOverflow = Code("arithmeticOverflow")
        /// Two different types use the same identifier in one store.
        public static let identifierConflict = Code("identifierConflict")
        /// Parts of the stored value were missing or could not be used, and were filled in from the default value; the
        /// stored value is unchanged.
        public static let filledIn = Code("filledIn")
        /// The stored value was written by a newer version of the app; it is unchanged.
        public static let newerVersion = Code("newerVersion")
        /// The stored value is of an earlier type and could not be migrated; it is unchanged.
        public static let migrationFailed = Code("migrationFailed")
        /// The stored value can't be used and could not be quarantined, so it was not replaced.
        public static let quarantineFailed = Code("quarantineFailed")

        /// Matches any ``DefaultsError`` with this code in a `catch` clause.
        public static func ~= (code: Code, error: any Error) -> Bool {
            (error as? DefaultsError)?.code == code
        }
    }
}

extension DefaultsError: CustomStringConvertible {
    /// Complete sentences that name the key, the type and the store, but never a stored value.
    public var description: String { contents.reason }
}

extension DefaultsError.Code: CustomStringConvertible {
    /// The code's name.
    public var description: String { name }
}

extension DefaultsError: LocalizedError {
    /// The same as ``description``, so that `localizedDescription` has the same text.
    public var errorDescription: String? { contents.reason }
}
