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
/// import DefaultConformance
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
/// import DefaultConformance
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
/// A check calls the store on a thread of its own while the calling thread waits, so that a store which waits for a
/// lock it already holds is a finding as well, and not a test run that never ends. Your closure runs on the calling
/// thread. Only checks that ask for ``Capabilities/threads`` call a store from several threads at once.
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
/// ### Checking a store with sources
///
/// - ``withSources(_:)``
/// - ``Sources``
/// - ``LayeredStoreProvider``
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

    /// Hands a fresh and empty store with sources to a body, and cleans up after it.
    public typealias LayeredStoreProvider =
        @Sendable (_ sources: Sources, _ body: (any DefaultsStore) throws -> Void) throws -> Void

    /// The store's abilities beyond those that every store must have.
    public private(set) var capabilities: Capabilities
    /// How long a check may take before it counts as one that never ends, in seconds; a minute unless you say
    /// otherwise.
    public let patience: Double

    let withStore: StoreProvider
    private(set) var withLayeredStore: LayeredStoreProvider = { _, _ in }

    /// Prepares the suite for stores that have to be cleaned up, such as those with files.
    ///
    /// - Parameters:
    ///   - capabilities: What the store can do beyond what every store must; the checks of other capabilities are left
    ///     out.
    ///   - patience: How many seconds a check may take. Nothing waits this long but a check of a store that waits for
    ///     itself.
    ///   - withStore: Makes a fresh and empty store, calls its argument with it once, and cleans up, also when that
    ///     throws.
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
    ///   - capabilities: What the store can do beyond what every store must; the checks of other capabilities are left
    ///     out.
    ///   - patience: How many seconds a check may take. Nothing waits this long but a check of a store that waits for
    ///     itself.
    ///   - makeStore: Makes a fresh and empty store.
    public init(
        capabilities: Capabilities = [],
        patience: Double = 60,
        makeStore: @escaping @Sendable () throws -> any DefaultsStore
    ) {
        self.init(capabilities: capabilities, patience: patience, withStore: { body in try body(makeStore()) })
    }

    /// Has stores with sources checked as well.
    ///
    /// ```swift
    /// import Default
    /// import DefaultConformance
    ///
    /// let conformance = StoreConformance(makeStore: { MemoryDefaults() })
    ///     .withSources { sources, body in
    ///         try body(MemoryDefaults(
    ///             mandatory: sources.mandatory,
    ///             overrides: sources.overrides,
    ///             fallbacks: sources.fallbacks
    ///         ))
    ///     }
    /// ```
    ///
    /// - Parameter withLayeredStore: Makes a fresh and empty store with some sources, calls its second argument with it
    ///   once, and cleans up, also when that throws.
    /// - Returns: The suite, with the capability ``Capabilities/sources``.
    public func withSources(_ withLayeredStore: @escaping LayeredStoreProvider) -> StoreConformance {
        var result = self
        result.capabilities.insert(.sources)
        result.withLayeredStore = withLayeredStore
        return result
    }
}

extension StoreConformance {
    /// Runs all checks, one after the other.
    ///
    /// - Returns: What was found, in the order of the checks; nothing for a store that keeps all promises.
    public func findings() -> [Finding] { Self.checks.flatMap(findings(of:)) }

    /// Runs one check.
    ///
    /// - Parameter check: The check, one of ``checks``.
    /// - Returns: What was found; nothing when the promise is kept, or when the check needs a capability that the store
    ///   does not claim.
    public func findings(of check: Check) -> [Finding] {
        guard check.requirements.isSubset(of: capabilities) else { return [] }
        let trial = Trial(of: check, in: self)
        check.body(trial)
        return trial.end()
    }
}

extension StoreConformance {
    /// Abilities that stores may lack, and that a store is checked for only when it is said to have them.
    public struct Capabilities: OptionSet, Sendable {
        /// The bits.
        public let rawValue: Int

        /// Creates a set of its bits.
        ///
        /// - Parameter rawValue: The bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// A transaction whose body throws rolls back what the body has changed.
        public static let rollback = Capabilities(rawValue: 1 << 0)

        /// Any number of threads may call one store at once, as they may when its type is `Sendable`.
        public static let threads = Capabilities(rawValue: 1 << 1)

        /// The closure that makes stores may be called again before it has ended, and makes another store then, with
        /// values and a description of its own.
        ///
        /// Not so for a store that has only one place to keep its values in, such as a device.
        public static let severalStores = Capabilities(rawValue: 1 << 2)

        /// The store notifies its observers itself: of changes made with `setStoredValue(_:forKey:)` as well, and not
        /// of those that a transaction took back.
        ///
        /// Not so for a store that leaves `observeChanges(_:)` to its default implementation, which knows of typed
        /// calls only.
        public static let ownChanges = Capabilities(rawValue: 1 << 3)

        /// The store takes sources.
        ///
        /// ``StoreConformance/withSources(_:)`` adds this.
        public static let sources = Capabilities(rawValue: 1 << 4)
    }

    /// The sources of a store that is checked.
    public struct Sources: Sendable {
        /// Those whose values can't be changed.
        public var mandatory: [any DefaultsSource] = []
        /// Those above what is stored.
        public var overrides: [any DefaultsSource] = []
        /// Those that count while nothing is stored.
        public var fallbacks: [any DefaultsSource] = []
    }

    /// A promise that a store does not keep.
    public struct Finding: Hashable, Sendable {
        /// The promise, a sentence; the ``Check/name`` of the check that found it broken.
        public let promise: String
        /// The actions of the check, the result that it expected and the one that it got, in full sentences.
        ///
        /// The values in them are the check's own.
        public let details: String
    }

    /// A promise of stores, and how to find out whether a store keeps it.
    ///
    /// ``StoreConformance/findings(of:)`` runs it. The checks don't depend on each other.
    public struct Check: Sendable {
        /// The promise, a sentence; no two checks have the same.
        public let name: String
        /// The capabilities without which the check is left out.
        public let requirements: Capabilities

        let body: @Sendable (Trial) -> Void

        init(_ name: String, requires requirements: Capabilities = [], body: @escaping @Sendable (Trial) -> Void) {
            self.name = name
            self.requirements = requirements
            self.body = body
        }

        /// A check with a store of its own.
        init(
            _ name: String,
            requires requirements: Capabilities = [],
            body: @escaping @Sendable (Trial, any DefaultsStore) throws -> Void
        ) {
            self.init(name, requires: requirements) { trial in trial.withStore { try body(trial, $0) } }
        }

        /// A check with two stores of its own.
        init(
            _ name: String,
            requires requirements: Capabilities = [],
            body: @escaping @Sendable (Trial, any DefaultsStore, any DefaultsStore) throws -> Void
        ) {
            self.init(name, requires: requirements) { trial in trial.withTwoStores { try body(trial, $0, $1) } }
        }
    }

    /// All checks, those of optional capabilities included.
    ///
    /// Later versions add to them.
    public static var checks: [Check] {
        Check.ofValues + Check.ofRefusals + Check.ofUpperLayers + Check.ofExclusiveAccess + Check.ofObservers
            + Check.ofIdentity + Check.ofSources
    }
}

extension StoreConformance.Finding: CustomStringConvertible {
    /// The promise and the details.
    public var description: String { "Promised: \(promise) Found: \(details)" }
}

extension StoreConformance.Check: CustomStringConvertible {
    /// The name.
    public var description: String { name }
}
