#if os(Linux)
import Foundation
import Testing

@testable import Default

private enum Loader {
    /// The dynamic loader of this process; nil if it has none.
    static let ofProcess: URL? = {
        let mappings = (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)) ?? ""
        let paths = mappings.split(separator: "\n").compactMap { $0.split(separator: " ").last.map(String.init) }
        return paths.first { $0.contains("/ld-") && $0.contains(".so") }.map { URL(filePath: $0) }
    }()
}

@Suite("The standard suite's name")
struct ProgramNameTests {
    /// The suites that a program leaves that uses its standard one.
    private func suites(
        of arguments: [String] = [],
        named name: String = "player",
        through loader: URL? = nil
    ) throws -> [String] {
        try withTemporaryDirectory { directory in
            let program = directory.appending(path: name)
            try FileManager.default.copyItem(at: TestHelper.executable, to: program)
            let settings = directory.appending(path: "settings")
            let outcome = try TestHelper.run(
                (loader == nil ? [] : [program.path]) + ["use-standard"] + arguments + [program.path],
                home: directory,
                program: loader ?? program,
                environment: ["XDG_CONFIG_HOME": settings.path]
            )
            #expect(outcome.status == 0, "\(outcome.errors)")
            return try FileManager.default.contentsOfDirectory(atPath: settings.path).sorted()
        }
    }

    @Test("is the program's")
    func program() throws {
        #expect(try suites() == ["player.defaults"])
        #expect(try suites(named: "player (deleted)") == ["player (deleted).defaults"])
    }

    @Test("is the program's after its file was deleted or replaced", arguments: ["deleted", "replaced"])
    func update(_ change: String) throws {
        #expect(try suites(of: [change]) == ["player.defaults"])
        #expect(try suites(of: [change], named: "player (deleted)") == ["player (deleted).defaults"])
    }

    @Test("is the program's when the dynamic loader starts it", .enabled(if: Loader.ofProcess != nil))
    func loader() throws {
        for arguments in [[], ["deleted"]] {
            #expect(try suites(of: arguments, through: Loader.ofProcess) == ["player.defaults"])
        }
    }

    @Test(
        "isn't known without /proc, which is an error that says what to do",
        .enabled(if: Machine.canMount, "Needs to mount something.")
    )
    func unknown() throws {
        try withTemporaryDirectory { directory in
            let outcome = try TestHelper.run(
                [
                    "unshare", "--mount", "sh", "-c", "mount -t tmpfs none /proc && exec \"$0\"",
                    TestHelper.executable.path,
                ],
                home: directory,
                program: URL(filePath: "/usr/bin/env"),
                environment: ["HELPER_ACTION": "use-standard"]
            )
            #expect(outcome.status == 0, "\(outcome.errors)")
            let lines = outcome.output.split(separator: "\n")
            #expect(lines.prefix(2) == ["event: open failed storeUnavailable", "read: 0"])
            #expect(lines.last?.contains("FileDefaults(suiteName:)") == true, "\(outcome.output)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
        }
    }
}
#endif
