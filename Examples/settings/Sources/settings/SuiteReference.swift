import ArgumentParser
import Default
import Foundation

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
        .custom { _, _, _ in (try? names()) ?? [] }
    }

    /// The suite, which has to exist: looking at a suite makes none.
    ///
    /// It is opened by its directory, since opening by name may import values from a property list of Foundation's, and that
    /// is a change.
    func existing() throws -> FileDefaults {
        try FileDefaults(url: existingURL())
    }

    /// The directory of a suite that exists; the suite is not opened.
    func existingURL() throws -> URL {
        let url = url
        guard Self.isSuite(url) else {
            throw ToolError("There is no suite \(description): \(url.plainPath) has no journal.")
        }
        return url
    }

    /// The suite, made if there is none.
    func existingOrNew() throws -> FileDefaults {
        switch place {
        case .named(let name):
            return try FileDefaults(suiteName: name)
        case .directory(let url):
            guard Self.isSuite(url) || url.plainPath.isSuitePath else {
                throw ToolError("\(description) is not a suite, and the path of a new one has to end in \".defaults\".")
            }
            return try FileDefaults(url: url)
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
    /// Where suites that have a name are.
    static var configurationHome: URL {
        get throws(DefaultsError) { try FileDefaults.standard.url.deletingLastPathComponent() }
    }

    /// The names of the suites in the directory for configuration.
    static func names() throws -> [String] {
        let home = try configurationHome
        guard FileManager.default.fileExists(atPath: home.plainPath) else {
            return []
        }
        return try FileManager.default.contentsOfDirectory(atPath: home.plainPath)
            .filter { $0.isSuitePath && isSuite(home.appending(path: $0)) }
            .map { String($0.dropLast(String.suiteSuffix.count)) }
            .sorted()
    }

    private static func url(ofSuite name: String) -> URL {
        let home = (try? configurationHome) ?? URL(filePath: "/nonexistent")
        return home.appending(path: name + String.suiteSuffix, directoryHint: .isDirectory)
    }

    private static func isSuite(_ url: URL) -> Bool {
        FileManager.default.fileExists(atPath: url.appending(path: "journal").plainPath)
    }
}

extension String {
    fileprivate static var suiteSuffix: String { ".defaults" }

    fileprivate var isSuitePath: Bool {
        let name = hasSuffix("/") ? dropLast() : self[...]
        return name.hasSuffix(Self.suiteSuffix)
    }
}

extension URL {
    var plainPath: String { path(percentEncoded: false) }
}

extension CompletionKind {
    /// The keys of the suite that is named before the key.
    static var keys: CompletionKind {
        .custom { arguments, _, _ in
            for argument in arguments.dropFirst() where !argument.hasPrefix("-") {
                if let suite = try? SuiteReference(argument: argument).existing() {
                    return suite.storedKeys().sorted()
                }
            }
            return []
        }
    }
}
