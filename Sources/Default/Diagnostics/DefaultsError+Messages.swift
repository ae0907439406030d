internal import Foundation

// The sentences this library throws, in one place, so that what they say (key, type, store, what to do) and what
// they leave out (stored values) can be seen at a glance.
extension DefaultsError {
    static func invalidKey(_ key: String, because fault: String) -> DefaultsError {
        // A key that is too long would make a message that is too long.
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
        let place = fault.path.isEmpty ? "" : " at \(fault.path)"
        return DefaultsError(
            .unsupportedValue,
            reason: """
                \(fault.reason)\(place), so nothing was stored under \(key.debugDescription) in \(store). A store takes \
                String, Bool, numbers, Data, Date, and arrays and string-keyed dictionaries of those; encode anything else.
                """,
            key: key,
            store: store
        )
    }

    static func encodingFailed(_ error: any Error, key: String, type: Any.Type, store: String) -> DefaultsError {
        DefaultsError(
            .encodingFailed,
            reason: """
                \(type) can't be encoded for the key \(key.debugDescription) (\(summary(of: error))). \
                What is stored in \(store) is unchanged.
                """,
            key: key,
            type: type,
            store: store,
            underlyingError: error
        )
    }

    static func undecodable(
        _ error: any Error,
        byteCount: Int,
        key: String,
        type: Any.Type,
        store: String
    ) -> DefaultsError {
        DefaultsError(
            .undecodable,
            reason: """
                The \(byteCount) bytes stored under \(key.debugDescription) in \(store) can't be decoded as \(type) \
                (\(summary(of: error))). They are left as they are.
                """,
            key: key,
            type: type,
            store: store,
            underlyingError: error
        )
    }

    static func typeMismatch(
        found value: PropertyListValue,
        key: String,
        type: Any.Type,
        store: String
    ) -> DefaultsError {
        DefaultsError(
            .typeMismatch,
            reason: """
                \(value.kind) is stored under \(key.debugDescription) in \(store), which can't be read as \(type). \
                It is left as it is; something else seems to use the same key.
                """,
            key: key,
            type: type,
            store: store
        )
    }

    static func valueMissing(key: String, type: Any.Type, store: String) -> DefaultsError {
        DefaultsError(
            .valueMissing,
            reason: """
                There is nothing to update under \(key.debugDescription) in \(store), and \(type) has no defaultValue \
                to start from. Save a value first, or give the type a defaultValue.
                """,
            key: key,
            type: type,
            store: store
        )
    }

    static func arithmeticOverflow(key: String, store: String) -> DefaultsError {
        DefaultsError(
            .arithmeticOverflow,
            reason: """
                The sum for \(key.debugDescription) in \(store) is out of the range of 64 bits. What is stored is unchanged.
                """,
            key: key,
            store: store
        )
    }

    static func synchronizationFailed(key: String?, store: String) -> DefaultsError {
        let subject = key.map { "The value for \($0.debugDescription)" } ?? "What was set"
        return DefaultsError(
            .synchronizationFailed,
            reason: """
                \(subject) could not be saved to the disk by \(store): synchronize() returned false. Check that the \
                directory for preferences in the home directory exists, is writable and has room.
                """,
            key: key,
            store: store
        )
    }

    static func identifierConflict(
        key: String,
        type: Any.Type,
        other: String,
        store: String
    ) -> DefaultsError {
        DefaultsError(
            .identifierConflict,
            reason: """
                Two types are stored under \(key.debugDescription) in \(store): \(other) and \
                \(String(reflecting: type)). Each overwrites the other; give one of them a defaultIdentifier of its own.
                """,
            key: key,
            type: type,
            store: store
        )
    }

    static func filledIn(_ report: LoadReport, key: String, type: Any.Type, store: String) -> DefaultsError {
        let missing = report.filledIn.map { "\($0.debugDescription) is missing" }
        let unusable = report.unusable.map { "\($0.path.debugDescription) \($0.reason)" }
        return DefaultsError(
            .filledIn,
            reason: """
                What is stored under \(key.debugDescription) in \(store) doesn't fit \(type) as it is: \
                \((missing + unusable).joined(separator: ", ")). They were filled in from its defaultValue, as far as it \
                has them; what is stored is left as it is.
                """,
            key: key,
            type: type,
            store: store
        )
    }

