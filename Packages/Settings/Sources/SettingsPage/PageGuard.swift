import Foundation
import HTTPTypes
import Hummingbird

/// Decides which requests are answered.
///
/// Each check holds off an attack of its own, and all of them are made.
struct PageGuard {
    /// A header that no form and no simple request of another site can have.
    static let requestHeader = HTTPField.Name("x-settings-page")

    let secret: PageSecret
    let port: Int

    private var cookieName: String { "settings-\(port)" }
    private var hosts: [String] { ["127.0.0.1:\(port)", "localhost:\(port)"] }

    /// What a request gets instead of an answer; nil for one that may have it.
    func refusal(of request: Request) -> Response? {
        // A name that was rebound to this machine has another site's scripts behind it.
        guard let host = request.head.authority, hosts.contains(host) else {
            return .text(.misdirectedRequest, "This server is called \(hosts[0]).")
        }
        if let origin = request.headers[.origin], origin != "http://\(host)" {
            return .text(.forbidden, "Another site's scripts may not use this page.")
        }
        guard hasCookie(request) || isFirstCall(request) else {
            return .text(
                .forbidden,
                "Open the address that was printed when the server was started: it has a secret in it."
            )
        }
        if request.method == .post {
            guard let name = Self.requestHeader, request.headers[name] == "1" else {
                return .text(.forbidden, "A form may not use this page.")
            }
        } else if request.method != .get {
            return .text(.methodNotAllowed, "There is only GET and POST.")
        }
        return nil
    }

    /// What each response has, whatever it is.
    func protect(_ response: inout Response, to request: Request) {
        response.headers[.contentSecurityPolicy] = """
            default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
            base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'
            """
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.cacheControl] = "no-store"
        let policies = [
            "cross-origin-opener-policy": "same-origin", "cross-origin-resource-policy": "same-origin",
            "referrer-policy": "no-referrer",
        ]
        for (name, value) in policies {
            if let name = HTTPField.Name(name) { response.headers[name] = value }
        }
        if isFirstCall(request), response.status == .ok {
            response.headers[.setCookie] =
                "\(cookieName)=\(secret.token); Path=/\(secret.place)/; HttpOnly; SameSite=Strict"
        }
    }

    private func hasCookie(_ request: Request) -> Bool {
        request.headers[values: .cookie].flatMap { $0.split(separator: ";") }.contains { cookie in
            let parts = cookie.split(separator: "=", maxSplits: 1)
            return parts.count == 2 && parts[0].trimmingCharacters(in: .whitespaces) == cookieName
                && secret.isToken(parts[1])
        }
    }

    /// Whether this is the address that was printed.
    private func isFirstCall(_ request: Request) -> Bool {
        request.method == .get && request.uri.path == "/\(secret.place)/"
            && request.uri.queryParameters["secret"].map(secret.isToken) == true
    }
}

extension Response {
    static func text(_ status: HTTPResponse.Status, _ text: String) -> Response {
        Response(
            status: status,
            headers: [.contentType: "text/plain; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text + "\n"))
        )
    }
}
