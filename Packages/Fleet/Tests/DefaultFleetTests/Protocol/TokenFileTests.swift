import Foundation
import Testing

@testable import DefaultFleet

@Suite("A file with a token")
struct TokenFileTests {
    private func read(_ text: String) async throws -> String {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("token")
            try Data(text.utf8).write(to: file)
            return try EtcdCluster.User(tokenFile: file.path).readSecret()
        }
    }

    @Test(
        "may have spaces and line ends around the token",
        arguments: ["a.b-c_1", "a.b-c_1\n\n", " a.b-c_1\r\n\r\n\t"]
    )
    func around(text: String) async throws {
        #expect(try await read(text) == "a.b-c_1")
    }

    @Test(
        "in which the token is not one word is refused, with an error that doesn't have the token",
        arguments: ["first\nsecond", "first second", "first\u{7F}second", "first\u{E9}second", "\n"]
    )
    func inside(text: String) async throws {
        await #expect {
            _ = try await read(text)
        } throws: { error in
            !"\(error)".contains("first") && !"\(error)".contains("second") && "\(error)".contains("one word")
        }
    }
}
