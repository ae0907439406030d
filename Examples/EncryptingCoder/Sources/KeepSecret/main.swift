import Default
import EncryptingCoder
import Foundation

/// The secret of the program.
struct AccessToken: DefaultStorable {
    var token: String

    static var defaultCoder: DefaultsCoder {
        .encrypting(for: "AccessToken") { try keyFile.key() }
    }
}

extension Defaults.Keys {
    /// The key of a single secret, which needs no type: the key has the coder.
    static let hint = Key<String?>("hint", coder: .encrypting(for: "hint") { try keyFile.key() })
}

/// In the directory for data, away from the suite, which is configuration: a copy of one doesn't include the other.
let keyFile: KeyFile = {
    let environment = ProcessInfo.processInfo.environment
    func folder(_ variable: String) -> URL? {
        // The specification of these variables has paths that aren't absolute ignored.
        environment[variable].flatMap { $0.hasPrefix("/") ? URL(filePath: $0, directoryHint: .isDirectory) : nil }
    }
    // `URL.homeDirectory` is the home of the user's account, whatever HOME says.
    let home = folder("HOME") ?? URL.homeDirectory
    let data = folder("XDG_DATA_HOME") ?? home.appending(path: ".local/share")
    return KeyFile(url: data.appending(path: "KeepSecret/key"))
}()

func fail(_ message: String, status: Int32) -> Never {
    // If standard error itself can't be written, there is nowhere to report that.
    try? FileHandle.standardError.write(contentsOf: Data("\(message)\n".utf8))
    exit(status)
}

do {
    switch CommandLine.arguments.dropFirst().first {
    case "set":
        guard let token = readLine(), !token.isEmpty else {
            fail("Give the token on standard input.", status: 64)
        }
        try keyFile.createIfMissing()
        try AccessToken(token: token).save()
        print("Kept the token in \(AccessToken.defaults.storeDescription), encrypted by \(keyFile.url.path).")
    case "show":
        guard let secret = try AccessToken.load() else {
            fail("No token is kept.", status: 1)
        }
        print(secret.token)
    case "hint":
        let words = CommandLine.arguments.dropFirst(2)
        if words.isEmpty {
            print(try Defaults.load(.hint) ?? "No hint is kept.")
        } else {
            try keyFile.createIfMissing()
            try Defaults.save(words.joined(separator: " "), for: .hint)
        }
    default:
        fail("Usage: KeepSecret set < token, KeepSecret show, or KeepSecret hint [WORDS]", status: 64)
    }
} catch {
    // The error of the coder is the cause of the library's error, which doesn't print it: other coders' errors may
    // contain values.
    let cause = (error as? DefaultsError)?.underlyingError
    let failure = cause as? DecryptionFailure as (any Error)? ?? cause as? KeyFile.Failure
    fail("The token can't be kept or shown. \(failure ?? error)", status: 1)
}
