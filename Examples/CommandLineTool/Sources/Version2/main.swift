import Default

let arguments = Array(CommandLine.arguments.dropFirst())

do {
    switch (arguments.first, arguments.count) {
    case ("show", 1):
        let settings = try NotesSettings.load() ?? NotesSettings()
        print("signature: \(settings.signature)")
        print("font size: \(settings.fontSize)")
        print("theme: \(settings.theme)")
        print("recent files: \(settings.recentFiles.joined(separator: ", "))")
    case ("signature", 2):
        try NotesSettings.update { $0.signature = arguments[1] }
    case ("font-size", 2):
        guard let size = Int(arguments[1]) else {
            fail("\(arguments[1].debugDescription) is not a size.", status: 64)
        }
        try NotesSettings.update { $0.fontSize = size }
    case ("theme", 2):
        try NotesSettings.update { $0.theme = arguments[1] }
    case ("open", 2):
        try NotesSettings.update { $0.recentFiles.append(arguments[1]) }
    default:
        fail("Usage: notes-v2 show | signature NAME | font-size SIZE | theme NAME | open FILE", status: 64)
    }
} catch {
    fail("\(error)", status: 1)
}
