package import Foundation

/// A directory for a while, which only this user can look into.
package enum TemporaryDirectory {
    package static func with<Result>(_ body: (URL) throws -> Result) throws -> Result {
        let path = FileManager.default.temporaryDirectory.appending(path: "settings-XXXXXX").plainPath
        var template = Array(path.utf8CString)
        guard let made = mkdtemp(&template) else {
            throw ToolError("\(path) can't be created: \(String(cString: strerror(errno))).")
        }
        let directory = URL(filePath: String(cString: made), directoryHint: .isDirectory)
        defer {
            // What is left there is this user's alone.
            try? FileManager.default.removeItem(at: directory)
        }
        return try body(directory)
    }
}
