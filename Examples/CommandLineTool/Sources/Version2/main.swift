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
    case ("prompt", 1):
        // read() never throws: what can't be read is reported on standard error, and the default used. That is right
        // where the program can go on without its settings; where it would store them again, use load() or update().
        print("\(NotesSettings.read()?.signature ?? "anonymous")>")
    case ("reset", 1):
        // write() replaces whatever is stored, and reports an error instead of throwing it. It is right for a value
        // that doesn't come from the stored one; a change of that is an update().
        NotesSettings().write()
    default:
        let usage = "Usage: notes-v2 show | signature NAME | font-size SIZE | theme NAME | open FILE | prompt | reset"
        fail(usage, status: 64)
    }
} catch {
    fail("\(error)", status: 1)
}
