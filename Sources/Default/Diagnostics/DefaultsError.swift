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
/// The ``description`` names the key, the type and the store, but never a stored value. The ``underlyingError`` may
/// contain one, so be careful about logging it.
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
    /// The parts of a value that could not be used or were missing, each with the reason; without stored values.
    var faults: String? { contents.faults }
    /// A digest of the stored value that can't be read; nil for other errors.
    var content: UInt64? { contents.content }

    private let contents: Contents

    // Indirect, so that an error that is thrown and passed on is a single reference.
    private final class Contents: Sendable {
        let code: Code
        let context: ErrorContext
        let reason: String
        let underlyingError: (any Error)?
        let faults: String?
        let content: UInt64?

        init(
            _ code: Code,
            _ context: ErrorContext,
            _ reason: String,
            _ underlyingError: (any Error)?,
            faults: String?,
            content: UInt64?
        ) {
            (self.code, self.context, self.reason) = (code, context, reason)
            (self.underlyingError, self.faults, self.content) = (underlyingError, faults, content)
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
        faults: String? = nil,
        content: UInt64? = nil
    ) {
        contents = Contents(code, context, reason, underlyingError, faults: faults, content: content)
    }

    /// The same error about a stored value with a digest.
    func about(content: UInt64) -> DefaultsError {
        DefaultsError(code, context, description, causedBy: underlyingError, faults: faults, content: content)
    }

    /// The same error about a stored value, which is reported once for each value.
    func about(_ value: PropertyListValue) -> DefaultsError {
        let data = if case .data(let data) = value { data } else { value.binaryForm }
        return about(content: ContentDigest(data).bits)
    }
}

/// The subject of a call that failed: the key, the type and the store.
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
        public init(_ name: String) { self.name = name }

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
        /// Another process has kept a suite's lock for longer than this one waits, five seconds by default; nothing was
        /// changed.
        public static let storeBusy = Code("storeBusy")
        /// Nothing can be written to a suite; it can be read.
        ///
        /// It is on a read-only disk, the system doesn't permit it, or it is another user's and the program runs as
        /// root. Nothing was stored; the next write tries again.
        public static let storeReadOnly = Code("storeReadOnly")
        /// A suite was written by a later version of this library, in a format unknown to this one; it is unchanged.
        public static let newerFormat = Code("newerFormat")
        /// The name is not a valid suite name.
        public static let invalidSuiteName = Code("invalidSuiteName")
        /// A value is over 64 MiB, or a transaction over 1 GiB; nothing was stored.
        ///
        /// For a `UserDefaults` on Apple platforms: a value has 4 MiB or more, or, on tvOS, all values have 512 KiB or
        /// more.
        public static let valueTooLarge = Code("valueTooLarge")
        /// Part of a suite's file could not be used; everything else was kept.
        public static let storeDamaged = Code("storeDamaged")
        /// A suite was deleted or replaced while it was open.
        public static let storeReplaced = Code("storeReplaced")
        /// All users may write to a suite's directory, and so may replace what is stored there; reported when it is
        /// opened.
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

        /// A mandatory source has a value for the key, or can't be used, so that nothing may be written.
        ///
        /// Nothing was stored; of settings, what is not mandatory was, as the error says.
        public static let mandatory = Code("mandatory")
        /// A source can't be used, or a part of it.
        public static let sourceUnusable = Code("sourceUnusable")
        /// A text that was to be imported isn't JSON, or has what no store can hold.
        public static let importUnreadable = Code("importUnreadable")

        /// Matches any ``DefaultsError`` with this code in a `catch` clause.
        public static func ~= (code: Code, error: any Error) -> Bool { (error as? DefaultsError)?.code == code }
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

// All error messages of the library, in one place, so that it is easy to check that each names the key, type and store
// and says what to do, and that none contains a stored value.
extension DefaultsError {
    static func invalidKey(_ key: String, because fault: String) -> DefaultsError {
        // Keeps the message short for a key that is too long.
        let shown = key.count > 64 ? "\(key.prefix(64))…" : key
        let reason = "The key \(shown.debugDescription) can't be used: \(fault). Nothing was read or stored."
        return DefaultsError(.invalidKey, ErrorContext(key: key), reason)
    }

    static func unsupportedValue(_ fault: PropertyListValue.UnsupportedObject, _ context: ErrorContext) -> DefaultsError
    {
        let path = fault.path.isEmpty ? "" : " (at \(fault.path))"
        let reason = """
            Nothing was stored under \(context.location). \(fault.reason)\(path). A store accepts \
            String, Bool, numbers, Data, Date, and arrays and string-keyed dictionaries of those. A settings \
            type stores itself, with write(to:); encode other types.
            """
        return DefaultsError(.unsupportedValue, context, reason)
    }

