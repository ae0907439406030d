/// What had to be changed in a stored value so that it fits its type.
///
/// You get one from ``DefaultStorable/loadWithReport(from:forKey:)``, and in the event that the other ways to read a value send.
/// Paths are the keys on the way to a value, as they are stored, joined with dots.
public struct LoadReport: Hashable, Sendable {
    /// A stored value that the loaded one doesn't hold.
    public struct UnusableValue: Hashable, Sendable {
        /// Where it is.
        public let path: String
        /// Why it can't be used, as a clause without stored values: "is not of type Int".
        public let reason: String
    }

    /// The properties that were missing, and filled in from the type's ``DefaultStorable/defaultValue``; sorted.
    public let filledIn: [String]
    /// The stored values that could not be used, sorted by their paths.
    ///
    /// The next write quarantines the bytes before it replaces them; see ``DefaultStorable/quarantined(in:forKey:)``.
    public let unusable: [UnusableValue]
    /// The name of the ``DefaultMigratable/Previous`` type that the stored bytes were of, nil when they were of the type
    /// itself.
    public let migratedFrom: String?

    init(filledIn: [String] = [], unusable: [UnusableValue] = [], migratedFrom: String? = nil) {
        self.filledIn = filledIn
        self.unusable = unusable
        self.migratedFrom = migratedFrom
    }

    /// Whether everything that is stored is in the loaded value, and nothing else.
    public var isEmpty: Bool { filledIn.isEmpty && unusable.isEmpty }
}
