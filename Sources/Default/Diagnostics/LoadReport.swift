/// Describes how a loaded value differs from the stored one.
///
/// You get a report from ``DefaultStorable/loadWithReport(from:forKey:)``, and in the event that other reads send. A
/// path is the list of stored keys that lead to a value, joined with dots, with indexes behind arrays:
/// "windows[2].width".
public struct LoadReport: Equatable, Sendable {
    /// A stored value that is missing from the loaded one.
    public struct UnusableValue: Equatable, Sendable {
        /// The stored keys that lead to the value; indexes are in brackets.
        let keys: [String]
        /// Why it can't be used.
        public let reason: Reason

        /// The path to the value.
        public var path: String { LoadReport.path(keys) }

        /// Why a stored value can't be used; later versions may add cases.
        ///
        /// Types are given by their names.
        public indirect enum Reason: Hashable, Sendable {
            /// A part that its type needs is missing.
            case missing
            /// It is null, where a value of a type is needed.
            case null(neededType: String)
            /// It is of another type than the one that is needed.
            case wrongType(needed: String)
            /// It is not a case of an enum.
            case unknownCase(of: String)
            /// It is of the right kind, but its contents are not.
            case malformed
            /// An initializer rejected it with an error of this type.
            case rejected(error: String)
            /// It has a name that is not a key of a dictionary.
            case invalidKey(of: String)
            /// It is stored under a key that is equal to another one of its dictionary.
            case duplicateKey
            /// It has an old name of a property, and another value has the new name.
            case oldName
            /// It is not a property of the type.
            case unknown
            /// It is not a property of the type, and has no place in the value that replaces the stored one.
            case unplaced
            /// A part of it can't be used, to which these keys lead.
            case part([String], Reason)
        }

        init(keys: [String], reason: Reason) {
            self.keys = keys
            self.reason = reason
        }
    }

    /// The paths of missing properties that were filled in from the type's ``DefaultStorable/defaultValue``, sorted.
    public let filledIn: [String]
    /// The stored values that could not be used, sorted by their paths.
    ///
    /// The next write quarantines the stored bytes before it replaces them; see
    /// ``DefaultStorable/quarantined(in:forKey:)``.
    public let unusable: [UnusableValue]
    /// The name of the ``DefaultMigratable/Previous`` type that the stored bytes belong to; nil when they belong to the
    /// type itself.
    public let migratedFrom: String?

    init(filledIn: [String] = [], unusable: [UnusableValue] = [], migratedFrom: String? = nil) {
        self.filledIn = filledIn.sorted()
        self.unusable = unusable.sorted { $0.path < $1.path }
        self.migratedFrom = migratedFrom
    }

    /// The keys of a coding path; indexes are put into brackets.
    static func keys(of codingPath: some Sequence<any CodingKey>) -> [String] {
        codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
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
            || unusable.contains { ![UnusableValue.Reason.oldName, .unknown].contains($0.reason) }
    }

    /// Whether all stored values could be used and none was filled in; a migration may have changed them.
    public var isEmpty: Bool { filledIn.isEmpty && unusable.isEmpty }
}

extension LoadReport.UnusableValue.Reason: CustomStringConvertible {
    /// A clause without stored values: "is not of type Int".
    public var description: String {
        switch self {
        case .missing: "is missing"
        case .null(let type): "is null, where a value of type \(type) is needed"
        case .wrongType(let type): "is not of type \(type)"
        case .unknownCase(let type): "is not a case of \(type)"
        case .malformed: "is malformed"
        case .rejected(let error): "was rejected with \(error)"
        case .invalidKey(let type): "has a name that is not a key of \(type)"
        case .duplicateKey: "is equal to another key"
        case .oldName: "has an old name, and there is a value with the new name"
        case .unknown: "is not a property of the type"
        case .unplaced: "is not a property of the type, and has no place in the new value"
        case .part(let keys, let reason):
            "can't be used because \(LoadReport.path(keys).debugDescription) in it \(reason)"
        }
    }
}
