internal import Foundation

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
            return try Self.configurationHome().appending(path: name + ".defaults").path(percentEncoded: false)
        case .directory(let url):
            guard url.isFileURL, !url.path(percentEncoded: false).isEmpty else {
                throw .storeUnavailable(at: url.absoluteString, because: "it is not a file URL")
            }
            return url.standardizedFileURL.path(percentEncoded: false)
        }
    }

    /// The property list of Foundation's suite with the same name.
    func foundationPropertyList() throws(DefaultsError) -> URL? {
        switch self {
        case .named(let name): try Self.configurationHome().appending(path: name + ".plist")
        case .directory: nil
        }
    }

    private static func check(_ name: String) throws(DefaultsError) {
        let utf8 = name.utf8
        guard (1...200).contains(utf8.count), name != ".", name != "..", !utf8.contains(0),
            !utf8.contains(UInt8(ascii: "/"))
        else {
            throw .invalidSuiteName(name)
        }
    }

    /// `$XDG_CONFIG_HOME`, otherwise `~/.config`, according to the XDG Base Directory Specification; on Apple's systems the
    /// user's Application Support directory.
    private static func configurationHome() throws(DefaultsError) -> URL {
        #if canImport(Darwin)
        return URL.applicationSupportDirectory
        #else
        let environment = ProcessInfo.processInfo.environment
        // According to the specification, a relative path is invalid and is ignored.
        if let home = environment["XDG_CONFIG_HOME"], home.hasPrefix("/") {
            return URL(filePath: home, directoryHint: .isDirectory)
        }
        let home =
            if let home = environment["HOME"], home.hasPrefix("/") {
                URL(filePath: home, directoryHint: .isDirectory)
            } else {
                FileManager.default.homeDirectoryForCurrentUser
            }
        guard home.path.hasPrefix("/") else {
            throw .storeUnavailable(at: ".config", because: "there is no home directory")
        }
        return home.appending(path: ".config", directoryHint: .isDirectory)
        #endif
    }
}
