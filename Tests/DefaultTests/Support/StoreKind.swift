import Default
import Foundation

/// The stores that every test of store behaviour runs over.
enum StoreKind: CaseIterable, Sendable {
    case memory
    case userDefaults

    /// Runs a test on an empty store of this kind, which is gone afterwards.
    func withStore(_ test: (any DefaultsStore) throws -> Void) throws {
        switch self {
        case .memory:
            try test(MemoryDefaults())
        case .userDefaults:
            try withTemporarySuite { name in
                guard let suite = UserDefaults(suiteName: name) else {
                    throw CocoaError(.fileNoSuchFile)
                }
                try test(suite)
            }
        }
    }
}

/// Runs a test with the name of a `UserDefaults` suite of its own, which is removed afterwards.
func withTemporarySuite<Result>(_ test: (String) throws -> Result) throws -> Result {
    let name = TestHome.makeSuiteName()
    defer { UserDefaults(suiteName: name)?.removePersistentDomain(forName: name) }
    return try test(name)
}
