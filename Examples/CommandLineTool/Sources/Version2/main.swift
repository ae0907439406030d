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
        // read() never throws: it reports a value that can't be read on standard error, and returns the default. That
        // is right if the program can go on without its settings; if it would store them again, use load() or update().
        print("\(NotesSettings.read()?.signature ?? "anonymous")>")
    case ("reset", 1):
        // write() replaces the stored value, and reports an error instead of throwing it. It is right for a value that
        // doesn't depend on the stored one; for one that does, use update().
        NotesSettings().write()
    default:
        let usage = "Usage: notes-v2 show | signature NAME | font-size SIZE | theme NAME | open FILE | prompt | reset"
        fail(usage, status: 64)
    }
} catch {
    fail("\(error)", status: 1)
}
