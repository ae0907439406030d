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
    case directory(URL)

    /// The suite's directory.
    ///
    /// - Throws: `invalidSuiteName`, or `storeUnavailable` when there is no home directory.
    func path() throws(DefaultsError) -> String {
        switch self {
        case .named(let name):
            try Self.check(name)
            return try Self.configurationHome() + "/" + name + ".defaults"
        case .directory(let url):
            guard url.isFileURL, !url.path.isEmpty else {
                throw .storeUnavailable(at: url.absoluteString, because: "it is not a file URL")
            }
            return Self.standardized(url.absoluteURL.path)
        }
    }

    /// The property list in which Foundation keeps the suite with the same name.
    func foundationPropertyList() throws(DefaultsError) -> URL? {
        guard case .named(let name) = self else {
            return nil
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
    /// Foundation's `standardizedFileURL` also removes "/private" while there is a file at the rest of the path, and so leads
    /// to another directory on systems where the two differ.
    private static func standardized(_ path: String) -> String {
        // A URL without a base, or one that was made in a working directory that is gone; the engine refuses the latter.
        guard path.hasPrefix("/") else { return path }
        var components: [Substring] = []
        for component in path.split(separator: "/") where component != "." {
            if component != ".." {
                components.append(component)
            } else {
                _ = components.popLast()
            }
        }
        return "/" + components.joined(separator: "/")
    }

    private static func check(_ name: String) throws(DefaultsError) {
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

    /// `$XDG_CONFIG_HOME`, otherwise `~/.config`, according to the XDG Base Directory Specification; on Apple platforms the
    /// user's Application Support directory, and on tvOS, where apps can write nothing else, the one of caches.
    private static func configurationHome() throws(DefaultsError) -> String {
        #if os(tvOS)
        return try userDirectory(.cachesDirectory)
        #elseif canImport(Darwin)
        return try userDirectory(.applicationSupportDirectory)
        #else
        if let directory = directory(inEnvironment: "XDG_CONFIG_HOME") { return directory }
        guard
            let home = directory(inEnvironment: "HOME")
                ?? absolute(FileManager.default.homeDirectoryForCurrentUser.path)
        else {
            throw .storeUnavailable(at: ".config", because: "the user has no home directory")
        }
        return home + "/.config"
        #endif
    }

    #if !canImport(Darwin)
    /// The directory that a variable names; nil without one, and for a relative path, which the specification calls invalid.
    private static func directory(inEnvironment name: String) -> String? {
        ProgramEnvironment.variable(name).flatMap(absolute)
    }

    /// An absolute path without slashes at its end, so that of the root nothing is left; nil for a relative one.
    private static func absolute(_ path: String) -> String? {
        guard path.hasPrefix("/") else { return nil }
        var path = path[...]
        while path.last == "/" { path.removeLast() }
        return String(path)
    }
    #endif
}
