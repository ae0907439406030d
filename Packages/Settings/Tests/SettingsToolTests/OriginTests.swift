import Default
import Foundation
import Testing

@Suite(.waits)
struct OriginTests {
    /// A home with a folder for all users, and an environment that names it.
    private func withSources(_ test: (Tool, [String: String]) throws -> Void) throws {
        try Tool.withHome { tool in
            let folder = tool.home.appending(path: "xdg", directoryHint: .isDirectory)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            let text = #"{"volume": 0.25, "vendor": "acme", "Player": {"theme": "dark", "size": 3, "unsaid": null}}"#
            try Data(text.utf8).write(to: folder.appending(path: "app.json"))
            try test(tool, ["XDG_CONFIG_DIRS": folder.path])
        }
    }

    @Test("The value that a program finds is shown with its origin, and what it hides")
    func origins() throws {
        try withSources { tool, environment in
            let file = tool.home.appending(path: "xdg/app.json").path
            // Before the program has stored anything.
            #expect(
                try tool.run(arguments: ["read", "app", "volume", "--origin"], environment: environment).text == """
                    volume = 0.25
                      from the fallback in \(file)

                    """
            )
            try tool.run("write", "app", "volume", "-float", "0.5")
            try tool.run("write", "app", "Player", "-json", #"{"size":4,"name":"x"}"#)
            try tool.run("write", "app", "own", "1")
            #expect(
                try tool.run(arguments: ["origin", "app"], environment: environment).text == """
                    Player.name = "x"
                      from what is stored
                    Player.size = 4
                      from what is stored
                      hides the fallback in \(file)
                    Player.theme = "dark"
                      from the fallback in \(file)
                    own = "1"
                      from what is stored
                    vendor = "acme"
                      from the fallback in \(file)
                    volume = 0.5
                      from what is stored
                      hides the fallback in \(file)

                    """
            )
            let one = try tool.run(arguments: ["origin", "app", "Player.theme"], environment: environment).text
            #expect(one.hasPrefix("Player.theme = \"dark\"\n"))
            let json = try tool.run(
                arguments: ["origin", "app", "volume", "--json", "--hide", "v*"],
                environment: environment
            )
            #expect(json.text.contains("<hidden>") && json.text.contains("\"kind\": \"stored\""))
            #expect(try tool.run(arguments: ["origin", "app", "nothing"], environment: environment).status == 1)
            #expect(try tool.run("origin", "nowhere").status == 1)
        }
    }

    @Test("A suite in a user's folder for configuration has the sources of its name, and one elsewhere has none")
    func paths() throws {
        try withSources { tool, environment in
            for path in ["ada/.config/app.defaults", "elsewhere/app.defaults"] {
                try FileDefaults(url: tool.home.appending(path: path)).set(1, forKey: "own")
                let shown = try tool.run(arguments: ["origin", "./\(path)"], environment: environment)
                #expect(shown.text.contains("vendor") == path.hasPrefix("ada"), "\(shown.errors)")
            }
        }
    }

    @Test("Root works with the rights of a suite's owner when that is asked for", .enabled(if: geteuid() == 0))
    func owner() throws {
        try Tool.withHome { tool in
            // Where another user gets to, which the folder for temporary files may not be.
            let folder = URL(filePath: "/tmp/settings-owner-\(UUID().uuidString)", directoryHint: .isDirectory)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(at: folder) }
            guard chown(folder.path, 12_345, 12_345) == 0 else { throw CocoaError(.fileWriteNoPermission) }
            let suite = folder.appending(path: "app.defaults").path
            let written = try tool.run("--as-owner", "write", suite, "volume", "1", "--create")
            #expect(written.status == 0, "\(written.errors)")
            for path in [suite, "\(suite)/journal"] {
                var status = stat()
                #expect(stat(path, &status) == 0 && status.st_uid == 12_345 && status.st_gid == 12_345)
            }
            #expect(try tool.run("--as-owner", "read", suite, "volume").text == "1\n")
            #expect(try tool.run("--as-owner", "delete", suite, "volume").status == 0)
            #expect(try tool.run("--as-owner", "read", "app", "volume").errors.contains("needs the path"))
            // A link of the owner's that leads to what is root's.
            try FileDefaults(url: tool.url(ofSuite: "root")).set(1, forKey: "volume")
            let link = folder.appending(path: "link").path
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: tool.home.path)
            let refused = try tool.run("--as-owner", "write", "\(link)/root.defaults", "volume", "2")
            #expect(refused.status == 1 && refused.errors.contains("is root's"), "\(refused.errors)")
        }
    }

    @Test("Root looks into a suite that its owner reaches only in its service", .enabled(if: geteuid() == 0))
    func ownerBehindClosedFolder() throws {
        try Tool.withHome { tool in
            // As systemd has the folder of a service with DynamicUser=yes.
            let folder = URL(filePath: "/tmp/settings-owner-\(UUID().uuidString)", directoryHint: .isDirectory)
            let state = folder.appending(path: "private/player", directoryHint: .isDirectory)
            try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            try tool.run("write", "\(state.path)/app.defaults", "volume", "1", "--create")
            for path in ["", "/app.defaults", "/app.defaults/journal"] {
                try #require(chown(state.path + path, 12_345, 12_345) == 0)
            }
            try #require(chmod(state.deletingLastPathComponent().path, 0o700) == 0)
            let link = folder.appending(path: "player").path
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "private/player")

            for path in ["\(link)/app.defaults", "\(state.path)/app.defaults"] {
                #expect(try tool.run("read", path, "volume").text == "1\n")
                #expect(try tool.run("verify", path).status == 0)
                #expect(try tool.run("write", path, "volume", "2").status == 1)
                for command in [["read"], ["write", "volume", "2"], ["delete", "volume"]] {
                    let arguments = ["--as-owner", command[0], path] + command.dropFirst()
                    let refused = try tool.run(arguments: arguments)
                    #expect(refused.status == 2 && refused.errors.contains("Without --as-owner"), "\(refused.errors)")
                }
                #expect(try tool.run("read", path, "volume").text == "1\n")
            }
        }
    }
}
