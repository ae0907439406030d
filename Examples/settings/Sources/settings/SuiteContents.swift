import Default
import Foundation

/// All that is stored in a suite.
///
/// A list, since keys that differ in their bytes may be equal as Swift's strings ("é" as one scalar or as two).
struct SuiteContents {
    struct Entry {
        let key: String
        let value: PropertyListValue
    }

    var entries: [Entry]

    init(entries: [Entry]) {
        self.entries = entries
    }

    /// What a suite holds at one moment.
    init(of suite: FileDefaults) throws {
        // Without exclusive access, two keys that are always changed together could be seen at different times.
        entries = try suite.withExclusiveAccess {
            suite.storedKeys()
                .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                .compactMap { key in
                    suite.storedValue(forKey: key).map { Entry(key: key, value: $0) }
                }
        }
    }

    /// Throws when a suite can't hold one of these keys or values, so that no suite is made for them.
    func checkStorable() throws {
        let rehearsal = MemoryDefaults()
        for entry in entries {
            try rehearsal.setStoredValue(entry.value, forKey: entry.key)
        }
    }

    /// The value under a key, nil when there is none.
    func value(forKey key: String) -> PropertyListValue? {
        entries.first { $0.key.utf8.elementsEqual(key.utf8) }?.value
    }

    /// The keys that were set, changed or removed since.
    func keys(changedIn newer: SuiteContents) -> [String] {
        let changed = newer.keys(lostIn: self)
        let removed = entries.map(\.key).filter { newer.value(forKey: $0) == nil }
        return (changed + removed).sorted()
    }

    /// The keys whose values are not the same in other contents.
    func keys(lostIn other: SuiteContents) -> [String] {
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
    func isIdentical(to other: PropertyListValue) -> Bool {
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
