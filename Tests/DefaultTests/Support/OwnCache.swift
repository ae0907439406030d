import Testing

@testable import Default

/// Gives each test a cache of decoded values of its own.
///
/// That of the process has a limited number of slots, which types and keys share by chance, and tests that use the same
/// type and key replace each other's entries.
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
    /// For tests that count decodings; see ``OwnCacheTrait``.
    static var ownCache: Self { Self() }
}
