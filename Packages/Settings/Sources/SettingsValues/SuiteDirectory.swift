import Default
package import Foundation

/// Where suites of files are.
package enum SuiteDirectory {
    package static let suffix = ".defaults"

    /// Where suites that have a name are.
    package static var home: URL {
        get throws {
            // The library looks whether the arguments are property lists.
            let standard = withoutStandardError { FileDefaults.standard }
            return try standard.url.deletingLastPathComponent()
        }
    }

    package static func url(ofSuite name: String, in home: URL) -> URL {
        home.appending(path: name + suffix, directoryHint: .isDirectory)
    }

    /// The name by which a program finds sources for the suite in a directory: that of one in a user's folder for
    /// configuration; nil for a suite elsewhere.
    package static func sourceName(of url: URL) -> String? {
        let url = url.standardizedFileURL
        let (folder, name) = (url.deletingLastPathComponent(), url.lastPathComponent)
        guard name.hasSuffix(suffix), name.count > suffix.count else { return nil }
        let isHome = folder.plainPath == (try? home)?.standardizedFileURL.plainPath
        return isHome || folder.lastPathComponent == ".config" ? String(name.dropLast(suffix.count)) : nil
    }

    package static func isSuite(_ url: URL) -> Bool {
        FileManager.default.fileExists(atPath: url.appending(path: "journal").plainPath)
    }

    /// The names of the suites as the file system has them, which need not be UTF-8; sorted.
    package static func names(in home: URL) throws -> [[UInt8]] {
        let home = home.plainPath
        guard let directory = opendir(home) else {
            if errno == ENOENT { return [] }
            throw ToolError("\(home) can't be read: \(String(cString: strerror(errno))).")
        }
        defer { closedir(directory) }
        var names: [[UInt8]] = []
        let suffix = Array(suffix.utf8)
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            guard name.count > suffix.count, name.suffix(suffix.count).elementsEqual(suffix) else { continue }
            let journal = Array(home.utf8) + Array("/".utf8) + name + Array("/journal".utf8) + [0]
            let isSuite = journal.withUnsafeBytes { path in
                path.baseAddress.map { access($0.assumingMemoryBound(to: CChar.self), F_OK) == 0 } ?? false
            }
            if isSuite { names.append(Array(name.dropLast(suffix.count))) }
        }
        return names.sorted { $0.lexicographicallyPrecedes($1) }
    }
}
