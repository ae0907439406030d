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
    guard let port = Int(text) else {
        print("\(text.debugDescription) is not a port number.")
        exit(64)
    }
    try HTTPSettings.update { $0.port = port }
}
print(
    "host \(config.string(forKey: "http.host", default: "none")), port \(config.int(forKey: "http.port", default: 0))"
)
