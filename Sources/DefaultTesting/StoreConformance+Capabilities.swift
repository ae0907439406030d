extension StoreConformance {
    /// What stores may leave out, and which a store is checked for only when it is said to have it.
    public struct Capabilities: OptionSet, Sendable {
        /// The bits.
        public let rawValue: Int

        /// Creates a set of its bits.
        ///
        /// - Parameter rawValue: The bits.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// A transaction whose body throws rolls back what the body has changed.
        public static let rollback = Capabilities(rawValue: 1 << 0)

        /// Any number of threads may call one store at once, as they may when its type is `Sendable`.
        public static let threads = Capabilities(rawValue: 1 << 1)

        /// The closure that makes stores may be called again before it has ended, and makes another store then, with
        /// values and a description of its own.
        ///
        /// Not so for a store that has only one place to keep its values in, such as a device.
        public static let severalStores = Capabilities(rawValue: 1 << 2)

        /// The store notifies its observers itself: of changes made with `setStoredValue(_:forKey:)` as well, and not of
        /// those that a transaction took back.
        ///
        /// Not so for a store that leaves `observeChanges(_:)` to its default implementation, which knows of typed calls only.
        public static let ownChanges = Capabilities(rawValue: 1 << 3)
    }
}
