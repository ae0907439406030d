import Default
import Foundation
import SettingsValues
import Synchronization

/// A change that a person wants: what it is to become, and what it was when it was shown.
struct Edit: Decodable {
    enum Action: String, Decodable {
        /// Stores a value.
        case set
        /// Removes the value.
        case remove
        /// Stores the newest quarantined value of the key again, and quarantines the one that it replaces.
        case restore
    }

    let key: String
    let action: Action
    let value: EditedValue?
    /// The version of the value that was shown; nil if none was stored.
    let expected: String?
}

/// What became of several edits, which are stored together or not at all.
struct EditResult: Encodable {
    enum Outcome: String, Encodable {
        case stored, refused, conflict, unknown
    }

    /// A value that is no longer what was shown.
    struct Conflict: Encodable {
        let key: String
        /// What is stored now; nil for nothing.
        let current: Row?
        /// What an edit of it has to expect from now on.
        let version: String?
    }

    /// What the next edit of an edited key has to expect; nil for no value.
    struct Version: Encodable {
        let key: String
        let version: String?
    }

    /// What brings a removed value back.
    struct Undo: Encodable {
        let key: String
        let token: Int
    }

    let outcome: Outcome
    let message: String
    var conflicts: [Conflict] = []
    var versions: [Version] = []
    var undo: [Undo] = []

    init(_ outcome: WriteOutcome) {
        switch outcome {
        case .stored(let message): (self.outcome, self.message) = (.stored, message)
        case .refused(let message): (self.outcome, self.message) = (.refused, message)
        case .conflict(let message): (self.outcome, self.message) = (.conflict, message)
        case .unknown(let message): (self.outcome, self.message) = (.unknown, message)
        }
    }

    init(conflicts: [Conflict]) {
        outcome = .conflict
        message = "Nothing was stored: what is stored now is not what was shown."
        self.conflicts = conflicts
    }
}

/// Stores edits, and keeps what was removed until it is restored.
final class Editor: Sendable {
    private struct Changed: Error {
        let edits: [Edit]
    }

    /// The removed values of the last edits, by their tokens.
    private struct Removals {
        var values: [Int: (key: String, value: PropertyListValue)] = [:]
        var last = 0
    }

    /// How many bytes of removed values are kept.
    private static let undoLimit = 256 << 20

    private let suite: any PageSuite
    private let hidden: KeyPatterns
    private let removals = Mutex(Removals())

    init(_ suite: any PageSuite, hiding hidden: KeyPatterns) {
        self.suite = suite
        self.hidden = hidden
    }

    /// Stores edits as one transaction, unless one of the values is no longer what was shown.
    func apply(_ edits: [Edit]) -> EditResult {
        do {
            let values = try edits.map { try newValue(for: $0) }
            let store = try suite.writableStore()
            // The body may run again, on a store that detects conflicts.
            let (removed, versions) = try store.transaction {
                let old = edits.map { store.ownValue(forKey: $0.key) }
                let changed = edits.filter { !isExpected(by: $0, in: store) }
                guard changed.isEmpty else { throw Changed(edits: changed) }
                for (edit, value) in zip(edits, values) {
                    if edit.action == .restore {
                        try restore(edit.key, in: store)
                    } else {
                        try store.setStoredValue(value, forKey: edit.key)
                    }
                }
                let removed = zip(edits, old).compactMap { edit, old in
                    edit.action == .remove ? old.map { (edit.key, $0) } : nil
                }
                let versions = edits.map {
                    EditResult.Version(key: $0.key, version: store.ownValue(forKey: $0.key)?.version)
                }
                return (removed, versions)
            }
            var result = EditResult(suite.outcomeOfWrite())
            result.versions = versions
            result.undo = removed.map { EditResult.Undo(key: $0, token: keep($1, forKey: $0)) }
            return result
        } catch let changed as Changed {
            return EditResult(conflicts: changed.edits.map(conflict))
        } catch let error as ToolError {
            return EditResult(.refused(error.description))
        } catch {
            return EditResult(suite.outcome(of: error))
        }
    }

    /// Brings back a removed value, unless another one is stored by now.
    func undo(_ token: Int) -> EditResult {
        guard let removed = removals.withLock({ $0.values[token] }) else {
            return EditResult(.refused("The removed value is no longer there, since the server was started again."))
        }
        do {
            let store = try suite.writableStore()
            let edit = Edit(key: removed.key, action: .set, value: nil, expected: nil)
            try store.transaction {
                guard isExpected(by: edit, in: store) else { throw Changed(edits: [edit]) }
                try store.setStoredValue(removed.value, forKey: removed.key)
            }
            _ = removals.withLock { $0.values.removeValue(forKey: token) }
            return EditResult(suite.outcomeOfWrite())
        } catch let changed as Changed {
            return EditResult(conflicts: changed.edits.map(conflict))
        } catch {
            return EditResult(suite.outcome(of: error))
        }
    }

    private func newValue(for edit: Edit) throws -> PropertyListValue? {
        guard edit.action == .set else { return nil }
        guard let edited = edit.value else { throw ToolError("The value is missing.") }
        if let old = suite.store.ownValue(forKey: edit.key),
            hidden.visiblePart(of: old, forKey: edit.key).isReduced
        {
            throw ToolError.hidden(edit.key)
        }
        return try edited.value()
    }

    private func isExpected(by edit: Edit, in store: any DefaultsStore) -> Bool {
        comparedVersion(for: edit, in: store) == edit.expected
    }

    /// The version of what was shown to the person who made an edit.
    private func comparedVersion(for edit: Edit, in store: any DefaultsStore) -> String? {
        // What is restored is in the quarantine, and what it replaces is quarantined.
        let key = edit.action == .restore ? QuarantinedRow.key(of: edit.key) : edit.key
        return store.ownValue(forKey: key)?.version
    }

    private func restore(_ key: String, in store: any DefaultsStore & Sendable) throws {
        // A key of this type can read each value.
        let place = Defaults.Key<PropertyListValue?>(key)
        guard try Defaults(suite: store).restoreQuarantined(place) != nil else {
            throw ToolError("Nothing is quarantined for \(key.debugDescription).")
        }
    }

    private func conflict(over edit: Edit) -> EditResult.Conflict {
        let value = suite.store.ownValue(forKey: edit.key)
        return EditResult.Conflict(
            key: edit.key,
            current: value.map { Row(key: edit.key, value: $0, own: $0, hiding: hidden) },
            version: comparedVersion(for: edit, in: suite.store)
        )
    }

    private func keep(_ value: PropertyListValue, forKey key: String) -> Int {
        removals.withLock { removals in
            removals.last += 1
            removals.values[removals.last] = (key, value)
            var size = removals.values.values.reduce(0) { $0 + $1.value.byteCount }
            for token in removals.values.keys.sorted() where size > Self.undoLimit && token != removals.last {
                size -= removals.values.removeValue(forKey: token)?.value.byteCount ?? 0
            }
            return removals.last
        }
    }
}