    static func valueTooLarge(_ size: Int, limit: Int, _ context: ErrorContext) -> DefaultsError {
        let reason = """
            Nothing was stored under \(context.location): with the new value it would hold \(size) bytes, and \
            the system refuses \(limit) and more. Keep large values in files, or in a FileDefaults.
            """
        return DefaultsError(.valueTooLarge, context, reason)
    }

    static func encodingFailed(_ error: any Error, _ context: ErrorContext) -> DefaultsError {
        let reason = """
            A value of type \(context.typeName) can't be stored under \(context.location), because it can't be encoded \
            (\(summary(of: error))). The stored value is unchanged.
            """
        return DefaultsError(.encodingFailed, context, reason, causedBy: error)
    }

    static func defaultNotEncodable(_ error: any Error, type: Any.Type) -> DefaultsError {
        let reason = """
            The default value of \(type) can't be encoded (\(summary(of: error))). Stored values that lack properties can't be \
            filled in from it. Give it values that its coder can encode.
            """
        return DefaultsError(.encodingFailed, ErrorContext(type: type), reason, causedBy: error)
    }

    static func defaultMissing(type: Any.Type) -> DefaultsError {
        let reason = """
            \(type) conforms to DefaultProviding, but has no defaultValue of its own type, so stored values that lack \
            properties can't be filled in. Give it a `static var defaultValue: \(type)?`.
            """
        return DefaultsError(.valueMissing, ErrorContext(type: type), reason)
    }

    static func renameToNothing(from old: [String], to new: [String], type: Any.Type) -> DefaultsError {
        let reason = """
            \(type) renames \(LoadReport.path(old).debugDescription) to \(LoadReport.path(new).debugDescription), which \
            is not a property of it, so the value keeps its name. In renamedProperties, the old name comes first.
            """
        return DefaultsError(.valueMissing, ErrorContext(type: type), reason)
    }

    static func unreadableNames(_ paths: [[String]], type: Any.Type) -> DefaultsError {
        let names = paths.map { LoadReport.path($0).debugDescription }.joined(separator: ", ")
        let reason = """
            \(type) is stored with \(names), which its decoder doesn't turn back into the names of the properties: they \
            read as nil. Give these properties coding keys whose names survive.
            """
        return DefaultsError(.encodingFailed, ErrorContext(type: type), reason)
    }

    static func undecodable(_ error: any Error, byteCount: Int, _ context: ErrorContext) -> DefaultsError {
        let faults = summary(of: error)
        let isInProperty = codingPath(of: error)?.isEmpty == false
        let cure = """
             Make the property optional, or give the settings type a defaultValue, or the typed key a default, from \
            which it can be filled in.
            """
        let reason = """
            The \(byteCount) bytes stored under \(context.location) can't be decoded as \(context.typeName) \
            (\(faults)). They were left unchanged.\(isInProperty ? cure : "")
            """
        return DefaultsError(.undecodable, context, reason, causedBy: error)
    }

    /// For a value of another type than the one asked for; `origin` is nil for a stored value.
    static func typeMismatch(
        found value: PropertyListValue,
        from origin: DefaultsOrigin? = nil,
        _ context: ErrorContext
    ) -> DefaultsError {
        let kind = value.kind.prefix(1).lowercased() + value.kind.dropFirst()
        let reason =
            if let origin {
                """
                \((context.key ?? "").debugDescription) is \(kind) in \(origin.place), which can't be read as \
                \(context.typeName). Correct it there.
                """
            } else {
                """
                \(value.kind) is stored under \(context.location), which can't be read as \(context.typeName). \
                It was left unchanged. Another part of the program may use the same key.
                """
            }
        return DefaultsError(.typeMismatch, context, reason, faults: "it is \(kind)")
    }

    static func valueMissing(_ context: ErrorContext) -> DefaultsError {
        let type = context.typeName
        let reason = """
            Nothing is stored under \(context.location), and \(type) has no defaultValue for an \
            update to start from. Save a value first, or give the type a `static var defaultValue: \(type)?`. A \
            defaultValue of an unrelated type is not used.
            """
        return DefaultsError(.valueMissing, context, reason)
    }

    static func arithmeticOverflow(_ context: ErrorContext) -> DefaultsError {
        let reason = "The sum for \(context.location) does not fit into 64 bits. The stored value is unchanged."
        return DefaultsError(.arithmeticOverflow, context, reason)
    }

