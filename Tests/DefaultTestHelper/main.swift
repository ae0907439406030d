import Default
import Foundation

/// The settings type that tests share with this process; its coding is what both sides have in common.
struct SharedSettings: DefaultStorable {
    var themeName: String
    static var defaults: UserDefaults {
        UserDefaults(suiteName: CommandLine.arguments[2]) ?? .standard
    }
}

/// The same in the platform's standard store, as a program that chooses nothing has it.
struct StandardSettings: DefaultStorable {
    var themeName: String
}

switch CommandLine.arguments[1] {
case "read":
    print(SharedSettings.read()?.themeName ?? "nothing")
case "write":
    try SharedSettings(themeName: CommandLine.arguments[3]).save()
case "read-standard":
    print(StandardSettings.read()?.themeName ?? "nothing")
case "write-standard":
    StandardSettings(themeName: CommandLine.arguments[2]).write()
case "fetch":
    let suite = UserDefaults(suiteName: CommandLine.arguments[2]) ?? .standard
    for key in CommandLine.arguments.dropFirst(3) {
        print(suite.df.fetch(forKey: key, type: Int.self) ?? 0)
    }
case "write-nan":
    // For what the built-in handler of DefaultsDiagnostics prints.
    UserDefaults.standard.df.store(Double.nan, forKey: CommandLine.arguments[2])
case "own-handler":
    DefaultsDiagnostics.handler = { event in
        print(event.error.code, event.error.key ?? "")
        MemoryDefaults().df.store(Double.nan, forKey: "log")
    }
    MemoryDefaults().df.store(Double.nan, forKey: CommandLine.arguments[2])
    DefaultsDiagnostics.handler = nil
    print(DefaultsDiagnostics.handler == nil ? "removed" : "still there")
    MemoryDefaults().df.store(Double.nan, forKey: CommandLine.arguments[2])
default:
    print("DefaultTestHelper knows no \(CommandLine.arguments[1]).")
    exit(2)
}
