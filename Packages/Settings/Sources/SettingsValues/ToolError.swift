package import Foundation

/// What goes wrong other than in the library: a full sentence that says what to do.
package struct ToolError: Error, CustomStringConvertible {
    package let description: String
    /// Whether there is nothing where a command has looked for something.
    package let isAbsence: Bool

    package init(_ description: String, isAbsence: Bool = false) {
        self.description = description
        self.isAbsence = isAbsence
    }

    /// Foundation's error about a file or a pipe, of which one would see all parts otherwise.
    package init(_ error: CocoaError) {
        let path = error.filePath.map { "\($0): " } ?? ""
        self.init(path + ((error as NSError).localizedFailureReason ?? error.localizedDescription))
    }

    package static func noSuite(_ description: String) -> ToolError { ToolError(description, isAbsence: true) }

    package static func hidden(_ key: String) -> ToolError {
        ToolError("The value for \(key.debugDescription) is hidden.")
    }
}
