import ArgumentParser
import Default
import Foundation
import SettingsValues

/// A suite as it is named on the command line.
struct SuiteReference: ExpressibleByArgument, CustomStringConvertible {
    private enum Place {
        case named(String)
        case directory(URL)
    }

    let description: String
    private let place: Place

    init(argument: String) {
        description = argument
        let isNamed = !argument.contains("/") && (Self.isSuite(Self.url(ofSuite: argument)) || !argument.isSuitePath)
        place = isNamed ? .named(argument) : .directory(URL(filePath: argument, directoryHint: .isDirectory))
    }

    static var defaultCompletionKind: CompletionKind {
        .custom { _, _, _ in ((try? names()) ?? []).filter(\.isSafeOnTerminal) }
    }

    /// Whether the process takes on the rights of the owner of each suite that it uses.
    nonisolated(unsafe) static var actsAsOwner = false

    /// The name by which a program finds sources for the suite; nil for none.
    ///
    /// That is the name which is given, or that of a directory in a user's folder for configuration.
    var sourceName: String? {
        switch place {
        case .named(let name): return name
        case .directory(let url): return SuiteDirectory.sourceName(of: url)
        }
    }

    /// The suite as a program finds it, with the sources of its name, to be looked at; without files, those alone.
    func layered() throws -> any UserDefaultsVocabulary {
        do {
            return try reading(sourcesOf: sourceName)
        } catch let error as ToolError where error.isAbsence && sourceName != nil {
            let store = MemoryDefaults(sourcesOf: sourceName)
            guard !store.dictionaryRepresentation().isEmpty else { throw error }
            return store
        }
    }

    /// The suite, to be looked at: nothing of it is changed, repaired or locked, and none is made.
    ///
    /// - Throws: ``Unreadable`` for a suite that exists.
    func reading(sourcesOf name: String? = nil) throws -> FileDefaults {
        let url = try existingURL()
        do {
            let store = try FileDefaults(readingFrom: url, sourcesOf: name)
            try store.checkAvailability()
            return store
        } catch  where Self.lacksJournal(url) {
            throw Self.noJournal(url)
        } catch {
            throw Unreadable(cause: error)
        }
    }

    /// The suite, to be changed; it has to exist.
    ///
    /// It is opened by its directory, since opening by name may import values from a property list of Foundation's.
    /// What its sources make mandatory can't be changed.
    func existing() throws -> FileDefaults {
        let url = try existingURL()
        guard !Self.lacksJournal(url) else {
            throw Self.noJournal(url)
        }
        return try open(url, sourcesOf: sourceName)
    }

    /// The suite in a directory that exists, opened as programs open it; it gets a journal if it has none.
    func open(_ url: URL, sourcesOf name: String?) throws -> FileDefaults {
        try opening { try FileDefaults(url: url, sourcesOf: name) }
    }

    /// Opens a suite.
    ///
    /// - Throws: ``Unreadable`` for a suite that exists, unless it can be read and only can't be changed.
    private func opening(_ open: () throws -> FileDefaults) throws -> FileDefaults {
        do {
            return try open()
        } catch {
            do {
                _ = try reading()
            } catch is Unreadable {
                throw Unreadable(cause: error)
            } catch {
                // There is no suite, and the first error says why there won't be one.
            }
            throw error
        }
    }

