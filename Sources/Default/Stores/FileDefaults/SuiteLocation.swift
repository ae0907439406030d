internal import DefaultJournal
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The location of a suite that may not exist yet.
enum SuiteLocation: Sendable {
    /// In the configuration directory, under a name.
    case named(String)
    /// In the directory for what programs remember, under a name.
    case state(String)
    /// In the configuration directory, under the program's name.
    case program
    case directory(URL)

    /// The suite's directory.
    ///
    /// - Throws: `invalidSuiteName`, or `storeUnavailable` when the home directory or the program's name is unknown.
    func path() throws(DefaultsError) -> String {
        switch self {
        case .named(let name): return try Self.path(named: name, in: Self.configurationHome)
        case .state(let name): return try Self.path(named: name, in: Self.stateHome)
        case .program: return try Self.path(named: Self.programName(), in: Self.configurationHome)
        case .directory(let url):
            guard url.isFileURL, !url.path.isEmpty else {
                throw .storeUnavailable(at: url.absoluteString, because: "it is not a file URL")
            }
            return Self.standardized(url.absoluteURL.path)
        }
    }

    private static func path(named name: String, in home: () throws(DefaultsError) -> String) throws(DefaultsError)
        -> String
    {
        try check(name)
        return try home() + "/" + name + ".defaults"
    }

    private static func programName() throws(DefaultsError) -> String {
        #if os(Linux)
        // Foundation's name of the process is the path's last part, even if the file was deleted or is the dynamic
        // loader.
        guard let name = knownProgramName else { throw .programUnknown }
        return name
        #else
        return ProcessInfo.processInfo.processName
        #endif
    }

    #if os(Linux)
    /// As it was first asked for: the file may be renamed later.
    private static let knownProgramName = ProgramEnvironment.programName
    #endif

    /// The name by which the suite has sources; nil if it has none.
    var name: String? {
        switch self {
        case .named(let name): name
        case .program: try? Self.programName()
        case .directory, .state: nil
        }
    }

    /// The property list in which Foundation keeps the suite with the same name.
    func foundationPropertyList() throws(DefaultsError) -> URL? {
        let name: String
        switch self {
        case .named(let given): name = given
        case .program: name = try Self.programName()
        case .directory, .state: return nil
        }
        #if canImport(Darwin)
        let directory = try Self.userDirectory(.libraryDirectory) + "/Preferences"
        #else
        let directory = try Self.configurationHome()
        #endif
        return URL(fileURLWithPath: directory + "/" + name + ".plist", isDirectory: false)
    }

    /// A path without empty components, "." and "..", if it is absolute.
    ///
    /// Foundation's `standardizedFileURL` also removes "/private" while there is a file at the rest of the path, and so
    /// leads to another directory on systems where the two differ.
    private static func standardized(_ path: String) -> String {
        // A URL without a base, or one that was made in a working directory that is gone; the engine refuses the
        // latter.
        guard path.hasPrefix("/") else { return path }
        var components: [String] = []
        for component in path.split(separator: "/").map(String.init) where component != "." {
            if component == ".." {
                _ = components.popLast()
            } else {
                components.append(component)
            }
        }
        return "/" + components.joined(separator: "/")
    }

    /// Throws `invalidSuiteName` unless a suite can have the name.
    static func check(_ name: String) throws(DefaultsError) {
        let utf8 = name.utf8
        guard (1...200).contains(utf8.count), name != ".", name != "..", !utf8.contains(0),
            !utf8.contains(UInt8(ascii: "/"))
        else {
            throw .invalidSuiteName(name)
        }
    }

    #if canImport(Darwin)
    private static func userDirectory(_ directory: FileManager.SearchPathDirectory) throws(DefaultsError) -> String {
        guard let url = FileManager.default.urls(for: directory, in: .userDomainMask).first else {
            throw .storeUnavailable(at: "the user's library", because: "the system names no such directory")
        }
        return url.path
    }
    #endif

