import Default
import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import Testing

@testable import SettingsPage

/// What the server refuses, whatever a browser would do.
struct ServerTests {
    @Test("The printed address gives a cookie that scripts can't read and other sites don't send, and policies")
    func firstCall() async throws {
        try await RunningPage.with { page throws in
            let answer = try page.send("GET \(page.place)?secret=\(page.token)", cookie: .none)
            #expect(answer.status == 200)
            let cookie = try #require(answer.headers["set-cookie"])
            #expect(
                cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict")
                    && cookie.contains("Path=\(page.place);")
            )
            let policy = try #require(answer.headers["content-security-policy"])
            #expect(policy.contains("default-src 'none'") && !policy.contains("unsafe"))
            #expect(
                answer.headers["x-content-type-options"] == "nosniff" && answer.headers["cache-control"] == "no-store"
            )
            #expect(answer.headers["referrer-policy"] == "no-referrer")
        }
    }

    @Test("Nothing is there without the secret, with another one, or with a part of it")
    func secret() async throws {
        try await RunningPage.with { page throws in
            for path in ["", "page.js", "api/events?suite=shop", "?secret=guess", "?secret=\(page.token.dropLast())"] {
                #expect(try page.send("GET \(page.place)\(path)", cookie: .none).status == 403, "\(path)")
            }
            for cookie in ["", "x", String(page.token.dropLast()), page.token + "0"] {
                #expect(try page.post("open", #"{"suite": "shop"}"#, cookie: .other(cookie)).status == 403)
            }
            #expect(try page.send("GET /", cookie: .none).status == 403)
            #expect(try page.post("open", #"{"suite": "shop"}"#).status == 200)
        }
    }

    @Test("A request for another host's name, or by another site's script, is refused")
    func names() async throws {
        try await RunningPage.with { page throws in
            for host in ["evil.example", "evil.example:\(page.port)", "127.0.0.1", "127.0.0.1:1"] {
                #expect(try page.send("GET \(page.place)", host: host).status == 421, "\(host)")
            }
            for origin in ["http://evil.example", "http://127.0.0.1:1", "null", "https://127.0.0.1:\(page.port)"] {
                let answer = try page.post("open", #"{"suite": "shop"}"#, headers: ["Origin": origin])
                #expect(answer.status == 403, "\(origin)")
            }
            let own = ["Origin": "http://127.0.0.1:\(page.port)"]
            #expect(try page.post("open", #"{"suite": "shop"}"#, headers: own).status == 200)
        }
    }

    @Test("What a form can send is refused, and so is a write to a page that only reads")
    func forms() async throws {
        let edit =
            #"{"suite": "shop", "edits": [{"key": "a", "action": "set", "value": {"form": "string", "text": "b"}}]}"#
        try await RunningPage.with { page throws in
            #expect(try page.post("edit", edit, headers: ["X-Settings-Page": ""]).status == 403)
            #expect(try page.post("edit", edit, headers: ["Content-Type": "text/plain"]).status == 415)
            #expect(page.suite.memory.storedKeys().isEmpty)
            #expect(try page.post("edit", edit).status == 200)
            #expect(page.suite.memory.string(forKey: "a") == "b")
        }
        try await RunningPage.with(isWritable: false) { page throws in
            #expect(try page.post("edit", edit).status == 403)
            #expect(try page.post("undo", #"{"suite": "shop", "token": 1}"#).status == 403)
            #expect(page.suite.memory.storedKeys().isEmpty)
        }
    }

    @Test("A request that is too large, malformed, or of an unknown kind gets a sentence and changes nothing")
    func limits() async throws {
        try await RunningPage.with { page throws in
            let large = String(repeating: " ", count: PageLimits.bodySize + 1)
            #expect(try page.post("open", large).status == 413)
            #expect(try page.post("open", "{").status == 400)
            #expect(try page.post("open", #"{"suite": "../shop"}"#).status == 422)
            #expect(try page.post("nothing", "{}").status == 404)
            #expect(try page.send("PUT \(page.place)").status == 405)
            #expect(try page.send("GET \(page.place)../../etc/passwd").status == 404)
            let header = String(repeating: "a", count: 32 << 10)
            #expect(try page.send("GET \(page.place)", headers: ["X-Large": header]).status != 200)
            #expect(try page.send("GET \(page.place)").status == 200)
        }
    }

    @Test("There are no more streams at once than are allowed, and a closed one makes room")
    func streams() async throws {
        try await RunningPage.with { page throws in
            var open: [Connection] = []
            for _ in 0..<PageLimits.streams { open.append(try page.stream()) }
            #expect(try page.send("GET \(page.place)api/events?suite=shop").status == 429)
        }
    }

    @Test(
        "Strangers who leave hundreds of requests unfinished keep nobody out who knows the secret",
        .timeLimit(.minutes(2))
    )
    func strangers() async throws {
        try await RunningPage.with { page throws in
            let before = try page.stream()
            var open: [Connection] = []
            for number in 0..<300 {
                let connection = try Connection(port: page.port)
                connection.write("POST \(page.place)api/open HTTP/1.1\r\nHost: 127.0.0.1:\(page.port)\r\nX-\(number): ")
                open.append(connection)
                if number % 50 == 49 { #expect(try page.send("GET \(page.place)").status == 200) }
            }
            // Few are open at once. What was sent after them has come, so all of them have been admitted.
            #expect(try page.send("GET \(page.place)").status == 200)
            #expect(open.count { $0.isOpen } <= 3 * PageLimits.strangers)
            // The last ones go by themselves, and all others have gone for those that came after them.
            for connection in open { #expect(connection.readToEnd() == "") }
            // Who was in before still is.
            try page.suite.memory.set("red", forKey: "color")
            var line = before.readLine()
            while line.hasPrefix("event: ") == false { line = before.readLine() }
            #expect(line.hasPrefix("event: "))
        }
    }

    @Test("The server ends although streams are open")
    func end() async throws {
        let open = Mutex<Connection?>(nil)
        try await RunningPage.with { page throws in
            let connection = try page.stream()
            open.withLock { $0 = connection }
            try page.suite.memory.set("red", forKey: "color")
        }
        let rest = open.withLock { $0 }?.readToEnd() ?? ""
        #expect(rest.contains("event: reload"))
    }
}

/// A page over a suite in memory, served for as long as a body runs.
struct RunningPage: Sendable {
    let suite: MemorySuite
    let port: Int
    let place: String
    let token: String

    static func with(isWritable: Bool = true, _ body: @escaping @Sendable (RunningPage) throws -> Void) async throws {
        let suite = MemorySuite()
        var page = SettingsPage(of: SingleSuite(suite, name: "shop"))
        page.isWritable = isWritable
        let secret = page.secret
        let (addresses, continuation) = AsyncStream.makeStream(of: URL.self)
        page.onReady = { continuation.yield($0) }
        let logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        let group = ServiceGroup(services: [page], logger: logger)
        async let service: Void = group.run()
        var iterator = addresses.makeAsyncIterator()
        let address = try #require(await iterator.next())
        let running = RunningPage(
            suite: suite,
            port: try #require(address.port),
            place: "/\(secret.place)/",
            token: secret.token
        )
        // Its calls wait, which the threads that run the server must not, nor those of Dispatch, which it uses too.
        let result = await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: Result { try body(running) }) }.start()
        }
        await group.triggerGracefulShutdown()
        try await service
        try result.get()
    }

    enum Cookie {
        case right, none
        case other(String)
    }

    struct Answer {
        let status: Int
        let headers: [String: String]
    }

    /// Sends a request whose beginning is given, without what a browser would do of its own.
    func send(
        _ beginning: String,
        host: String? = nil,
        cookie: Cookie = .right,
        headers: [String: String] = [:],
        body: String = ""
    ) throws -> Answer {
        let connection = try Connection(port: port)
        connection.write(request(beginning, host: host, cookie: cookie, headers: headers, body: body))
        let text = connection.readToEnd()
        let lines = text.prefix(while: { $0 != "\0" }).components(separatedBy: "\r\n\r\n")[0].components(
            separatedBy: "\r\n"
        )
        let fields = lines.dropFirst().map { $0.split(separator: ":", maxSplits: 1) }.filter { $0.count == 2 }
        return Answer(
            status: Int(lines[0].split(separator: " ").dropFirst().first ?? "") ?? 0,
            headers: Dictionary(
                fields.map { ($0[0].lowercased(), $0[1].trimmingCharacters(in: .whitespaces)) },
                uniquingKeysWith: { first, _ in first }
            )
        )
    }

    func post(_ name: String, _ body: String, cookie: Cookie = .right, headers: [String: String] = [:]) throws -> Answer
    {
        let all = ["X-Settings-Page": "1", "Content-Type": "application/json"].merging(headers) { $1 }
        return try send("POST \(place)api/\(name)", cookie: cookie, headers: all, body: body)
    }

    /// A stream of events that has begun.
    func stream() throws -> Connection {
        let connection = try Connection(port: port)
        let beginning = "GET \(place)api/events?suite=shop"
        connection.write(request(beginning, host: nil, cookie: .right, headers: [:], body: "", isStream: true))
        try #require(connection.readLine() == "HTTP/1.1 200 OK")
        return connection
    }

    private func request(
        _ beginning: String,
        host: String?,
        cookie: Cookie,
        headers: [String: String],
        body: String,
        isStream: Bool = false
    ) -> String {
        var lines = [
            "\(beginning) HTTP/1.1", "Host: \(host ?? "127.0.0.1:\(port)")", "Content-Length: \(body.utf8.count)",
        ]
        switch cookie {
        case .right: lines.append("Cookie: other=1; settings-\(port)=\(token)")
        case .other(let value): lines.append("Cookie: settings-\(port)=\(value)")
        case .none: break
        }
        if !isStream { lines.append("Connection: close") }
        lines += headers.map { "\($0): \($1)" }
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
    }
}

