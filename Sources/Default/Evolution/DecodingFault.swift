/// Why a value can't be used, for reports.
enum DecodingFault {
    /// The reason for a value at fault, or for a container of it.
    ///
    /// - Parameters:
    ///   - error: The error of decoding it.
    ///   - depth: The number of keys that lead to the container.
    /// - Returns: A clause without stored values.
    static func reason(_ error: any Error, at depth: Int) -> String {
        let (path, reason): ([any CodingKey], String) =
            switch error {
            case DecodingError.keyNotFound(let key, let context):
                (context.codingPath + [key], "is missing")
            case DecodingError.valueNotFound(let type, let context):
                (context.codingPath, "is null, where a value of type \(type) is needed")
            case DecodingError.typeMismatch(let type, let context):
                (context.codingPath, "is not of type \(type)")
            case DecodingError.dataCorrupted(let context):
                (context.codingPath, "is malformed")
            default:
                ([], "was rejected with \(type(of: error))")
            }
        let inner = path.dropFirst(depth).map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
        return inner.isEmpty
            ? reason : "can't be used because \(LoadReport.path(inner).debugDescription) in it \(reason)"
    }
}
