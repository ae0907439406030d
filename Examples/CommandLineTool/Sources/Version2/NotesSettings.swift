import Default

/// The settings of version 2: `author` became `signature`, `fontSize` a number, and `theme` is new.
struct NotesSettings: DefaultStorable {
    var signature = "nobody"
    var fontSize = 12
    var theme = "light"
    var recentFiles: [String] = []

    static var defaults: FileDefaults { Suite.notes }
    /// What gives a theme to settings that were stored without one.
    static var defaultValue: NotesSettings? { NotesSettings() }
}

/// The settings of version 1, as they were.
struct NotesSettingsV1: Codable {
    var author: String
    var fontSize: String
    var recentFiles: [String]
}

extension NotesSettings: DefaultMigratable {
    static var schemaVersion: Int { 2 }

    init(migrating previous: NotesSettingsV1) {
        signature = previous.author
        // A size that version 1 let through and that is no number: better the default than nothing at all.
        fontSize = Int(previous.fontSize) ?? fontSize
        recentFiles = previous.recentFiles
    }
}
