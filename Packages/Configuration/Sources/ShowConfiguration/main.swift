import Configuration
import ConfigurationProvider
import Default
import Foundation

/// Settings that the program itself stores.
struct HTTPSettings: DefaultStorable {
    var host = "127.0.0.1"
    var port = 8080

    static var defaultIdentifier: String { "http" }
    static var defaultValue: HTTPSettings? { HTTPSettings() }
}

let config = ConfigReader(providers: [
    EnvironmentVariablesProvider(),
    SuiteProvider(FileDefaults.standard),
])

func fail(_ message: String, status: Int32) -> Never {
    // If standard error itself can't be written, there is nowhere to report that.
    try? FileHandle.standardError.write(contentsOf: Data("\(message)\n".utf8))
    exit(status)
}

if let text = CommandLine.arguments.dropFirst().first {
    guard let port = UInt16(text), port > 0 else {
        fail("\(text.debugDescription) is not a port. Give a number from 1 to 65535.", status: 64)
    }
    do {
        try HTTPSettings.update { $0.port = Int(port) }
    } catch {
        fail("The port can't be stored. \(error)", status: 1)
    }
}
do {
    // `config.int` would take the default for a value that isn't a number.
    let port = try await config.fetchInt(forKey: "http.port", default: 0)
    print("host \(config.string(forKey: "http.host", default: "none")), port \(port)")
} catch {
    fail("The configuration can't be used. \(error)", status: 78)
}
