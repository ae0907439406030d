internal import Foundation

// All error messages of the library, in one place, so that it is easy to check that each names the key, type and store and
// says what to do, and that none contains a stored value.
extension DefaultsError {
    static func invalidKey(_ key: String, because fault: String) -> DefaultsError {
        // Keeps the message short for a key that is too long.
        let shown = key.count > 64 ? "\(key.prefix(64))…" : key
        return DefaultsError(
            .invalidKey,
            reason: "The key \(shown.debugDescription) can't be used: \(fault). Nothing was read or stored.",
            key: key
        )
    }

    static func unsupportedValue(_ fault: PropertyListValue.UnsupportedObject, key: String, store: String)
        -> DefaultsError
    {
        let location = fault.path.isEmpty ? "" : " (at \(fault.path))"
        let reason = """
            Nothing was stored under \(key.debugDescription) in \(store). \(fault.reason)\(location). A store accepts \
            String, Bool, numbers, Data, Date, and arrays and string-keyed dictionaries of those. Encode other types.
            """
        return DefaultsError(.unsupportedValue, reason: reason, key: key, store: store)
    }

    static func valueTooLarge(_ size: Int, limit: Int, key: String, store: String) -> DefaultsError {
        let reason = """
            Nothing was stored under \(key.debugDescription) in \(store): with the new value it would hold \(size) bytes, and \
            the system refuses \(limit) and more. Keep large values in files, or in a FileDefaults.
            """
        return DefaultsError(.valueTooLarge, reason: reason, key: key, store: store)
    }

    static func encodingFailed(_ error: any Error, key: String, type: Any.Type, store: String) -> DefaultsError {
        let reason = """
            A value of type \(type) can't be encoded for the key \(key.debugDescription) (\(summary(of: error))). \
            The value stored in \(store) is unchanged.
            """
        return DefaultsError(
            .encodingFailed,
            reason: reason,
            key: key,
            type: type,
            store: store,
            underlyingError: error
        )
    }

    static func defaultNotEncodable(_ error: any Error, type: Any.Type) -> DefaultsError {
        let reason = """
            The default value of \(type) can't be encoded (\(summary(of: error))). Stored values that lack properties can't be \
            filled in from it. Give it values that its coder can encode.
            """
        return DefaultsError(.encodingFailed, reason: reason, type: type, underlyingError: error)
    }

    static func defaultMissing(type: Any.Type) -> DefaultsError {
        let reason = """
            \(type) conforms to DefaultProviding, but has no defaultValue of its own type, so stored values that lack \
            properties can't be filled in. Give it a `static var defaultValue: \(type)?`.
            """
        return DefaultsError(.valueMissing, reason: reason, type: type)
    }

    static func undecodable(
        _ error: any Error,
        byteCount: Int,
        key: String,
        type: Any.Type,
        store: String
    ) -> DefaultsError {
        let faults = summary(of: error)
        let isInProperty = error is DecodingError && !faults.contains(path([]))
        let cure = """
             Make the property optional, or give the settings type a defaultValue, or the typed key a default, from \
            which it can be filled in.
            """
        let reason = """
            The \(byteCount) bytes stored under \(key.debugDescription) in \(store) can't be decoded as \(type) \
            (\(faults)). They were left unchanged.\(isInProperty ? cure : "")
            """
        return DefaultsError(.undecodable, reason: reason, key: key, type: type, store: store, underlyingError: error)
    }

    static func typeMismatch(
        found value: PropertyListValue,
        key: String,
        type: Any.Type,
        store: String
    ) -> DefaultsError {
        let reason = """
            \(value.kind) is stored under \(key.debugDescription) in \(store), which can't be read as \(type). \
            It was left unchanged. Another part of the program may use the same key.
            """
        return DefaultsError(.typeMismatch, reason: reason, key: key, type: type, store: store)
    }

    static func valueMissing(key: String, type: Any.Type, store: String) -> DefaultsError {
        let reason = """
            Nothing is stored under \(key.debugDescription) in \(store), and \(type) has no defaultValue for an \
            update to start from. Save a value first, or give the type a `static var defaultValue: \(type)?`. A \
            defaultValue of an unrelated type is not used.
            """
        return DefaultsError(.valueMissing, reason: reason, key: key, type: type, store: store)
    }

    static func arithmeticOverflow(key: String, store: String) -> DefaultsError {
        let reason = """
            The sum for \(key.debugDescription) in \(store) does not fit into 64 bits. The stored value is unchanged.
            """
        return DefaultsError(.arithmeticOverflow, reason: reason, key: key, store: store)
    }

    static func synchronizationFailed(key: String?, store: String) -> DefaultsError {
        let subject = key.map { "The value for \($0.debugDescription)" } ?? "The values"
        let reason = """
            \(subject) could not be saved to disk by \(store): synchronize() returned false. Check that the \
            preferences directory in the home directory exists and is writable, and that the disk is not full.
            """
        return DefaultsError(.synchronizationFailed, reason: reason, key: key, store: store)
    }

