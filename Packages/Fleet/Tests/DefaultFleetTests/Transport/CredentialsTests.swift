import Foundation
import Synchronization
import Testing

@testable import DefaultFleet

@Suite("Credentials")
struct CredentialsTests {
    @Test("that were refused are tried again at once when the password's file has changed, and not before")
    func changedFile() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("password")
            try Data("old\n".utf8).write(to: file)
            let credentials = Credentials(user: .init(name: "shop", passwordFile: file.path))
            let passwords = Mutex<[String]>([])
            func token() async throws -> String? {
                try await onThread { () throws(EtcdClient.Failure) in
                    try credentials.token(until: Deadline(after: .seconds(20))) { _, password, _ in
                        passwords.withLock { $0.append(password) }
                        guard password == "new" else {
                            return .failure(.refused(EtcdRefusal(message: "invalid user ID or password")))
                        }
                        return .success("token")
                    }
                }
            }
            for _ in 0..<2 {
                await #expect(throws: EtcdClient.Failure.self) { try await token() }
            }
            #expect(passwords.withLock { $0 } == ["old"])
            try Data("new".utf8).write(to: file)
            #expect(try await token() == "token")
            #expect(passwords.withLock { $0 } == ["old", "new"])
        }
    }

    @Test("wait longer for a member after an answer that was late, since members with much to do answer later")
    func growingLimit() async throws {
        let credentials = Credentials(user: .init(name: "shop", password: "open"))
        let limits = Mutex<[Duration]>([])
        try await eventually("the third attempt has a token") {
            let result = await onThread {
                Result { () throws(EtcdClient.Failure) in
                    try credentials.token(until: Deadline(after: .seconds(20))) { _, _, limit in
                        let count = limits.withLock { limits in
                            limits.append(limit)
                            return limits.count
                        }
                        return count < 3 ? .failure(.unanswered("late")) : .success("token")
                    }
                }
            }
            return (try? result.get()) == "token"
        }
        #expect(limits.withLock { $0 } == [.seconds(10), .seconds(20), .seconds(40)])
    }
}
