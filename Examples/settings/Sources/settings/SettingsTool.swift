import ArgumentParser
import Foundation

@main
struct SettingsTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Looks into suites of settings, and changes them.",
        discussion: """
            SUITE is the name of a suite in the directory for configuration ($XDG_CONFIG_HOME, else ~/.config; on a Mac \
            Application Support), or the path of a suite's directory. Any program may use the suite at the same time.
            """,
        subcommands: [
            List.self, Read.self, Write.self, Delete.self, Rename.self, Export.self, Import.self, Watch.self,
            Verify.self, Compact.self, Quarantine.self,
        ]
    )

    static func main() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error as CocoaError {
            exit(withError: ToolError(error))
        } catch {
            exit(withError: error)
        }
    }
}

/// What goes wrong other than in the library: a full sentence that says what to do.
struct ToolError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// Foundation's error about a file or a pipe, of which one would see all parts otherwise.
    init(_ error: CocoaError) {
        let path = error.filePath.map { "\($0): " } ?? ""
        self.init(path + ((error as NSError).localizedFailureReason ?? error.localizedDescription))
    }

    static func noValue(forKey key: String, in suite: SuiteReference) -> ToolError {
        ToolError("There is no value for \(key.debugDescription) in \(suite).")
    }
}
