/// Hashes of the reports about stored values, so that each is made once; they are bounded, and a report that was
/// forgotten is made again.
struct ReportedReads {
    private struct Report: Equatable {
        /// A hash of the store, the key and the type.
        let subject: Int
        let reason: Int
        /// The bit of the key if the value could not be read; otherwise 0, and the report is never removed.
        let unreadableKey: UInt64
    }

    private var reports: [Report] = []

    /// The bits of all keys with a value that could not be read.
    private(set) var unreadableKeys: UInt64 = 0

    /// The number of reports that are remembered; when there is one more, all others are forgotten.
    private static let capacity = 4_096

    /// One of 64 bits; keys may have the same one.
    static func bit(of key: String) -> UInt64 { 1 << UInt64(truncatingIfNeeded: key.hashValue & 63) }

    /// Remembers a report; returns false if it is remembered already.
    mutating func insert(_ context: ErrorContext, reason: Int, isUnreadable: Bool = false) -> Bool {
        let key = isUnreadable ? Self.bit(of: context.key ?? "") : 0
        let report = Report(subject: Self.subject(of: context), reason: reason, unreadableKey: key)
        guard !reports.contains(report) else { return false }
        if reports.count >= Self.capacity {
            reports.removeAll()
            unreadableKeys = 0
        }
        reports.append(report)
        unreadableKeys |= key
        return true
    }

    /// Forgets that a value could not be read.
    mutating func removeUnreadable(_ context: ErrorContext) {
        let subject = Self.subject(of: context)
        reports.removeAll { $0.subject == subject && $0.unreadableKey != 0 }
        unreadableKeys = reports.reduce(0) { $0 | $1.unreadableKey }
    }

    private static func subject(of context: ErrorContext) -> Int {
        var hasher = Hasher()
        hasher.combine(context.store)
        hasher.combine(StoreKey(unchecked: context.key ?? ""))
        hasher.combine(context.type.map { ObjectIdentifier($0) })
        return hasher.finalize()
    }
}
