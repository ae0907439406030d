import Default
import Foundation

#if Foundation
/// A settings type that the tests declare too, with the same coding.
struct SharedSettings: DefaultStorable {
    var themeName: String
    static var defaults: UserDefaults {
        UserDefaults(suiteName: CommandLine.arguments[2]) ?? .standard
    }
}

/// Runs the actions that need `UserDefaults` as a store.
func runWithUserDefaults() throws {
    switch CommandLine.arguments[1] {
    case "read":
        print(SharedSettings.read()?.themeName ?? "nothing")
    case "write":
        try SharedSettings(themeName: arguments[1]).save()
    case "failing-synchronize":
        try SharedSettings(themeName: "bright").save()
        // Replaces Foundation's directory by a file, so that nothing can be written there.
        let configuration = (ProcessInfo.processInfo.environment["HOME"] ?? "") + "/.config"
        try FileManager.default.removeItem(atPath: configuration)
        try Data().write(to: URL(filePath: configuration))
        print(codeOf { try SharedSettings(themeName: "dark").save() })
        print(SharedSettings.read()?.themeName ?? "nothing")
    case "fetch":
        let suite = UserDefaults(suiteName: arguments[0]) ?? .standard
        for key in arguments.dropFirst() {
            print(suite.df.fetch(forKey: key, type: Int.self) ?? 0)
        }
    default:
        refuseAction()
    }
}
#else
func runWithUserDefaults() throws { refuseAction() }
#endif

func refuseAction() {
    print("DefaultTestHelper knows no \(CommandLine.arguments[1]).")
    exit(2)
}
