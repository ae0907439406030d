package import Default
import Foundation

/// All that is stored in a suite.
///
/// A list, since keys that differ in their bytes may be equal as Swift's strings ("é" as one scalar or as two).
package struct SuiteContents {
    package struct Entry {
        package let key: String
        package let value: PropertyListValue

        package init(key: String, value: PropertyListValue) {
            self.key = key
            self.value = value
        }
    }

    package var entries: [Entry]

    package init(entries: [Entry]) {
        self.entries = entries
    }

    /// What a suite holds at one moment.
    package init(of suite: FileDefaults) throws {
        // Read one by one, two keys that are always changed together could be seen at different times.
        let values = try suite.dictionaryRepresentation().mapValues(PropertyListValue.init(object:))
        let keys = suite.storedKeys()
        if keys.count == values.count {
            entries = values.map { Entry(key: $0, value: $1) }
        } else {
            // Keys that are equal as strings count once in a dictionary. A copy changes no more.
            entries = try TemporaryDirectory.with { directory in
                try suite.copy(to: directory.appending(path: "copy"))
                let copy = try FileDefaults(readingFrom: directory.appending(path: "copy"))
                return copy.storedKeys().compactMap { key in
                    copy.storedValue(forKey: key).map { Entry(key: key, value: $0) }
                }
            }
        }
        entries.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    /// Throws when a suite can't hold one of these keys or values, so that no suite is made for them.
    package func checkStorable() throws {
        let rehearsal = MemoryDefaults()
        for entry in entries {
            do {
                try rehearsal.setStoredValue(entry.value, forKey: entry.key)
            } catch {
                // The store is none that a person knows.
                throw ToolError("\(error)".replacing(" in \(rehearsal.storeDescription)", with: ""))
            }
        }
    }

    /// The value under a key, nil when there is none.
    package func value(forKey key: String) -> PropertyListValue? {
        entries.first { $0.key.utf8.elementsEqual(key.utf8) }?.value
    }

    /// The contents without hidden values, at whatever depth, and how many values of the suite are missing or changed.
    package func omitting(_ hidden: KeyPatterns) -> (contents: SuiteContents, count: Int) {
        var count = 0
        let remaining = entries.compactMap { entry -> Entry? in
            switch hidden.visiblePart(of: entry.value, forKey: entry.key, .omitted) {
            case .all: return entry
            case .rest(let value):
                count += 1
                return Entry(key: entry.key, value: value)
            case .nothing:
                count += 1
                return nil
            }
        }
        return (SuiteContents(entries: remaining), count)
    }

    /// The keys whose values are not the same in other contents.
    package func keys(lostIn other: SuiteContents) -> [String] {
        var others: [[UInt8]: PropertyListValue] = [:]
        for entry in other.entries {
            others[Array(entry.key.utf8)] = entry.value
        }
        return entries.compactMap { entry in
            let isKept = others[Array(entry.key.utf8)].map { entry.value.isIdentical(to: $0) } ?? false
            return isKept ? nil : entry.key
        }
    }
}

extension PropertyListValue {
    /// Whether two values are the same, the sign of zero and NaN included.
    package func isIdentical(to other: PropertyListValue) -> Bool {
        switch (self, other) {
        case (.real(let one), .real(let two)):
            one.isIdentical(to: two)
        case (.date(let one), .date(let two)):
            one.timeIntervalSinceReferenceDate.isIdentical(to: two.timeIntervalSinceReferenceDate)
        case (.array(let one), .array(let two)):
            one.count == two.count && zip(one, two).allSatisfy { $0.isIdentical(to: $1) }
        case (.dictionary(let one), .dictionary(let two)):
            one.count == two.count && one.allSatisfy { key, value in two[key].map(value.isIdentical) ?? false }
        default:
            self == other
        }
    }
}

extension Double {
    fileprivate func isIdentical(to other: Double) -> Bool {
        isNaN && other.isNaN || bitPattern == other.bitPattern
    }
}