/// A connection to this machine.
final class Connection: Sendable {
    /// How long it is read from, so that a test without the answer that it expects fails and doesn't hang.
    private static let seconds = 120

    private let descriptor: Int32
    private let end = ContinuousClock.now + .seconds(seconds)

    init(port: Int) throws {
        #if canImport(Darwin)
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let status = withUnsafeBytes(of: &address) { bytes in
            connect(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
        }
        try #require(status == 0)
        var limit = timeval(tv_sec: Self.seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        close(descriptor)
    }

    func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            // Without a signal when the server has closed the connection.
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    private func read() -> UInt8? {
        var byte: UInt8 = 0
        // A stream of events sends something all the time.
        if ContinuousClock.now < end {
            let count = recv(descriptor, &byte, 1, 0)
            if count >= 0 || errno != EAGAIN { return count == 1 ? byte : nil }
        }
        Issue.record("The expected answer did not come within \(Self.seconds) seconds.")
        return nil
    }

    /// Whether the server has not closed it; without waiting.
    var isOpen: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) != 0
    }

    func readLine() -> String {
        var line: [UInt8] = []
        while let byte = read(), byte != UInt8(ascii: "\n") { line.append(byte) }
        return String(decoding: line, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    func readToEnd() -> String {
        var text: [UInt8] = []
        while let byte = read() { text.append(byte) }
        return String(decoding: text, as: UTF8.self)
    }
}
