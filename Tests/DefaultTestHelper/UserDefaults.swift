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
    case "store-registered":
        try printOwnValues(ofSuite: arguments[0])
    default:
        refuseAction()
    }
}

/// Prints what a suite itself has after its registered values are set, and after an export and an import.
private func printOwnValues(ofSuite name: String) throws {
    guard let suite = UserDefaults(suiteName: name) else { exit(1) }
    func line(_ values: [String: Any]?) -> String {
        (values ?? [:]).compactMap { entry in (entry.value as? Int).map { "\(entry.key) \($0)" } }
            .sorted().joined(separator: ", ")
    }
    suite.register(defaults: ["key": 1, "optional": 1, "registered": 1])
    Defaults(suite: suite)[DefaultsKey<Int>("key", default: 0)] = 1
    Defaults(suite: suite)[DefaultsKey<Int?>("optional")] = 1
    print("set:", line(suite.persistentDomain(forName: name)))
    let settings = SharedSettings(themeName: "dark")
    suite.register(defaults: [SharedSettings.defaultIdentifier: try DefaultsCoder.json.encode(settings)])
    try settings.save(to: suite)
    print("saved:", suite.persistentDomain(forName: name)?[SharedSettings.defaultIdentifier] != nil)
    suite.removeObject(forKey: SharedSettings.defaultIdentifier)
    try suite.setStoredValue(2, forKey: "hidden")
    suite.setVolatileDomain(["hidden": 3], forName: UserDefaults.argumentDomain)
    let copy = MemoryDefaults()
    try copy.importJSON(suite.exportJSON())
    print("exported:", line(copy.dictionaryRepresentation()))
    try suite.importJSON(Data(#"{"hidden": 4, "registered": 5}"#.utf8), conflicts: .keepExisting)
    print("imported:", line(suite.persistentDomain(forName: name)))
    let old = MemoryDefaults()
    try settings.save(to: old)
    print("moved:", try SharedSettings.move(from: old, to: suite))
    let count = DefaultsKey<Int>("count", default: 0)
    for key in [SharedSettings.defaultIdentifier, "count"] { try suite.setStoredValue("unusable", forKey: key) }
    let hiding: [String: Any] = [SharedSettings.defaultIdentifier: Data(), "count": 1]
    suite.setVolatileDomain(hiding, forName: UserDefaults.argumentDomain)
    try settings.save(to: suite)
    Defaults(suite: suite)[count] += 1
    let quarantined = try SharedSettings.quarantined(in: suite) + Defaults(suite: suite).quarantined(count)
    print("quarantined:", quarantined.count)
    let standard = UserDefaults.standard
    try standard.setStoredValue(2, forKey: "hidden")
    standard.setVolatileDomain(["hidden": 3], forName: UserDefaults.argumentDomain)
    Defaults(suite: standard)[DefaultsKey<Int>("registered", default: 0)] = 1
    let own = ["hidden", "registered", "key"].map { "\($0) \(standard.ownValue(forKey: $0)?.object ?? "none")" }
    print("standard:", own.joined(separator: ", "))
}
#else
func runWithUserDefaults() throws { refuseAction() }
#endif

func refuseAction() {
    print("DefaultTestHelper knows no \(CommandLine.arguments[1]).")
    exit(2)
}
