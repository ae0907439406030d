import Default
import Foundation
import Testing

#if !canImport(Darwin)
@Suite("The place of a suite for state", .waits)
struct SuitePlaceTests {
    @Test("is that of the service, else of the user")
    func places() throws {
        try withTemporaryDirectory { directory in
            func place(_ environment: [String: String?]) throws -> String {
                var cleared: [String: String?] = [
                    "STATE_DIRECTORY": nil, "XDG_STATE_HOME": nil, "XDG_CONFIG_HOME": nil,
                ]
                cleared.merge(environment) { $1 }
                let outcome = try TestHelper.run(["print-state-place"], home: directory, environment: cleared)
                #expect(outcome.status == 0, "\(outcome.errors)")
                return outcome.output
            }
            let home = directory.path
            let usual = try place([:])
            #expect(usual == "\(home)/.local/state/app.defaults\n")
            #expect(try place(["XDG_STATE_HOME": "\(home)/state"]) == "\(home)/state/app.defaults\n")
            let ignored = "event: variable ignored\n"
            #expect(try place(["XDG_STATE_HOME": "relative"]) == ignored + "\(home)/.local/state/app.defaults\n")
            let service = ["STATE_DIRECTORY": "\(home)/first:\(home)/second", "XDG_STATE_HOME": "\(home)/state"]
            #expect(try place(service) == "\(home)/first/app.defaults\n")
            #expect(FileManager.default.fileExists(atPath: "\(home)/first/app.defaults/journal"))
            // A variable that doesn't count isn't reported as ignored.
            let withRelative = ["STATE_DIRECTORY": "\(home)/first", "XDG_STATE_HOME": "relative"]
            #expect(try place(withRelative) == "\(home)/first/app.defaults\n")
        }
    }

    @Test("has no sources by its name, and a suite at a URL has those of the name that it is given")
    func sources() throws {
        try withTemporaryDirectory { directory in
            let values = directory.appending(path: "xdg")
            try FileManager.default.createDirectory(at: values, withIntermediateDirectories: false)
            try Data(#"{"volume": 0.25}"#.utf8).write(to: values.appending(path: "app.json"))
            func volumes(_ variables: [String: String?]) throws -> String {
                let outcome = try TestHelper.run(
                    ["print-volumes", directory.path],
                    home: directory,
                    environment: variables
                )
                #expect(outcome.status == 0, "\(outcome.errors)")
                return outcome.output
            }
            // By name, for state, at a URL, at a URL with the name, and the last one opened for reading.
            #expect(try volumes(["XDG_CONFIG_DIRS": values.path]) == "0.25 0.0 0.0 0.25 0.25 0.0\n")
        }
        expectError(.invalidSuiteName) {
            _ = try FileDefaults(url: URL(filePath: "/nonexistent"), sourcesOf: "a/b")
        }
    }
}
#endif
