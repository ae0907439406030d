public import Foundation

/// What went wrong with a stored value, where, and why.
///
/// Throwing calls such as ``DefaultStorable/save(withKey:)`` throw it; what a non-throwing call such as
/// ``DefaultStorable/write(withKey:)`` swallows arrives in ``DefaultsDiagnostics``. Match the code:
///
/// ```swift
/// do {
///     let settings = try VisualSettings.load()
/// } catch DefaultsError.Code.undecodable {
///     // The bytes are still there, as they were.
/// } catch {
///     print(error)
/// }
/// ```
///
/// The ``description`` names the key, the type and the store, and never a stored value; the
/// ``underlyingError`` may hold one, so think before you log it.
public struct DefaultsError: Error, Sendable {
    /// What kind of error this is.
    public let code: Code
    /// The key that was read or written, nil when no single key is concerned.
    public let key: String?
    /// The type that was to be stored or read, nil when the store was used without one.
    public let type: Any.Type?
    /// The store's ``DefaultsStore/storeDescription``, nil when the error came before a store was used.
    public let store: String?
    /// What the coder or the store threw, nil when this library found the fault itself.
    public let underlyingError: (any Error)?

    private let reason: String

    /// Creates an error, for stores and coders written outside this library.
    ///
    /// - Parameters:
    ///   - code: The kind of error.
    ///   - reason: A full sentence for people: what happened and what to do. No stored values.
    ///   - key: The key that was read or written.
    ///   - type: The type that was to be stored or read.
    ///   - store: The store's ``DefaultsStore/storeDescription``.
    ///   - underlyingError: The error behind this one.
    public init(
        _ code: Code,
        reason: String,
        key: String? = nil,
        type: Any.Type? = nil,
        store: String? = nil,
        underlyingError: (any Error)? = nil
    ) {
        self.code = code
        self.reason = reason
        self.key = key
        self.type = type
        self.store = store
        self.underlyingError = underlyingError
    }
}

extension DefaultsError {
    /// A kind of error; an open set, to which later versions add.
    public struct Code: Hashable, Sendable {
        /// The code's name, stable across versions.
        public let name: String

        /// Creates a code, for stores and coders written outside this library.
        ///
        /// - Parameter name: A name of your own, best with a prefix.
        public init(_ name: String) {
            self.name = name
        }

        /// The value could not be encoded; what was stored before is unchanged.
        public static let encodingFailed = Code("encodingFailed")
        /// The stored bytes could not be decoded as the type asked for; they are unchanged.
        public static let undecodable = Code("undecodable")
        /// What is stored under the key is of another kind than the type asked for; it is unchanged.
        public static let typeMismatch = Code("typeMismatch")
        /// The key is empty, holds a NUL character or is longer than 65,535 bytes of UTF-8.
        public static let invalidKey = Code("invalidKey")
        /// The object is not a property-list value; nothing was stored.
        public static let unsupportedValue = Code("unsupportedValue")
        /// Nothing is stored, and the type has no ``DefaultStorable/defaultValue`` to start from.
        public static let valueMissing = Code("valueMissing")
        /// `UserDefaults` could not save to the disk; the value from before is in place.
        public static let synchronizationFailed = Code("synchronizationFailed")
        /// A suite can't be opened; the message names its path and the reason.
        public static let storeUnavailable = Code("storeUnavailable")
        /// A suite was written by a later version of this library, in a format unknown to this one; it is unchanged.
        public static let newerFormat = Code("newerFormat")
        /// A name can't be that of a suite.
        public static let invalidSuiteName = Code("invalidSuiteName")
        /// A value is over 64 MiB, or a transaction over 1 GiB; nothing was stored.
        public static let valueTooLarge = Code("valueTooLarge")
        /// Part of a suite's file could not be used; everything else is there.
        public static let storeDamaged = Code("storeDamaged")
        /// A suite was deleted or replaced while it was open.
        public static let storeReplaced = Code("storeReplaced")
        /// A property list of Foundation's could not be imported; it is unchanged.
        public static let importFailed = Code("importFailed")
        /// A store failed; the system's error, or the store's own, is in ``DefaultsError/underlyingError``.
        public static let storeFailed = Code("storeFailed")
        /// The sum of a string key's number and what was to be added fits into no integer of 64 bits; nothing was stored.
        public static let arithmeticOverflow = Code("arithmeticOverflow")
        /// Two different types are stored under one identifier in one store.
        public static let identifierConflict = Code("identifierConflict")
        /// Parts of what is stored were missing or could not be used, and were filled in from the default value; what is
        /// stored is unchanged.
        public static let filledIn = Code("filledIn")
        /// What is stored was written by a newer version of the app; it is unchanged.
        public static let newerVersion = Code("newerVersion")
        /// What is stored is of an earlier type, from which the current one could not be made; it is unchanged.
        public static let migrationFailed = Code("migrationFailed")
        /// What is stored can't be used and could not be quarantined, so it was not replaced.
        public static let quarantineFailed = Code("quarantineFailed")

        /// Matches any ``DefaultsError`` with this code in a `catch` clause.
        ///
        /// - Parameters:
        ///   - code: The code looked for.
        ///   - error: The error thrown.
        /// - Returns: Whether the error is a ``DefaultsError`` with this code.
        public static func ~= (code: Code, error: any Error) -> Bool {
            (error as? DefaultsError)?.code == code
        }
    }
}

extension DefaultsError: CustomStringConvertible {
    /// Full sentences that name key, type and store, and never a stored value.
    public var description: String { reason }
}

extension DefaultsError.Code: CustomStringConvertible {
    /// The code's name.
    public var description: String { name }
}

extension DefaultsError: LocalizedError {
    /// The same as ``description``, so that `localizedDescription` says it too.
    public var errorDescription: String? { reason }
}