    static func synchronizationFailed(_ context: ErrorContext) -> DefaultsError {
        let subject = context.key.map { "The value for \($0.debugDescription)" } ?? "The values"
        let reason = """
            \(subject) could not be saved to disk by \(context.store ?? ""): synchronize() returned false. Check that the \
            preferences directory in the home directory exists and is writable, and that the disk is not full.
            """
        return DefaultsError(.synchronizationFailed, context, reason)
    }

    static func identifierConflict(with other: Any.Type, _ context: ErrorContext) -> DefaultsError {
        let names = [other, context.type].map { $0.map { String(reflecting: $0) } ?? "" }
        let reason = """
            Two types are stored under \(context.location): \(names[0]) and \(names[1]). Each overwrites the other. \
            Give one of them its own defaultIdentifier.
            """
        return DefaultsError(.identifierConflict, context, reason)
    }

    /// The number of parts that a message lists; the report has all of them.
    fileprivate static let maximumListedParts = 20

    static func filledIn(_ report: LoadReport, _ context: ErrorContext) -> DefaultsError {
        let missing = report.filledIn.map { "\($0.debugDescription) is missing" }
        let unusable = report.unusable.map { "\($0.path.debugDescription) \($0.reason)" }
        // What could not be used comes first: there may be too many to read.
        let all = unusable + missing
        let others = all.count - maximumListedParts
        let parts = Array(all.prefix(maximumListedParts)) + (others > 0 ? ["and \(others) more"] : [])
        let faults = parts.joined(separator: ", ")
        let outcome = report.isFilledIn ? "filled in from the defaultValue where it has them" : "not used"
        let reason = """
            The value stored under \(context.location) doesn't match \(context.typeName): \
            \(faults). These were \(outcome). The stored value was left unchanged.
            """
        return DefaultsError(.filledIn, context, reason, faults: faults)
    }

    static func newerVersion(_ version: Int, own: Int, _ context: ErrorContext) -> DefaultsError {
        let reason = """
            The value stored under \(context.location) has version \(version) and was written by a newer \
            version of the app; \(context.typeName) has version \(own). It was left unchanged. Update the app to read it.
            """
        return DefaultsError(.newerVersion, context, reason, faults: "a newer version, \(version), has written it")
    }

    static func migrationFailed(_ error: any Error, from previous: String, _ context: ErrorContext) -> DefaultsError {
        let reason = """
            The \(previous) stored under \(context.location) could not be migrated to \(context.typeName) \
            (\(summary(of: error))). It was left unchanged, and the next read tries the migration again.
            """
        return DefaultsError(.migrationFailed, context, reason, causedBy: error)
    }

    /// For a value that was quarantined and replaced; `loss` says why it can't be used.
    static func quarantined(
        _ loss: DefaultsError,
        under quarantineKey: String,
        _ context: ErrorContext
    ) -> DefaultsError {
        let fault = loss.faults ?? loss.underlyingError.map(summary) ?? loss.code.name
        let reason = """
            The value stored under \(context.location) can't be used as \(context.typeName) (\(fault)). It was \
            quarantined under \(quarantineKey.debugDescription) before it was replaced.
            """
        return DefaultsError(loss.code, context, reason, causedBy: loss)
    }

    static func mandatory(_ origin: DefaultsOrigin, _ context: ErrorContext) -> DefaultsError {
        let reason = "The value of \(context.location) is mandatory: \(origin.name) has it. Nothing was changed."
        return DefaultsError(.mandatory, context, reason)
    }

    static func mandatory(_ fault: DefaultsError, _ context: ErrorContext) -> DefaultsError {
        let reason = """
            Nothing can be changed in \(context.store ?? "") while a source of mandatory values can't be used. \(fault)
            """
        return DefaultsError(.mandatory, context, reason, causedBy: fault)
    }

    static func mandatory(_ properties: [MandatoryProperty], _ context: ErrorContext) -> DefaultsError {
        let names = properties.map { "\($0.name.debugDescription) (\($0.origin.name))" }.joined(separator: ", ")
        let reason = """
            Of the value for \(context.location), these properties are mandatory and were not changed: \
            \(names). The others were stored.
            """
        return DefaultsError(.mandatory, context, reason)
    }

    static func sourceUnusable(_ place: String, because fault: String) -> DefaultsError {
        DefaultsError(.sourceUnusable, ErrorContext(), "The values of \(place) can't be used: \(fault).")
    }

    static func sourceRestored(_ place: String) -> DefaultsError {
        DefaultsError(.sourceUnusable, ErrorContext(), "The values of \(place) can be used again.")
    }

