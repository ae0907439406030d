import ArgumentParser

@main
struct DefaultsTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "defaults",
        abstract: "Looks into suites of settings, and changes them.",
        discussion: """
            SUITE is the name of a suite in the directory for configuration ($XDG_CONFIG_HOME, else ~/.config), or the \
            path of a suite's directory. Any program may use the suite at the same time.
            """,
        subcommands: [
            List.self, Read.self, Write.self, Delete.self, Rename.self, Export.self, Import.self, Watch.self,
            Verify.self, Compact.self, Quarantine.self,
        ]
    )
}

/// What goes wrong other than in the library: a full sentence that says what to do.
struct ToolError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    static func noValue(forKey key: String, in suite: SuiteReference) -> ToolError {
        ToolError("There is no value for \(key.debugDescription) in \(suite).")
    }
}
