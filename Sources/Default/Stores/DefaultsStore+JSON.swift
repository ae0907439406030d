#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What an import does where a value is stored under a key already; see ``DefaultsStore/importJSON(_:conflicts:)``.
public enum ImportConflicts: Sendable {
    /// The imported value takes the place of the stored one.
    case overwrite
    /// The stored value stays.
    case keepExisting
    /// All stored values are removed first, under other keys too.
    case replaceAll
}

extension DefaultsStore {
    /// All stored values as JSON, which loses none, for people and for other stores.
    ///
    /// ```swift
    /// let backup = try FileDefaults(suiteName: "player").exportJSON()
    /// let other = MemoryDefaults()
    /// try other.importJSON(backup, conflicts: .keepExisting)
    /// ```
    ///
    /// The text is UTF-8: an object of keys over several lines, in the order of the keys' bytes, so that the same
    /// values give the same bytes. What JSON lacks is marked: `{"$date": "2026-11-21T12:00:00Z"}`, `{"$data": "AQI="}`,
    /// `{"$real": "nan"}`, and `{"$json": {"theme": "dark"}}` for the bytes of settings types. What a terminal could
    /// act on is escaped. Values of sources and registered values are not part of it; quarantined values are. A
    /// `UserDefaults` whose name isn't known, such as the standard one of a tool without a bundle, can't tell its own
    /// values from those of the system.
    ///
    /// - Returns: The text.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/storeUnavailable``, or the store's own errors.
    public func exportJSON() throws(DefaultsError) -> Data {
        try DefaultsError.wrapping(ErrorContext(in: self)) { try checkAvailability() }
        if let suite = FileDefaults.of(self) { return Data(ExactJSON.text(of: suite.ownValues())) }
        // What is always changed together is seen together; a store that can't be changed can still be read.
        let all = (try? withExclusiveAccess { allOwnValues() }) ?? allOwnValues()
        return Data(ExactJSON.text(of: all))
    }

    private func allOwnValues() -> [StoreKey: PropertyListValue] {
        let domains = self as? any DomainStore
        if let values = domains?.domainValues() { return values }
        var values: [StoreKey: PropertyListValue] = [:]
        for key in storedKeys() where domains?.domainOrigins(forKey: key).first?.kind ?? .stored == .stored {
            values[StoreKey(unchecked: key)] = ownValue(forKey: key)
        }
        return values
    }

    /// Stores the values of an export, or of any JSON object of keys, in one transaction if the store has transactions.
    ///
    /// Nothing is stored unless all of the text can be used. A name that is there twice, a null, and a number that
    /// would lose digits are faults.
    ///
    /// - Parameters:
    ///   - data: The text in UTF-8.
    ///   - conflicts: What happens to values that are stored already; imported ones take their place by default.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/importUnreadable``, which says the line and the
    ///   column of the fault, ``DefaultsError/Code/invalidKey``, ``DefaultsError/Code/unsupportedValue``,
    ///   ``DefaultsError/Code/mandatory`` or one of the store's. Nothing has changed then, if the store has
    ///   transactions.
    public func importJSON(_ data: Data, conflicts: ImportConflicts = .overwrite) throws(DefaultsError) {
        let values: [StoreKey: PropertyListValue]
        do {
            values = try ExactJSON.values(of: Array(data))
        } catch {
            let reason = """
                The text can't be imported: \(error.reason), in line \(error.line), column \(error.column). Nothing \
                was stored.
                """
            throw DefaultsError(.importUnreadable, ErrorContext(in: self), reason)
        }
        for (key, value) in values {
            _ = try StoreKey(key.string)
            try value.checkDepth(forKey: key.string, in: self)
        }
        try DefaultsError.wrapping(ErrorContext(in: self)) {
            try transaction {
                if conflicts == .replaceAll {
                    for key in storedKeys() where values[StoreKey(unchecked: key)] == nil {
                        try setStoredValue(nil, forKey: key)
                        notifyChange(forKey: key)
                    }
                }
                let domain = conflicts == .keepExisting ? (self as? any DomainStore)?.domainValues() : nil
                func isStored(_ key: StoreKey) -> Bool {
                    domain.map { $0[key] != nil } ?? (ownValue(forKey: key.string) != nil)
                }
                for (key, value) in values where conflicts != .keepExisting || !isStored(key) {
                    try setStoredValue(value, forKey: key.string)
                    notifyChange(forKey: key.string)
                }
            }
        }
    }
}