    static func newerVersion(_ version: Int, key: String, type: Any.Type, own: Int, store: String) -> DefaultsError {
        DefaultsError(
            .newerVersion,
            reason: """
                What is stored under \(key.debugDescription) in \(store) is of version \(version), written by a newer \
                version of the app; \(type) is of version \(own). It is left as it is.
                """,
            key: key,
            type: type,
            store: store
        )
    }

    static func migrationFailed(
        _ error: any Error,
        from previous: String,
        key: String,
        type: Any.Type,
        store: String
    ) -> DefaultsError {
        DefaultsError(
            .migrationFailed,
            reason: """
                The \(previous) stored under \(key.debugDescription) in \(store) could not be migrated to \(type) \
                (\(summary(of: error))). It is left as it is, and the migration tried again next time.
                """,
            key: key,
            type: type,
            store: store,
            underlyingError: error
        )
    }

    /// For a value that was quarantined and replaced, with the error that says why it can't be used.
    static func quarantined(
        _ loss: DefaultsError,
        under place: String,
        key: String,
        type: Any.Type,
        store: String
    ) -> DefaultsError {
        DefaultsError(
            loss.code,
            reason: """
                What was stored under \(key.debugDescription) in \(store) can't be used as \(type) (\(loss.code)). It was \
                quarantined under \(place.debugDescription), and replaced.
                """,
            key: key,
            type: type,
            store: store,
            underlyingError: loss
        )
    }

    static func quarantineFailed(_ error: any Error, key: String, type: Any.Type, store: String) -> DefaultsError {
        let cause = (error as? DefaultsError)?.description ?? summary(of: error)
        return DefaultsError(
            .quarantineFailed,
            reason: """
                What is stored under \(key.debugDescription) in \(store) can't be used as \(type) and could not be \
                quarantined (\(cause)), so it was not replaced.
                """,
            key: key,
            type: type,
            store: store,
            underlyingError: error
        )
    }

    static func companionKeyOccupied(key: String, purpose: String, type: Any.Type, store: String) -> DefaultsError {
        DefaultsError(
            .typeMismatch,
            reason: """
                Something else than \(purpose) of \(type) is stored under \(key.debugDescription) in \(store). It is left \
                as it is; move it to another key.
                """,
            key: key,
            type: type,
            store: store
        )
    }

    /// Passes this library's own errors on and wraps those of other people's stores.
    static func wrapping(_ error: any Error, key: String?, type: Any.Type?, store: String) -> DefaultsError {
        if let error = error as? DefaultsError {
            return error
        }
        return DefaultsError(
            .storeFailed,
            reason: """
                \(store) failed\(key.map { " on the key \($0.debugDescription)" } ?? "")\
                \(type.map { " for a value of type \($0)" } ?? "") (\(summary(of: error))).
                """,
            key: key,
            type: type,
            store: store,
            underlyingError: error
        )
    }
}

extension DefaultsError {
    /// What an error says, without the values that the debug descriptions of coding errors carry.
    private static func summary(of error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            "no value for \(path(context.codingPath + [key]))"
        case DecodingError.valueNotFound(let type, let context):
            "null at \(path(context.codingPath)), where \(type) is needed"
        case DecodingError.typeMismatch(let type, let context):
            "\(path(context.codingPath)) is not of type \(type)"
        case DecodingError.dataCorrupted(let context):
            "\(path(context.codingPath)) is malformed"
        case EncodingError.invalidValue(let value, let context):
            "\(path(context.codingPath)) is a \(Swift.type(of: value)) that the format can't hold"
        default:
            "\(Swift.type(of: error)), domain \((error as NSError).domain), code \((error as NSError).code)"
        }
    }

    private static func path(_ codingPath: [any CodingKey]) -> String {
        if codingPath.isEmpty {
            return "the top level"
        }
        let steps = codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
        return steps.joined(separator: ".").debugDescription
    }
}

extension PropertyListValue {
    /// What kind of value this is, at the start of a sentence.
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
