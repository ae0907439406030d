internal import DefaultJournal

/// Where the sources are that suites have by their names.
///
/// The fallbacks of the suite `player` are `player.json` and `player.plist` in each directory of `$XDG_CONFIG_DIRS`, in
/// the order of the XDG Base Directory Specification; `/etc/xdg` without the variable. Its mandatory values are
/// `player.mandatory.json` and `player.mandatory.plist` in `/etc/xdg`: users set variables, so none decides that.
struct SourcePlaces: Sendable {
    /// The directories of mandatory values.
    var mandatory: [String]
    /// The directories of fallbacks, the most important one first.
    var fallbacks: [String]

    /// Those of the system; none on Apple platforms, where `UserDefaults` is the standard store, and has its own.
    static var system: SourcePlaces { system(variable: ProgramEnvironment.variable("XDG_CONFIG_DIRS")) }

    /// Those of the system with a value of `XDG_CONFIG_DIRS`; nil without one.
    static func system(variable: String?) -> SourcePlaces {
        #if os(Linux)
        let variable = variable ?? ""
        let directories = variable.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        let standard = "/etc/xdg"
        return SourcePlaces(mandatory: [standard], fallbacks: variable.isEmpty ? [standard] : directories)
        #else
        return SourcePlaces(mandatory: [], fallbacks: [])
        #endif
    }

    /// The sources of a suite: those that are given, and those of its name, if it has one that a suite can have.
    ///
    /// A directory that doesn't exist costs one look, and is not looked at again.
    func sources(
        ofSuite suiteName: String?,
        mandatory: [any DefaultsSource] = [],
        arguments: LaunchArguments = LaunchArguments([]),
        overrides: [any DefaultsSource] = [],
        fallbacks: [any DefaultsSource] = []
    ) -> DefaultsSources? {
        var files: (mandatory: [FileSource], fallbacks: [FileSource]) = ([], [])
        if let name = suiteName, (try? SuiteLocation.check(name)) != nil {
            let existing = Set(self.mandatory + self.fallbacks).filter { TrustedFile.look(at: $0) == .directory }
            func names(in directories: [String], _ suffix: String) -> [FileSource] {
                directories.filter(existing.contains).flatMap { directory in
                    ["json", "plist"].map { FileSource(path: "\(directory)/\(name)\(suffix).\($0)") }
                }
            }
            files = (names(in: self.mandatory, ".mandatory"), names(in: self.fallbacks, ""))
        }
        return DefaultsSources(
            mandatory: mandatory + files.mandatory,
            arguments: arguments,
            overrides: overrides,
            fallbacks: fallbacks + files.fallbacks
        )
    }
}
