internal import DefaultJournal
internal import Foundation

/// Takes the values over that Foundation kept under a suite's name, so that a program which moves from `UserDefaults` to
/// `FileDefaults` finds its settings.
///
/// It happens when a suite is opened that has no entries, and once: a mark in the journal, written together with the
/// values, tells that it was done. The property list is left as it is, for programs that still use it.
enum Adoption {
    /// Takes a property list's values over, if there is one and the suite is new.
    ///
    /// - Throws: When the values can't be written. A list that can't be read is reported, and left.
    static func adopt(
        _ propertyList: URL?,
        into suite: OpenSuite,
        events: HeldEvents
    ) throws(DefaultsError) {
        guard let propertyList, isNew(suite), let contents = contents(of: propertyList, events: events) else {
            return
        }
        do {
            try suite.journal.withExclusiveAccess {
                // Another process may have been faster.
                guard isNew(suite) else {
                    return
                }
                var batch = JournalBatch()
                for (key, value) in contents {
                    try batch.set(key, to: StoredValue(value))
                }
                try batch.set(StoreKey(unchecked: SuiteIndex.adoptionMark), to: StoredValue(.boolean(true)))
                try suite.journal.append(batch)
            }
        } catch {
            throw .wrapping(error, key: propertyList.lastPathComponent, type: nil, store: suite.journal.path)
        }
    }

    private static func isNew(_ suite: OpenSuite) -> Bool {
        suite.journal.lockForReading()
        defer { suite.journal.unlockForReading() }
        return suite.index.entries.isEmpty && !suite.index.hasAdopted
    }

    private static func contents(of propertyList: URL, events: HeldEvents) -> [StoreKey: PropertyListValue]? {
        guard FileManager.default.fileExists(atPath: propertyList.path(percentEncoded: false)) else {
            return nil
        }
        let objects: [String: Any]
        do {
            let data = try Data(contentsOf: propertyList)
            guard let list = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
            else {
                throw CocoaError(.propertyListReadCorrupt)
            }
            objects = list
        } catch {
            events.report(.init(kind: .adoptionFailed, error: .adoptionFailed(propertyList: propertyList, error)))
            return nil
        }
        var contents: [StoreKey: PropertyListValue] = [:]
        for (name, object) in objects {
            do {
                contents[try StoreKey(FoundationKey.key(forName: name))] = try PropertyListValue(object)
            } catch {
                // Foundation takes keys that this library doesn't, the empty one, say. It must not cost the others.
                let error = DefaultsError.adoptionFailed(propertyList: propertyList, error, key: name)
                events.report(.init(kind: .adoptionFailed, error: error))
            }
        }
        return contents
    }
}

extension JournalBatch {
    /// Adds storing a value under a key, or removing the key.
    mutating func set(_ key: StoreKey, to value: StoredValue?) throws(JournalError) {
        try key.withBytes { key throws(JournalError) in
            guard let value else {
                return remove(key: key)
            }
            try value.withBytes { tag, rest in set(key: key, prefix: tag, value: rest) }
        }
    }
}
