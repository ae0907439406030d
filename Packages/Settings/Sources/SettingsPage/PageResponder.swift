import Default
import Dispatch
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import SettingsValues

/// Answers requests: the page's files, and what it asks for.
struct PageResponder: HTTPResponder {
    typealias Context = PageContext

    let suites: LiveSuites
    let isWritable: Bool
    let secret: PageSecret
    let port: BoundPort
    let gate: ConnectionGate
    private let requests = Gauge(limit: PageLimits.requests)
    private let streams = Gauge(limit: PageLimits.streams)

    init(suites: LiveSuites, isWritable: Bool, secret: PageSecret, port: BoundPort, gate: ConnectionGate) {
        self.suites = suites
        self.isWritable = isWritable
        self.secret = secret
        self.port = port
        self.gate = gate
    }

    func respond(to request: Request, context: Context) async throws -> Response {
        let guarding = PageGuard(secret: secret, port: port.value)
        var response =
            if let refusal = guarding.refusal(of: request) {
                refusal
            } else if let channel = context.channel, !gate.recognize(channel) {
                Response.text(.tooManyRequests, "There are too many connections at once.")
            } else if let ticket = requests.enter() {
                await answer(request, ticket)
            } else {
                Response.text(.tooManyRequests, "There are too many requests at once.")
            }
        guarding.protect(&response, to: request)
        return response
    }

    private func answer(_ request: Request, _ ticket: Gauge.Ticket) async -> Response {
        defer { withExtendedLifetime(ticket) {} }
        let path = request.uri.path
        let prefix = "/\(secret.place)/"
        guard path.hasPrefix(prefix) else { return .text(.notFound, "There is nothing here.") }
        let name = String(path.dropFirst(prefix.count))
        do {
            if request.method == .get {
                if name == "api/events" { return try await events(request) }
                return PageFile(name)?.response ?? .text(.notFound, "There is nothing here.")
            }
            return try await answer(name, body: body(of: request))
        } catch let refusal as Refusal {
            return .text(refusal.status, refusal.text)
        } catch {
            return .text(.unprocessableContent, "\(error)")
        }
    }

    /// Answers what the page asks for.
    private func answer(_ name: String, body: Data) async throws -> Response {
        switch name {
        case "api/suites":
            return try await json { SuitesAnswer(suites: try suites.source.suites(), isWritable: isWritable) }
        case "api/open":
            let wanted = try decode(SuiteRequest.self, body)
            return try await json { try suites.suite(wanted.suite).snapshot() }
        case "api/value":
            let wanted = try decode(ValueRequest.self, body)
            return try await json { try detail(wanted) }
        case "api/image":
            let wanted = try decode(ValueRequest.self, body)
            return try await onThread { try image(wanted) }
        case "api/condition":
            let wanted = try decode(SuiteRequest.self, body)
            return try await json {
                let suite = try suites.suite(wanted.suite).suite
                return ConditionAnswer(
                    notes: suite.condition(),
                    quarantined: QuarantinedRow.all(in: suite.store, hiding: suites.hidden)
                )
            }
        case "api/edit" where isWritable:
            let wanted = try decode(EditRequest.self, body)
            guard wanted.edits.count <= PageLimits.edits else {
                throw Refusal(.contentTooLarge, "At most \(PageLimits.edits) changes can be stored at once.")
            }
            return try await json { try suites.suite(wanted.suite).editor.apply(wanted.edits) }
        case "api/undo" where isWritable:
            let wanted = try decode(UndoRequest.self, body)
            return try await json { try suites.suite(wanted.suite).editor.undo(wanted.token) }
        case "api/edit", "api/undo":
            throw Refusal(.forbidden, "This page only reads. Start the server with --write to change values.")
        default:
            throw Refusal(.notFound, "There is nothing here.")
        }
    }