    /// The directory of a suite that exists; the suite is not opened.
    ///
    /// - Throws: ``Unreadable`` when that can't be found out.
    func existingURL() throws -> URL {
        let url = url
        try becomeOwner(of: url)
        var status = stat()
        let code = stat(url.plainPath, &status) == 0 ? 0 : errno
        guard [0, ENOENT, ENOTDIR].contains(code) else {
            throw Unreadable(cause: ToolError("\(url.plainPath) can't be read: \(String(cString: strerror(code)))."))
        }
        guard code == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw ToolError.noSuite(
                """
                The suite \(description) doesn't exist: \(url.plainPath) is not a directory. "settings list" shows the suites \
                that have a name.
                """
            )
        }
        return url
    }

    /// What is in the directory of a suite, or of one whose journal is gone but for backups; the suite is not opened.
    ///
    /// - Throws: ``Unreadable`` for a suite that exists.
    func inspection() throws -> (url: URL, found: FileDefaults.Inspection) {
        let url = try existingURL()
        let found: FileDefaults.Inspection
        do {
            found = try FileDefaults.inspect(at: url)
        } catch {
            throw Unreadable(cause: error)
        }
        guard !Self.lacksJournal(url) || !found.damagedCopies.isEmpty else {
            throw Self.noJournal(url)
        }
        return (url, found)
    }

    /// What is stored in a suite that can be inspected: nothing, if its journal is gone.
    func storedContents() throws -> SuiteContents {
        do {
            return try SuiteContents(of: reading())
        } catch let error as ToolError where error.isAbsence {
            return SuiteContents(entries: [])
        }
    }

    /// Whether there is none, and not one that this user may not see.
    private static func lacksJournal(_ url: URL) -> Bool {
        var status = stat()
        return lstat(url.appending(path: "journal").plainPath, &status) != 0 && [ENOENT, ENOTDIR].contains(errno)
    }

    private static func noJournal(_ url: URL) -> ToolError {
        .noSuite("\(url.plainPath) has no journal: no program has stored anything there, or its journal was deleted.")
    }

    /// The suite, made if there is none: at a path only when that is asked for, since a path is easily misspelt.
    func existingOrNew(creates: Bool) throws -> FileDefaults {
        switch place {
        case .named(let name):
            try becomeOwner(of: url)
            return try opening { try FileDefaults(suiteName: name) }
        case .directory(let url):
            try becomeOwner(of: url)
            if !Self.lacksJournal(url) {
                return try open(url, sourcesOf: sourceName)
            }
            guard url.plainPath.isSuitePath else {
                throw ToolError("\(description) is not a suite, and the path of a new one has to end in \".defaults\".")
            }
            guard creates else {
                throw ToolError(
                    "Nothing was stored, since \(description) is not a suite. To create one there, add --create."
                )
            }
            return try FileDefaults(url: url, sourcesOf: sourceName)
        }
    }

    /// Takes on the rights of the owner of a suite, or of the nearest folder above it that exists, for good.
    ///
    /// The owner's program couldn't change files of root's in there. And the owner could make a link in the path that
    /// has root write anywhere; so nothing is done with root's own rights.
    private func becomeOwner(of url: URL) throws {
        guard Self.actsAsOwner else { return }
        guard case .directory = place else {
            throw ToolError(
                "--as-owner needs the path of a suite: the name \(description) is that of a suite of root's."
            )
        }
        var status = stat()
        var path = url.plainPath
        while lstat(path, &status) != 0, path != "/", !path.isEmpty {
            path = URL(filePath: path).deletingLastPathComponent().plainPath
        }
        guard status.st_mode & S_IFMT != S_IFLNK else {
            throw ToolError("\(path) is a link. --as-owner needs the path that it leads to.")
        }
        guard status.st_uid != 0 else {
            throw ToolError("\(path) is root's. Leave --as-owner out to work with root's rights.")
        }
        guard status.st_uid != geteuid() else { return }
        guard geteuid() == 0 else {
            throw ToolError("Only root can take on the rights of the suite's owner. Run it with sudo.")
        }
        // The folder's group may be one that the owner isn't in.
        let group = getpwuid(status.st_uid)?.pointee.pw_gid ?? status.st_gid
        guard setgroups(0, nil) == 0, setgid(group) == 0, setuid(status.st_uid) == 0 else {
            throw ToolError("The rights of the suite's owner can't be taken on: \(String(cString: strerror(errno))).")
        }
        // As in /var/lib/private, where systemd has the folders of services with DynamicUser=yes.
        guard lstat(path, &status) == 0 else {
            throw Unreadable(
                cause: ToolError(
                    """
                    Its owner can't reach \(path), since a folder above it is closed to that user. Without --as-owner, root \
                    can look into the suite.
                    """
                )
            )
        }
    }

    var url: URL {
        switch place {
        case .named(let name): Self.url(ofSuite: name)
        case .directory(let url): url
        }
    }
}

extension SuiteReference {
    /// The names of the suites in the directory for configuration.
    static func names() throws -> [String] {
        try fileNames().compactMap { String(validating: $0, as: UTF8.self) }
    }

    /// The names of the suites as the file system has them, which need not be UTF-8; sorted.
    static func fileNames() throws -> [[UInt8]] {
        try SuiteDirectory.names(in: SuiteDirectory.home)
    }

    private static func url(ofSuite name: String) -> URL {
        SuiteDirectory.url(ofSuite: name, in: (try? SuiteDirectory.home) ?? URL(filePath: "/nonexistent"))
    }

    static func isSuite(_ url: URL) -> Bool { SuiteDirectory.isSuite(url) }
}

extension String {
    fileprivate var isSuitePath: Bool {
        let name = hasSuffix("/") ? dropLast() : self[...]
        return name.hasSuffix(SuiteDirectory.suffix)
    }
}

extension CompletionKind {
    /// The keys of the suite that is named before the key.
    static var keys: CompletionKind {
        .custom { arguments, _, _ in
            for argument in arguments.dropFirst() where !argument.hasPrefix("-") {
                if let suite = try? SuiteReference(argument: argument).reading() {
                    return suite.storedKeys().filter(\.isSafeOnTerminal).sorted()
                }
            }
            return []
        }
    }
}
