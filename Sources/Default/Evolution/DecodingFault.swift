/// The location and reason of a decoding error, for reports.
struct DecodingFault {
    private let path: [any CodingKey]
    private let reason: String

    init(_ error: any Error) {
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            path = context.codingPath + [key]
            reason = "is missing"
        case DecodingError.valueNotFound(let type, let context):
            path = context.codingPath
            reason = "is null, where a value of type \(type) is needed"
        case DecodingError.typeMismatch(let type, let context):
            path = context.codingPath
            reason = "is not of type \(type)"
        case DecodingError.dataCorrupted(let context):
            path = context.codingPath
            reason = "is malformed"
        default:
            path = []
            reason = "was rejected with \(Swift.type(of: error))"
        }
    }

    /// The reason for a value at fault, or for a container of it.
    ///
    /// - Parameter depth: The number of keys that lead to the container.
    /// - Returns: A clause without stored values.
    func reason(at depth: Int) -> String {
        let inner = path.dropFirst(depth).map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
        return inner.isEmpty
            ? reason : "can't be used because \(LoadReport.path(inner).debugDescription) in it \(reason)"
    }
}

/// A coding key with any name or index.
struct PathKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }
}