    /// For parts of what a source has for a type.
    static func sourceUnusable(
        _ parts: [LoadReport.UnusableValue],
        of origin: DefaultsOrigin,
        _ context: ErrorContext
    ) -> DefaultsError {
        let listed = parts.prefix(maximumListedParts)
            .map { $0.path.isEmpty ? "it \($0.reason)" : "\($0.path.debugDescription) \($0.reason)" }
        let faults = listed.joined(separator: ", ")
        let reason = """
            What \(origin.name) has for \(context.location) doesn't match \(context.typeName): \
            \(faults). That was left out.
            """
        return DefaultsError(.sourceUnusable, context, reason, faults: faults)
    }

    static func quarantineFull(dropped: Int, under quarantineKey: String, _ context: ErrorContext) -> DefaultsError {
        let reason = """
            The quarantine under \(quarantineKey.debugDescription) is full, so \(dropped == 1 ? "a copy" : "\(dropped) copies") of \
            what was stored under \(context.location) earlier is no longer kept. The oldest and the newest are.
            """
        return DefaultsError(.quarantineFailed, context, reason)
    }

    static func quarantineFailed(_ error: any Error, _ context: ErrorContext) -> DefaultsError {
        let cause = (error as? DefaultsError)?.description ?? summary(of: error)
        let reason = """
            The value stored under \(context.location) can't be used as \(context.typeName), and could not be \
            quarantined (\(cause)). It was not replaced.
            """
        return DefaultsError(.quarantineFailed, context, reason, causedBy: error)
    }

    static func companionKeyOccupied(purpose: String, _ context: ErrorContext) -> DefaultsError {
        let reason = """
            The key \(context.location) is reserved for \(purpose) of \(context.typeName), but something else is \
            stored there. It was left unchanged. Move it to another key.
            """
        return DefaultsError(.typeMismatch, context, reason)
    }

    /// Calls a body that uses a store, and wraps the errors of third-party stores.
    static func wrapping<Result>(
        _ context: @autoclosure () -> ErrorContext,
        _ body: () throws -> Result
    ) throws(DefaultsError) -> Result {
        do {
            return try body()
        } catch {
            throw .wrapping(error, context())
        }
    }

    /// Returns the library's own errors unchanged and wraps those of third-party stores.
    static func wrapping(_ error: any Error, _ context: ErrorContext) -> DefaultsError {
        if let error = error as? DefaultsError { return error }
        let reason = """
            \(context.store ?? "")\(context.key.map { " failed for the key \($0.debugDescription)" } ?? " failed")\
            \(context.type.map { " and the type \($0)" } ?? "") (\(summary(of: error))).
            """
        return DefaultsError(.storeFailed, context, reason, causedBy: error)
    }
}

extension DefaultsError {
    /// Describes an error without the values that debug descriptions of coding errors contain.
    private static func summary(of error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            "no value for \(path(context.codingPath + [key]))"
        case DecodingError.valueNotFound(let type, let context):
            "null at \(path(context.codingPath)), where a value of type \(type) is needed"
        case DecodingError.typeMismatch(let type, let context):
            "\(path(context.codingPath)) is not of type \(type)"
        case DecodingError.dataCorrupted(let context):
            "\(path(context.codingPath)) is malformed"
        case EncodingError.invalidValue(let value, let context):
            "\(path(context.codingPath)) has a value of type \(Swift.type(of: value)) that the format can't represent"
        default:
            identity(of: error)
        }
    }

    /// The coding keys that lead to what couldn't be decoded; nil for other errors.
    static func codingPath(of error: any Error) -> [any CodingKey]? {
        switch error {
        case DecodingError.keyNotFound(let key, let context): context.codingPath + [key]
        case DecodingError.valueNotFound(_, let context), DecodingError.typeMismatch(_, let context),
            DecodingError.dataCorrupted(let context):
            context.codingPath
        default: nil
        }
    }

    private static func path(_ codingPath: [any CodingKey]) -> String {
        if codingPath.isEmpty { return "the top level" }
        return LoadReport.path(LoadReport.keys(of: codingPath)).debugDescription
    }
}

extension PropertyListValue {
    /// The kind of value, for the start of a sentence.
    fileprivate var kind: String {
        switch self {
        case .string: "A string"
        case .boolean: "A Boolean"
        case .integer, .unsigned, .real: "A number"
        case .data: "Data"
        case .date: "A date"
        case .array: "An array"
        case .dictionary: "A dictionary"
        }
    }
}

extension LoadReport {
    /// A hash of what ``DefaultsError/filledIn(_:_:)`` says of it.
    var messageDigest: Int {
        var hasher = Hasher()
        let listed = unusable.prefix(DefaultsError.maximumListedParts)
        for value in listed {
            hasher.combine(value.path)
            hasher.combine(value.reason)
        }
        hasher.combine(filledIn.prefix(DefaultsError.maximumListedParts - listed.count))
        hasher.combine(unusable.count + filledIn.count)
        return hasher.finalize()
    }
}
