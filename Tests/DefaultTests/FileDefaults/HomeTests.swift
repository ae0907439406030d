#if os(Linux)
import Foundation
import Testing

@testable import Default

@Suite("Where suites with a name are")
struct HomeTests {
    /// A user without an entry in the system's database.
    private static let unknownUser: uid_t = 54_321

    /// The output of the helper that uses suites, as another user or as the same one.
    private func use(
        _ suites: [String] = ["s"],
        as user: uid_t? = nil,
        in environment: [String: String?]
    ) throws -> [String] {
        let all = ["HOME": nil, "CFFIXED_USER_HOME": nil].merging(environment) { $1 }
        let arguments = ["use-named", user.map { "\($0)" } ?? "same user"] + suites
        let outcome = try TestHelper.run(arguments, environment: all)
        #expect(outcome.status == 0, "\(outcome.errors)")
        return outcome.output.split(separator: "\n").map(String.init)
    }

    @Test(
        "isn't known of a user without a home directory, which is an error that says what to set",
        .enabled(if: Machine.isRoot, "Needs root.")
    )
    func noHome() throws {
        let lines = try use(as: Self.unknownUser, in: [:])
        #expect(lines.count == 1)
        let error = lines.first ?? ""
        #expect(error.hasPrefix("storeUnavailable: "), "\(error)")
        #expect(error.contains("Set the variable XDG_CONFIG_HOME or HOME"), "\(error)")
    }

    /// The home of users without a home directory, such as those of systemd's `DynamicUser=`, is the root directory.
    @Test("may be a home that can't be written, where an error says what can't be created and what to set")
    func unwritableHome() throws {
        try withTemporaryDirectory { directory in
            chmod(directory.path, 0o555)
            defer { chmod(directory.path, 0o700) }
            let user = Machine.isRoot ? Self.unknownUser : nil
            // A machine may already have the folder, owned by root.
            let root = FileManager.default.fileExists(atPath: "/.config") ? [] : [""]
            for home in [directory.path] + root {
                let lines = try use(as: user, in: ["HOME": home + "/"])
                #expect(lines.count == 3, "\(lines)")
                #expect(lines.dropFirst().first == "read: 0")
                #expect(lines.last?.hasPrefix("storeReadOnly: ") == true)
                // The first line is the event of the read, the last one the error of the write.
                for line in [lines.first ?? "", lines.last ?? ""] {
                    #expect(line.contains("can't be created") && line.contains(" \(home)/.config: "), "\(line)")
                    #expect(line.contains("set the variable XDG_CONFIG_HOME"), "\(line)")
                }
            }
        }
    }

    /// As the root directory is, once root has run a program with that home.
    @Test(
        "may contain another user's .config, and then the error says what to do",
        .enabled(if: Machine.isRoot, "Needs root.")
    )
    func othersConfiguration() throws {
        try withTemporaryDirectory { directory in
            chmod(directory.path, 0o755)
            let configuration = directory.appending(path: ".config")
            try FileManager.default.createDirectory(
                at: configuration,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700]
            )
            let lines = try use(as: Self.unknownUser, in: ["HOME": directory.path])
            let error = lines.last ?? ""
            #expect(error.contains("\(configuration.path) belongs to the user root"), "\(lines)")
            #expect(error.contains("set the variable XDG_CONFIG_HOME"), "\(lines)")
        }
    }

    @Test("may be where nothing can be created, as an error says with the remedy", arguments: ["/proc", "/dev/null"])
    func unusableHome(_ home: String) throws {
        let lines = try use(in: ["HOME": home])
        #expect(lines.count == 1, "\(lines)")
        let error = lines.first ?? ""
        #expect(error.hasPrefix("storeUnavailable: ") && error.contains(home + "/.config"), "\(error)")
        #expect(error.contains("set the variable XDG_CONFIG_HOME"), "\(error)")
    }

    @Test("is the directory in XDG_CONFIG_HOME, whatever the home is", arguments: [nil, "/", "/dev/null"])
    func variable(_ home: String?) throws {
        try withTemporaryDirectory { directory in
            var user: uid_t?
            if Machine.isRoot {
                user = Self.unknownUser
                chown(directory.path, Self.unknownUser, Self.unknownUser)
            }
            let folder = directory.appending(path: "volume").path
            let lines = try use(as: user, in: ["HOME": home, "XDG_CONFIG_HOME": folder])
            #expect(lines == ["read: 0", "stored: \(folder)/s.defaults"])
        }
    }

    /// Another directory would have the name with replacement characters.
    @Test("is never a path in another encoding than UTF-8, which is reported once")
    func invalidText() throws {
        try withTemporaryDirectory { directory in
            let home = directory.path
            // Foundation passes text only. The second home belongs to no user that the system knows.
            let start = #"export $1="$2/$(printf '\374')"; shift 2; exec "$0" use-named "$@""#
            func use(_ variable: String, as user: String) throws -> [String] {
                let outcome = try TestHelper.run(
                    ["-c", start, TestHelper.executable.path, variable, home, user, "one", "two"],
                    program: URL(filePath: "/bin/sh"),
                    environment: ["HOME": home, "XDG_CONFIG_HOME": nil]
                )
                return outcome.output.split(separator: "\n").map(String.init)
            }
            let lines = try use("XDG_CONFIG_HOME", as: "same user")
            #expect(lines.first?.contains("isn't text in UTF-8, and is ignored") == true, "\(lines)")
            let expected = ["one", "two"].flatMap { ["read: 0", "stored: \(home)/.config/\($0).defaults"] }
            #expect(Array(lines.dropFirst()) == expected)
            #expect(try FileManager.default.contentsOfDirectory(atPath: home) == [".config"])
            guard Machine.isRoot else { return }
            let errors = try use("HOME", as: "\(Self.unknownUser)")
            #expect(errors.allSatisfy { $0.contains("no home directory whose path is text in UTF-8") }, "\(errors)")
            #expect(errors.count == 2)
        }
    }

    @Test("isn't a relative path or one with a tilde, which is reported once", arguments: ["~/settings", "s", "./s"])
    func ignoredVariable(_ value: String) throws {
        try withTemporaryDirectory { directory in
            let home = directory.path
            let lines = try use(["one", "two"], in: ["HOME": home, "XDG_CONFIG_HOME": value])
            let event = try #require(lines.first)
            #expect(event.hasPrefix("variable ignored: "), "\(event)")
            #expect(event.contains("XDG_CONFIG_HOME is \"\(value)\""), "\(event)")
            #expect(event.contains("tilde") == value.hasPrefix("~"), "\(event)")
            let expected = ["one", "two"].flatMap { ["read: 0", "stored: \(home)/.config/\($0).defaults"] }
            #expect(Array(lines.dropFirst()) == expected)
        }
        #expect(try use(in: ["HOME": "/proc", "XDG_CONFIG_HOME": ""]).count == 1)
    }
}
#endif