    /// Reports, once, a directory that isn't used because the variable for it isn't an absolute path, or no text.
    func reportIgnoredVariable() {
        #if !canImport(Darwin)
        guard let variable, let value = ProgramEnvironment.variable(variable), !value.isEmpty else { return }
        let isText = ProgramEnvironment.path(inVariable: variable) != nil
        guard !isText || !value.hasPrefix("/") else { return }
        DefaultsDiagnostics.reportOnce(.variableIgnored, .ignoredVariable(value, named: variable, isText: isText))
        #endif
    }

    /// Advice about an error besides its own: a sentence after a space, or nothing.
    func advice(about error: JournalError, in path: String) -> String {
        #if canImport(Darwin)
        return ""
        #else
        // Another place doesn't help against a fault inside the suite's directory.
        guard let variable, error.isUnusablePlace, path == error.path || path.hasPrefix(error.path + "/") else {
            return ""
        }
        return " Or set the variable \(variable) to a folder that this user may write."
        #endif
    }

    #if !canImport(Darwin)
    /// The variable that users set for the directory in which the suite is; nil for one that is given.
    private var variable: String? {
        switch self {
        case .named, .program: "XDG_CONFIG_HOME"
        case .state: Self.serviceDirectory == nil ? "XDG_STATE_HOME" : "STATE_DIRECTORY"
        case .directory: nil
        }
    }
    #endif

    /// `$XDG_CONFIG_HOME`, otherwise `~/.config`, according to the XDG Base Directory Specification; on Apple platforms
    /// the user's Application Support directory, and on tvOS, where apps can write nothing else, the one of caches.
    private static func configurationHome() throws(DefaultsError) -> String {
        #if os(tvOS)
        return try userDirectory(.cachesDirectory)
        #elseif canImport(Darwin)
        return try userDirectory(.applicationSupportDirectory)
        #else
        if let directory = directory(inEnvironment: "XDG_CONFIG_HOME") { return directory }
        return try home() + "/.config"
        #endif
    }

    /// The first directory of `$STATE_DIRECTORY`, which systemd sets for services; otherwise `$XDG_STATE_HOME` or
    /// `~/.local/state`; on Apple platforms where settings are.
    private static func stateHome() throws(DefaultsError) -> String {
        #if canImport(Darwin)
        return try configurationHome()
        #else
        if let directory = serviceDirectory ?? directory(inEnvironment: "XDG_STATE_HOME") { return directory }
        return try home() + "/.local/state"
        #endif
    }

    #if !canImport(Darwin)
    /// The first directory of `$STATE_DIRECTORY`; nil if there is none.
    private static var serviceDirectory: String? {
        let directories = ProgramEnvironment.path(inVariable: "STATE_DIRECTORY")?.split(separator: ":")
        return directories?.first.flatMap { absolute(String($0)) }
    }
    #endif

    #if !canImport(Darwin)
    private static func home() throws(DefaultsError) -> String {
        guard let home = directory(inEnvironment: "HOME") ?? systemHome else { throw .noHomeDirectory }
        return home
    }

    private static var systemHome: String? {
        #if os(Linux)
        // Foundation makes up a directory for a user that the system doesn't know.
        return ProgramEnvironment.homeDirectory.flatMap(absolute)
        #else
        return absolute(FileManager.default.homeDirectoryForCurrentUser.path)
        #endif
    }

    /// The directory that a variable names; nil without one, and for a relative path, which the specification calls
    /// invalid, or one that isn't text in UTF-8.
    private static func directory(inEnvironment name: String) -> String? {
        ProgramEnvironment.path(inVariable: name).flatMap(absolute)
    }

    /// An absolute path without slashes at its end, so that of the root nothing is left; nil for a relative one.
    private static func absolute(_ path: String) -> String? {
        guard path.hasPrefix("/") else { return nil }
        var path = path
        while path.hasSuffix("/") { path.removeLast() }
        return path
    }
    #endif
}
