/// Describes how a loaded value differs from the stored one.
///
/// You get a report from ``DefaultStorable/loadWithReport(from:forKey:)``, and in the event that other reads send. A path is
/// the list of stored keys that lead to a value, joined with dots, with indexes behind arrays: "windows[2].width".
public struct LoadReport: Hashable, Sendable {
    /// A stored value that is missing from the loaded one.
    public struct UnusableValue: Hashable, Sendable {
        /// The path to the value.
        public let path: String
        /// Why it can't be used, as a clause without stored values: "is not of type Int".
        public let reason: String

        static let hasOldName = "has an old name, and there is a value with the new name"
        static let isUnknown = "is not a property of the type"
    }

    /// The paths of missing properties that were filled in from the type's ``DefaultStorable/defaultValue``, sorted.
    public let filledIn: [String]
    /// The stored values that could not be used, sorted by their paths.
    ///
    /// The next write quarantines the stored bytes before it replaces them; see ``DefaultStorable/quarantined(in:forKey:)``.
    public let unusable: [UnusableValue]
    /// The name of the ``DefaultMigratable/Previous`` type that the stored bytes belong to; nil when they belong to the type
    /// itself.
    public let migratedFrom: String?

    init(filledIn: [String] = [], unusable: [UnusableValue] = [], migratedFrom: String? = nil) {
        self.filledIn = filledIn.inOrder()
        self.unusable = unusable.inOrder { $0.path < $1.path }
        self.migratedFrom = migratedFrom
    }

    /// The path of some keys, of which indexes are in brackets.
    static func path(_ keys: some Sequence<String>) -> String {
        keys.reduce(into: "") { path, key in
            path += path.isEmpty || key.hasPrefix("[") ? key : "." + key
        }
    }

    /// Whether a part of the loaded value may come from a default; false if stored values were only left out.
    var isFilledIn: Bool {
        !filledIn.isEmpty
            || unusable.contains { ![UnusableValue.hasOldName, UnusableValue.isUnknown].contains($0.reason) }
    }

    /// Whether the loaded value has exactly the stored values.
    public var isEmpty: Bool { filledIn.isEmpty && unusable.isEmpty }
}