    private func detail(_ wanted: ValueRequest) throws -> ValueDetail {
        let suite = try suites.suite(wanted.suite).suite
        let store = suite.store
        guard let value = store.storedValue(forKey: wanted.key) ?? suite.declaredValues[wanted.key],
            var detail = ValueDetail(
                value,
                forKey: wanted.key,
                own: store.ownValue(forKey: wanted.key),
                path: wanted.path ?? [],
                offset: wanted.offset ?? 0,
                hiding: suites.hidden
            )
        else {
            throw Refusal(.notFound, "The value is not there any more.")
        }
        let origins = store.origins(forKey: wanted.key)
        if wanted.path?.isEmpty ?? true, origins.contains(where: { $0.kind != .stored }) {
            var values = OriginValues(of: store)
            detail.origins = origins.enumerated().map { index, origin in
                guard index > 0 else { return ValueDetail.Origin(text: "from \(origin.shown)", preview: nil) }
                let value = (try? values.value(origin, forKey: wanted.key)) ?? nil
                let visible = value.flatMap { suites.hidden.visiblePart(of: $0, forKey: wanted.key).value }
                let preview = visible.map { Preview(ShownValue(.value($0))).text }
                return ValueDetail.Origin(text: "hides \(origin.shown)", preview: preview)
            }
        }
        return detail
    }

    private func image(_ wanted: ValueRequest) throws -> Response {
        let suite = try suites.suite(wanted.suite).suite
        guard let value = suite.store.storedValue(forKey: wanted.key),
            case .data(let data)? = suites.hidden.visiblePart(of: value, forKey: wanted.key).value,
            let type = data.imageType
        else {
            throw Refusal(.notFound, "There is no picture any more.")
        }
        return Response(
            status: .ok,
            headers: [.contentType: type],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: data))
        )
    }

    private func events(_ request: Request) async throws -> Response {
        guard let id = request.uri.queryParameters["suite"]?.removingPercentEncoding else {
            throw Refusal(.badRequest, "Which suite?")
        }
        let after = request.headers[.lastEventID] ?? request.uri.queryParameters["after"].map(String.init) ?? ""
        guard let ticket = streams.enter() else {
            throw Refusal(.tooManyRequests, "Too many pages are open.")
        }
        let suite = try await onThread { try suites.suite(id) }
        return EventStream(suite: suite, after: after, ticket: ticket).response
    }

    // MARK: Bodies

    /// A body that arrives in time.
    private func body(of request: Request) async throws -> Data {
        guard request.headers[.contentType]?.hasPrefix("application/json") == true else {
            throw Refusal(.unsupportedMediaType, "A request's body is JSON.")
        }
        return try await withThrowingTaskGroup(of: Data?.self) { group in
            group.addTask {
                do {
                    return Data(try await request.body.collect(upTo: PageLimits.bodySize).readableBytesView)
                } catch is NIOTooManyBytesError {
                    throw Refusal(.contentTooLarge, "This is larger than what can be stored from the page.")
                }
            }
            group.addTask {
                try await Task.sleep(for: PageLimits.bodyTime)
                return nil
            }
            defer { group.cancelAll() }
            guard let body = try await group.next() ?? nil else {
                throw Refusal(.requestTimeout, "The request took too long.")
            }
            return body
        }
    }

    private func decode<Body: Decodable>(_ type: Body.Type, _ data: Data) throws -> Body {
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            throw Refusal(.badRequest, "The request is not what this server understands.")
        }
    }

    private func json(_ answer: @escaping @Sendable () throws -> some Encodable & SendableMetatype) async throws
        -> Response
    {
        let data = try await onThread { try JSONEncoder.page.encode(answer()) }
        return Response(
            status: .ok,
            headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: data))
        )
    }

    /// Runs what may wait for files, locks or a network outside of the threads that run tasks.
    private func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Swift.Result { try body() })
            }
        }
    }
}

/// What is known of a request besides itself: the connection that it came on.
struct PageContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: (any Channel)?

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

/// A request that can't be answered, and why.
private struct Refusal: Error {
    let status: HTTPResponse.Status
    let text: String

    init(_ status: HTTPResponse.Status, _ text: String) {
        self.status = status
        self.text = text
    }
}

// What the page sends and gets.

private struct SuiteRequest: Decodable {
    let suite: String
}

private struct ValueRequest: Decodable {
    let suite: String
    let key: String
    let path: [Int]?
    let offset: Int?
}

private struct EditRequest: Decodable {
    let suite: String
    let edits: [Edit]
}

private struct UndoRequest: Decodable {
    let suite: String
    let token: Int
}

private struct SuitesAnswer: Encodable {
    let suites: [SuiteSummary]
    let isWritable: Bool
}

private struct ConditionAnswer: Encodable {
    let notes: [ConditionNote]
    let quarantined: [QuarantinedRow]
}

extension JSONEncoder {
    /// Dates as milliseconds, which browsers count in.
    static var page: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .millisecondsSince1970
        return encoder
    }
}

extension HTTPField.Name {
    fileprivate static var lastEventID: Self { .init("last-event-id")! }
}
