import Default

/// The settings of version 1.
struct NotesSettings: DefaultStorable {
    var author = "anonymous"
    var fontSize = "12"
    var recentFiles: [String] = []

    static var defaults: FileDefaults { Suite.notes }
    static var defaultValue: NotesSettings? { NotesSettings() }
}
