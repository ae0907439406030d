public import Default

/// Finds out whether a store keeps the promises of `DefaultsStore`: the suite that this library's own stores pass.
///
/// It depends on no test framework: it calls the store, and returns a ``Finding`` for each broken promise. Every check
/// gets a fresh and empty store from the closure that you give it.
///
/// In Swift Testing, one test for each check, so that a failure has its name:
///
/// ```swift
/// import Default
/// import DefaultTesting
/// import Foundation
/// import Testing
///
/// @Suite("The vault")
/// struct VaultTests {
///     static let conformance = StoreConformance(
///         capabilities: [.threads, .severalStores]
///     ) { body in
///         let directory = FileManager.default.temporaryDirectory
///             .appendingPathComponent(UUID().uuidString)
///         defer { try? FileManager.default.removeItem(at: directory) }
///         try body(Vault(directory: directory))
///     }
///
///     @Test("is a store like any other", arguments: StoreConformance.checks)
///     func promise(check: StoreConformance.Check) {
///         #expect(Self.conformance.findings(of: check) == [])
///     }
/// }
/// ```
///
/// In XCTest:
///
/// ```swift
/// import Default
/// import DefaultTesting
/// import XCTest
///
/// final class VaultTests: XCTestCase {
///     func testConformance() {
///         let conformance = StoreConformance(
///             capabilities: [.threads, .severalStores],
///             makeStore: { Vault() }
///         )
///         for finding in conformance.findings() {
///             XCTFail(finding.description)
///         }
///     }
/// }
/// ```
///
/// A check calls the store on a thread of its own while the calling thread waits, so that a store which waits for a lock
/// it already holds is a finding as well, and not a test run that never ends. Your closure runs on the calling thread.
/// Only checks that ask for ``Capabilities/threads`` call a store from several threads at once.
///
/// ## Topics
///
/// ### Checking a store
///
/// - ``init(capabilities:patience:makeStore:)``
/// - ``init(capabilities:patience:withStore:)``
/// - ``findings()``
/// - ``Finding``
///
/// ### Single checks
///
/// - ``checks``
/// - ``Check``
/// - ``findings(of:)``
///
/// ### What the store can do, and how long it may take
///
/// - ``capabilities-swift.property``
/// - ``Capabilities-swift.struct``
/// - ``patience``
/// - ``StoreProvider``
public struct StoreConformance: Sendable {
    /// Hands a fresh and empty store to a body, and cleans up after it.
    public typealias StoreProvider = @Sendable (_ body: (any DefaultsStore) throws -> Void) throws -> Void

    /// What the store can do beyond what every store must.
    public let capabilities: Capabilities
    /// How long a check may take before it counts as one that never ends, in seconds; a minute unless you say otherwise.
    public let patience: Double

    let withStore: StoreProvider

    /// Prepares the suite for stores that have to be cleaned up, such as those with files.
    ///
    /// - Parameters:
    ///   - capabilities: What the store can do beyond what every store must; the checks of other capabilities are left out.
    ///   - patience: How many seconds a check may take. Nothing waits this long but a check of a store that waits for itself.
    ///   - withStore: Makes a fresh and empty store, calls its argument with it once, and cleans up, also when that throws.
    public init(
        capabilities: Capabilities = [],
        patience: Double = 60,
        withStore: @escaping StoreProvider
    ) {
        self.capabilities = capabilities
        self.patience = patience
        self.withStore = withStore
    }

    /// Prepares the suite for stores that go when nothing refers to them any more.
    ///
    /// - Parameters:
    ///   - capabilities: What the store can do beyond what every store must; the checks of other capabilities are left out.
    ///   - patience: How many seconds a check may take. Nothing waits this long but a check of a store that waits for itself.
    ///   - makeStore: Makes a fresh and empty store.
    public init(
        capabilities: Capabilities = [],
        patience: Double = 60,
        makeStore: @escaping @Sendable () throws -> any DefaultsStore
    ) {
        self.init(capabilities: capabilities, patience: patience, withStore: { body in try body(makeStore()) })
    }
}

extension StoreConformance {
    /// Runs all checks, one after the other.
    ///
    /// - Returns: What was found, in the order of the checks; nothing for a store that keeps all promises.
    public func findings() -> [Finding] {
        Self.checks.flatMap(findings(of:))
    }

    /// Runs one check.
    ///
    /// - Parameter check: The check, one of ``checks``.
    /// - Returns: What was found; nothing when the promise is kept, or when the check needs a capability that the store
    ///   does not claim.
    public func findings(of check: Check) -> [Finding] {
        guard check.requirements.isSubset(of: capabilities) else {
            return []
        }
        let trial = Trial(of: check, in: self)
        check.body(trial)
        return trial.end()
    }
}
