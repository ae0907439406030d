import Default

/// The settings of version 2: `author` became `signature`, `fontSize` a number, and `theme` is new.
struct NotesSettings: DefaultStorable {
    var signature = "anonymous"
    var fontSize = 12
    var theme = "light"
    var recentFiles: [String] = []

    static var defaults: FileDefaults { Suite.notes }
    /// The default value, from which settings that were stored without a theme get one.
    static var defaultValue: NotesSettings? { NotesSettings() }
}

/// The settings of version 1, unchanged.
struct NotesSettingsV1: Codable {
    var author: String
    var fontSize: String
    var recentFiles: [String]
}

extension NotesSettings: DefaultMigratable {
    static var schemaVersion: Int { 2 }

    init(migrating previous: NotesSettingsV1) {
        signature = previous.author
        // Version 1 accepted any text as a size; if it is not a number, the default is better than nothing.
        fontSize = Int(previous.fontSize) ?? fontSize
        recentFiles = previous.recentFiles
    }
}
