internal import DefaultJournal
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Imports the values that Foundation stored under a suite's name, so that a program that moves from `UserDefaults` to
/// `FileDefaults` finds its settings.
///
/// This happens once, when a suite without entries is opened. A mark in the journal, written together with the values,
/// records it. The property list is left unchanged, for programs that still use it.
enum FoundationImport {
    /// Imports a property list's values, if there is one and the suite is new.
    ///
    /// - Throws: When the values can't be written. A property list that can't be read is reported and left unchanged.
    static func run(
        from propertyList: URL?,
        into suite: OpenSuite,
        events: DeferredEvents
    ) throws(DefaultsError) {
        guard let propertyList, isNew(suite), let entries = entries(of: propertyList, events: events) else { return }
        do {
            try suite.journal.withExclusiveAccess {
                // Another process may have imported the values in the meantime.
                guard isNew(suite) else { return }
                var batch = JournalBatch()
                for (name, entry) in entries {
                    do {
                        try batch.add(entry.get(), named: name)
                    } catch {
                        // Foundation accepts keys and values that this library doesn't, such as the empty key. The
                        // other keys are still imported.
                        let error = DefaultsError.importFailed(propertyList: propertyList, error, key: name)
                        events.report(.init(kind: .importFailed, error: error))
                    }
                }
                batch.set(StoreKey(unchecked: importMark), to: StoredValue(.boolean(true)))
                try suite.journal.append(batch)
            }
        } catch let error as JournalError {
            throw .failing(error, in: suite.journal.path)
        } catch {
            throw .wrapping(error, ErrorContext(key: propertyList.lastPathComponent, store: suite.journal.path))
        }
    }

    /// The key of the mark; no caller's key begins with NUL.
    private static let importMark = "\0imported"

    private static func isNew(_ suite: OpenSuite) -> Bool {
        suite.journal.lockForReading()
        defer { suite.journal.unlockForReading() }
        return suite.journal.entries.count == 0
    }

    private static func entries(
        of propertyList: URL,
        events: DeferredEvents
    ) -> [String: Result<PropertyListValue, any Error>]? {
        guard FileManager.default.fileExists(atPath: propertyList.path) else { return nil }
        do {
            let data = try Data(contentsOf: propertyList)
            // Bytes that aren't safe may take exponential time: each use of a shared object is a copy in a suite.
            guard BinaryPropertyList.isSafe(data) else { throw CocoaError(.propertyListReadCorrupt) }
            return try PropertyListFile.entries(of: data)
        } catch {
            events.report(.init(kind: .importFailed, error: .importFailed(propertyList: propertyList, error)))
            return nil
        }
    }
}

extension JournalBatch {
    /// Adds a value that Foundation stored.
    fileprivate mutating func add(_ value: PropertyListValue, named name: String) throws {
        let key = try StoreKey(FoundationKey.key(forName: name))
        let value = StoredValue(value)
        guard value.byteCount <= DefaultJournal.Operation.maximumValue else {
            throw PropertyListValue.UnsupportedObject(reason: "The value is larger than 64 MiB", path: "")
        }
        set(key, to: value)
    }

    /// Adds an operation that stores a value under a key, or removes the key.
    mutating func set(_ key: StoreKey, to value: StoredValue?) {
        key.withUTF8 { utf8 in
            let key = UnsafeRawBufferPointer(utf8)
            guard let value else { return remove(key: key) }
            value.withBytes { tag, rest in set(key: key, prefix: tag, value: rest) }
        }
    }
}