    static func identifierConflict(
        key: String,
        type: Any.Type,
        other: Any.Type,
        store: String
    ) -> DefaultsError {
        let reason = """
            Two types are stored under \(key.debugDescription) in \(store): \(String(reflecting: other)) and \
            \(String(reflecting: type)). Each overwrites the other. Give one of them its own defaultIdentifier.
            """
        return DefaultsError(.identifierConflict, reason: reason, key: key, type: type, store: store)
    }

    /// The number of parts that a message lists; the report has all of them.
    fileprivate static let maximumListedParts = 20

    static func filledIn(_ report: LoadReport, key: String, type: Any.Type, store: String) -> DefaultsError {
        let missing = report.filledIn.map { "\($0.debugDescription) is missing" }
        let unusable = report.unusable.map { "\($0.path.debugDescription) \($0.reason)" }
        // What could not be used comes first: there may be too many to read.
        let all = unusable + missing
        let others = all.count - maximumListedParts
        let parts = others > 0 ? all.prefix(maximumListedParts) + ["and \(others) more"] : all[...]
        let faults = parts.joined(separator: ", ")
        let outcome = report.isFilledIn ? "filled in from the defaultValue where it has them" : "not used"
        let reason = """
            The value stored under \(key.debugDescription) in \(store) doesn't match \(type): \
            \(faults). These were \(outcome). The stored value was left unchanged.
            """
        var error = DefaultsError(.filledIn, reason: reason, key: key, type: type, store: store)
        error.faults = faults
        return error
    }

    static func newerVersion(_ version: Int, key: String, type: Any.Type, own: Int, store: String) -> DefaultsError {
        let reason = """
            The value stored under \(key.debugDescription) in \(store) has version \(version) and was written by a newer \
            version of the app; \(type) has version \(own). It was left unchanged. Update the app to read it.
            """
        return DefaultsError(.newerVersion, reason: reason, key: key, type: type, store: store)
    }

    static func migrationFailed(
        _ error: any Error,
        from previous: String,
        key: String,
        type: Any.Type,
        store: String
    ) -> DefaultsError {
        let reason = """
            The \(previous) stored under \(key.debugDescription) in \(store) could not be migrated to \(type) \
            (\(summary(of: error))). It was left unchanged, and the next read tries the migration again.
            """
        return DefaultsError(
            .migrationFailed,
            reason: reason,
            key: key,
            type: type,
            store: store,
            underlyingError: error
        )
    }

    /// For a value that was quarantined and replaced; `loss` says why it can't be used.
    static func quarantined(
        _ loss: DefaultsError,
        under quarantineKey: String,
        key: String,
        type: Any.Type,
        store: String
    ) -> DefaultsError {
        let fault = loss.faults ?? loss.underlyingError.map(summary) ?? loss.code.name
        let reason = """
            The value stored under \(key.debugDescription) in \(store) can't be used as \(type) (\(fault)). It was \
            quarantined under \(quarantineKey.debugDescription) before it was replaced.
            """
        return DefaultsError(loss.code, reason: reason, key: key, type: type, store: store, underlyingError: loss)
    }

    static func quarantineFailed(_ error: any Error, key: String, type: Any.Type, store: String) -> DefaultsError {
        let cause = (error as? DefaultsError)?.description ?? summary(of: error)
        let reason = """
            The value stored under \(key.debugDescription) in \(store) can't be used as \(type), and could not be \
            quarantined (\(cause)). It was not replaced.
            """
        return DefaultsError(
            .quarantineFailed,
            reason: reason,
            key: key,
            type: type,
            store: store,
            underlyingError: error
        )
    }

    static func companionKeyOccupied(key: String, purpose: String, type: Any.Type, store: String) -> DefaultsError {
        let reason = """
            The key \(key.debugDescription) in \(store) is reserved for \(purpose) of \(type), but something else is \
            stored there. It was left unchanged. Move it to another key.
            """
        return DefaultsError(.typeMismatch, reason: reason, key: key, type: type, store: store)
    }

    /// Returns the library's own errors unchanged and wraps those of third-party stores.
    static func wrapping(_ error: any Error, key: String?, type: Any.Type?, store: String) -> DefaultsError {
        if let error = error as? DefaultsError {
            return error
        }
        let reason = """
            \(store) failed\(key.map { " for the key \($0.debugDescription)" } ?? "")\
            \(type.map { " and the type \($0)" } ?? "") (\(summary(of: error))).
            """
        return DefaultsError(.storeFailed, reason: reason, key: key, type: type, store: store, underlyingError: error)
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
            "\(Swift.type(of: error)), domain \((error as NSError).domain), code \((error as NSError).code)"
        }
    }

    private static func path(_ codingPath: [any CodingKey]) -> String {
        if codingPath.isEmpty {
            return "the top level"
        }
        let steps = codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
        return LoadReport.path(steps).debugDescription
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
    /// A hash of what ``DefaultsError/filledIn(_:key:type:store:)`` says of it.
    var messageDigest: Int {
        var hasher = Hasher()
        let listed = unusable.prefix(DefaultsError.maximumListedParts)
        hasher.combine(listed)
        hasher.combine(filledIn.prefix(DefaultsError.maximumListedParts - listed.count))
        hasher.combine(unusable.count + filledIn.count)
        return hasher.finalize()
    }
}
