import Default
import Foundation
import TenantSettings

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let names = ["acme", "globex", "initech", "umbrella"].compactMap(TenantName.init)

struct Failure: Error {
    let description: String
}

/// The server's answer about a tenant.
struct Answer: Decodable {
    var greeting: String
    var revision: Int
}

struct Client {
    let server: URL

    /// Waits, for half a minute at most, until the server accepts connections.
    func waitForServer() async throws {
        for _ in 0..<300 {
            do {
                _ = try await settings(of: names[0])
                return
            } catch let error as URLError where error.code == .cannotConnectToHost {
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        throw Failure(description: "There is no server at \(server).")
    }

    func settings(of tenant: TenantName) async throws -> Answer {
        try await answer(to: URLRequest(url: url(of: tenant)))
    }

    func change(of tenant: TenantName, greeting: String) async throws -> Answer {
        var request = URLRequest(url: url(of: tenant))
        request.httpMethod = "PATCH"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(["greeting": greeting])
        return try await answer(to: request)
    }

    private func url(of tenant: TenantName) -> URL {
        server.appending(path: "tenants/\(tenant)/settings")
    }

    private func answer(to request: URLRequest) async throws -> Answer {
        let (data, response) = try await URLSession.shared.data(for: request)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else {
            throw Failure(description: "The server refused a request: \(response)")
        }
        return try JSONDecoder().decode(Answer.self, from: data)
    }
}

/// Changes a tenant's settings alternately through the server and in the suite itself, as an administrator's tool does.
func load(_ tenant: TenantName, of tenants: Tenants, rounds: Int, client: Client) async throws {
    var newest = 0
    for round in 0..<rounds {
        let answer = try await client.change(of: tenant, greeting: "Hello \(round)")
        try check(answer.revision > newest, "A change through the server was made to older settings.")
        let limits = try Limits.load(from: tenants.suite) ?? Limits()
        newest = try tenants.change(tenant, within: limits) { $0.greeting = "Good day \(round)" }.revision
        try check(newest > answer.revision, "A change in the suite was made to older settings.")
        let seen = try await client.settings(of: tenant).revision
        try check(seen >= newest, "The server did not see a change that was made before it was asked.")
    }
}

func check(_ isRight: Bool, _ complaint: String) throws {
    guard isRight else {
        throw Failure(description: complaint)
    }
}

enum Work {
    case load(rounds: Int)
    case count
}

/// The work that the arguments ask for; nil if the program has no such work.
func requested(_ arguments: [String]) -> (work: Work, server: URL)? {
    guard arguments.count >= 2, let server = URL(string: arguments[1]), server.scheme == "http", server.host() != nil
    else {
        return nil
    }
    switch (arguments[0], arguments.count) {
    case ("count", 2): return (.count, server)
    case ("load", 2): return (.load(rounds: 100), server)
    case ("load", 3): return Int(arguments[2]).flatMap { $0 > 0 ? (.load(rounds: $0), server) : nil }
    default: return nil
    }
}

func fail(_ message: String, status: Int32) -> Never {
    // If standard error itself can't be written, there is nowhere to report that.
    try? FileHandle.standardError.write(contentsOf: Data("\(message)\n".utf8))
    exit(status)
}

guard let (work, server) = requested(Array(CommandLine.arguments.dropFirst())) else {
    fail("Usage: LoadGenerator load URL [ROUNDS], or LoadGenerator count URL", status: 64)
}
let client = Client(server: server)
do {
    try await client.waitForServer()
    switch work {
    case .load(let rounds):
        let tenants = try Tenants.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in names {
                group.addTask { try await load(name, of: tenants, rounds: rounds, client: client) }
            }
            try await group.waitForAll()
        }
        print("\(2 * rounds * names.count) changes were accepted.")
    case .count:
        var total = 0
        for name in names {
            total += try await client.settings(of: name).revision
        }
        print("\(total) changes are stored.")
    }
} catch {
    fail("The load failed. \((error as? Failure)?.description ?? "\(error)")", status: 1)
}
