internal import Default

extension StoreConformance {
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
        Check.ofValues + Check.ofChanges + Check.ofKeys + Check.ofRefusals + Check.ofUpperLayers
            + Check.ofExclusiveAccess + Check.ofTransactions + Check.ofThreads + Check.ofObservers
            + Check.ofMirroring + Check.ofIdentity
    }
}

extension StoreConformance.Check: CustomStringConvertible {
    /// The name.
    public var description: String { name }
}
