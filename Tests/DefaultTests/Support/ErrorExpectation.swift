import Default
import Testing

/// Expects a `DefaultsError` with a code, and returns it for further checks.
@discardableResult
func expectError<Result>(
    _ code: DefaultsError.Code,
    _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation,
    from body: () throws -> Result
) -> DefaultsError? {
    let error = #expect(throws: DefaultsError.self, comment, sourceLocation: sourceLocation) { _ = try body() }
    #expect(error?.code == code, comment, sourceLocation: sourceLocation)
    return error
}

/// One invalid key of each kind.
let keysThatNoStoreTakes = [
    "", "a\0b", "\0", String(repeating: "k", count: 65_536), String(repeating: "é", count: 32_768),
]
