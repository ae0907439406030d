import Default

let arguments = Array(CommandLine.arguments.dropFirst())

do {
    switch (arguments.first, arguments.count) {
    case ("show", 1):
        // Not read(), which returns the default for settings that can't be decoded: the user asked for the stored ones.
        let settings = try NotesSettings.load() ?? NotesSettings()
        print("author: \(settings.author)")
        print("font size: \(settings.fontSize)")
        print("recent files: \(settings.recentFiles.joined(separator: ", "))")
    case ("author", 2):
        try NotesSettings.update { $0.author = arguments[1] }
    case ("font-size", 2):
        try NotesSettings.update { $0.fontSize = arguments[1] }
    case ("open", 2):
        try NotesSettings.update { $0.recentFiles.append(arguments[1]) }
    default:
        fail("Usage: notes-v1 show | author NAME | font-size SIZE | open FILE", status: 64)
    }
} catch {
    fail("\(error)", status: 1)
}
