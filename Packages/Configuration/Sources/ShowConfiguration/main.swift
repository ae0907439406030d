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

if let text = CommandLine.arguments.dropFirst().first {
    guard let port = UInt16(text), port > 0 else {
        let complaint = "\(text.debugDescription) is not a port. Give a number from 1 to 65535.\n"
        try FileHandle.standardError.write(contentsOf: Data(complaint.utf8))
        exit(64)
    }
    try HTTPSettings.update { $0.port = Int(port) }
}
print(
    "host \(config.string(forKey: "http.host", default: "none")), port \(config.int(forKey: "http.port", default: 0))"
)
