/// What a browser has to know to use the page: a secret place, which its cookie is bound to, and the cookie's value.
///
/// Cookies go to all servers of a host, whatever their port; other users' servers on this machine don't know the place.
public struct PageSecret: Sendable {
    let place: String
    let token: String

    /// A new secret, from the system's random numbers.
    public static func random() -> PageSecret {
        var generator = SystemRandomNumberGenerator()
        func digits(_ count: Int) -> String {
            (0..<count).map { _ in String(UInt8.random(in: 0..<16, using: &generator), radix: 16) }.joined()
        }
        return PageSecret(place: digits(16), token: digits(32))
    }

    private init(place: String, token: String) {
        self.place = place
        self.token = token
    }

    /// A secret that stays the same when the server is started again.
    ///
    /// - Parameter text: At least 32 letters, digits, hyphens and underscores, which nobody can guess; nil for any
    ///   other text.
    public init?(_ text: String) {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"): true
            default: false
            }
        }
        guard isPlain, text.utf8.count >= 32 else { return nil }
        self.init(place: String(text.prefix(text.count / 3)), token: String(text.dropFirst(text.count / 3)))
    }

    /// Compares a text with the token, in a time that doesn't depend on where they differ.
    func isToken(_ text: some StringProtocol) -> Bool {
        let (given, expected) = (Array(text.utf8), Array(token.utf8))
        guard given.count == expected.count else { return false }
        return zip(given, expected).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
