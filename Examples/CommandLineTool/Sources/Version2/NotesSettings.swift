import Default

/// The settings of version 2: `author` became `signature`, `fontSize` a number, and `theme` is new.
struct NotesSettings: DefaultStorable {
    var signature = "nobody"
    var fontSize = 12
    var theme = "light"
    var recentFiles: [String] = []

    static var defaults: FileDefaults { Suite.notes }
    static var defaultValue: NotesSettings? { NotesSettings() }
}

// Reading what version 1 stored. What is written is the new form alone.
extension NotesSettings {
    private enum OldKeys: String, CodingKey {
        case author
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let old = try decoder.container(keyedBy: OldKeys.self)
        signature =
            try container.decodeIfPresent(String.self, forKey: .signature)
            ?? old.decodeIfPresent(String.self, forKey: .author)
            ?? signature
        theme = try container.decodeIfPresent(String.self, forKey: .theme) ?? theme
        recentFiles = try container.decodeIfPresent([String].self, forKey: .recentFiles) ?? recentFiles
        if let text = try? container.decode(String.self, forKey: .fontSize) {
            // A size that version 1 let through and that is no number: better the default than nothing at all.
            fontSize = Int(text) ?? fontSize
        } else {
            fontSize = try container.decodeIfPresent(Int.self, forKey: .fontSize) ?? fontSize
        }
    }
}
