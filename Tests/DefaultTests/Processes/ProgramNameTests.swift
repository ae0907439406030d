#if os(Linux)
import Foundation
import Testing

@testable import Default
@testable import DefaultJournal

private enum Loader {
    /// The dynamic loader that the helper names near its beginning; nil for a static program.
    static let ofHelper: URL? = {
        guard let program = try? Data(contentsOf: TestHelper.executable) else { return nil }
        let texts = program.prefix(4_096).split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        return texts.first { $0.hasPrefix("/") && $0.contains("/ld") }.map { URL(filePath: $0) }
    }()
}

@Suite("The standard suite's name")
struct ProgramNameTests {
    /// The suites that a program leaves after it has used its standard one.
    private func suites(
        of arguments: [String] = [],
        named name: String = "player",
        through loader: URL? = nil
    ) throws -> [String] {
        try withTemporaryDirectory { directory in
            let program = directory.appending(path: name)
            // Copied by another process: a child that another test starts meanwhile would inherit the open copy, and a
            // file that is open for writing can't be run.
            let copying = try TestHelper.run(
                ["cp", TestHelper.executable.path, program.path],
                program: URL(filePath: "/usr/bin/env")
            )
            #expect(copying.status == 0, "\(copying.errors)")
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

    @Test("is the program's when the dynamic loader starts it", .enabled(if: Loader.ofHelper != nil))
    func loader() throws {
        for arguments in [[], ["deleted"]] {
            #expect(try suites(of: arguments, through: Loader.ofHelper) == ["player.defaults"])
        }
    }

    @Test("is taken from no path of a dynamic loader")
    func loaderNames() {
        for loader in [
            "/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-x86_64.so.1", "/lib/ld-2.31.so", "/lib/ld.so.1",
            "/lib64/ld64.so.2", "/usr/lib/libc.so", "/",
        ] {
            #expect(ProgramEnvironment.programName(of: loader) == nil, "\(loader)")
        }
        for name in ["player", "ld", "ld-player", "libc", "player.so", "ld-player.sound"] {
            #expect(ProgramEnvironment.programName(of: "/usr/bin/" + name) == name)
        }
    }

    @Test(
        "can't be found without /proc, which is an error that says what to do",
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
