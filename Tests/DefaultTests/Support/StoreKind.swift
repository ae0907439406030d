import Default
import Foundation

/// The stores that every test of store behaviour runs over.
enum StoreKind: CaseIterable, Sendable {
    case memory
    case userDefaults
    case file

    /// The kinds that the library was built with.
    static let allCases: [StoreKind] =
        userDefaults(named: "any") == nil ? [.memory, .file] : [.memory, .userDefaults, .file]

    /// The number of writes by each of eight threads in concurrent tests: for a UserDefaults, Foundation rewrites the
    /// suite's file each time, and looks at all suites of the process.
    var rounds: Int { self == .userDefaults ? 10 : 50 }

    /// Runs a test on an empty store of this kind, which is removed afterwards.
    func withStore(_ test: (any DefaultsStore) throws -> Void) throws {
        switch self {
        case .memory:
            try test(MemoryDefaults())
        case .userDefaults:
            try withTemporarySuite { name in
                guard let suite = Self.userDefaults(named: name) else {
                    throw CocoaError(.fileNoSuchFile)
                }
                try test(suite)
            }
        case .file:
            try withTemporaryDirectory { directory in
                try test(FileDefaults(url: directory.appending(path: "suite.defaults")))
            }
        }
    }
}

extension StoreKind {
    #if Foundation
    private static func userDefaults(named name: String) -> (any DefaultsStore)? { UserDefaults(suiteName: name) }
    #else
    /// Returns nil, since this form of the library has no such store.
    private static func userDefaults(named name: String) -> (any DefaultsStore)? { nil }
    #endif

    /// Runs a test in which an empty store of this kind replaces the standard one.
    func withStandardStore(_ test: (any DefaultsStore) throws -> Void) throws {
        try withStore { store in
            try withDefaults(store) { try test(store) }
        }
    }
}

/// Runs a test with its own empty directory, which is removed afterwards.
func withTemporaryDirectory<Result>(_ test: (URL) throws -> Result) throws -> Result {
    let directory = try makeTemporaryDirectory()
    defer { removeDirectory(atPath: directory.path) }
    return try test(directory)
}

/// Runs a test with the name of its own `UserDefaults` suite, which is removed afterwards.
func withTemporarySuite<Result>(_ test: (String) throws -> Result) throws -> Result {
    let name = TestHome.makeSuiteName()
    defer { UserDefaults(suiteName: name)?.removePersistentDomain(forName: name) }
    return try test(name)
}

// The same methods for asynchronous tests.
extension StoreKind {
    func withStore(_ test: (any DefaultsStore) async throws -> Void) async throws {
        switch self {
        case .memory:
            try await test(MemoryDefaults())
        case .userDefaults:
            try await withTemporarySuite { name in
                guard let suite = Self.userDefaults(named: name) else {
                    throw CocoaError(.fileNoSuchFile)
                }
                try await test(suite)
            }
        case .file:
            try await withTemporaryDirectory { directory in
                try await test(FileDefaults(url: directory.appending(path: "suite.defaults")))
            }
        }
    }
}

func withTemporaryDirectory<Result>(_ test: (URL) async throws -> Result) async throws -> Result {
    let directory = try makeTemporaryDirectory()
    defer { removeDirectory(atPath: directory.path) }
    return try await test(directory)
}

func withTemporarySuite<Result>(_ test: (String) async throws -> Result) async throws -> Result {
    let name = TestHome.makeSuiteName()
    defer { UserDefaults(suiteName: name)?.removePersistentDomain(forName: name) }
    return try await test(name)
}

private func makeTemporaryDirectory() throws -> URL {
    let directory = TestHome.directory.appending(path: UUID().uuidString, directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    return directory
}
