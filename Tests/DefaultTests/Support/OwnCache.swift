import Testing

@testable import Default

/// A trait that gives each test its own cache of decoded values.
///
/// The cache of the process has a limited number of slots, which types and keys share by chance, and tests with the
/// same type and key replace each other's entries.
struct OwnCacheTrait: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        #if DEBUG
        try await DecodedValueCache.$ofTest.withValue(DecodedValueCache()) { try await function() }
        #else
        try await function()
        #endif
    }
}

extension Trait where Self == OwnCacheTrait {
    /// Gives each test its own cache, for tests that count decodings; see ``OwnCacheTrait``.
    static var ownCache: Self { Self() }
}
