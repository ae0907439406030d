extension StoreConformance {
    /// A promise that a store does not keep.
    public struct Finding: Hashable, Sendable {
        /// The promise, a sentence; the ``Check/name`` of the check that found it broken.
        public let promise: String
        /// What the check did, what it expected and what it got, in full sentences.
        ///
        /// The values in them are the check's own.
        public let details: String
    }
}

extension StoreConformance.Finding: CustomStringConvertible {
    /// The promise and the details.
    public var description: String { "Promised: \(promise) Found: \(details)" }
}
