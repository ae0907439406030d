import Default
import Foundation
import Testing

#if !canImport(Darwin)
@Suite("Importing a Foundation property list")
struct FoundationImportTests {
    @Test("imports every value once, and keeps the property list")
    func once() throws {
        try withTemporaryDirectory { home in
            let list = home.appending(path: ".config/app.plist")
            // Written by Foundation itself, through this library, in a separate process.
            #expect(try TestHelper.run(["write-foundation", "app"], home: home).status == 0)
            let before = try Data(contentsOf: list)

            let imported = try TestHelper.run(["print-suite", "app"], home: home)
            #expect(
                imported.output == """
                    array [1, 2]
                    data 2 bytes
                    decomposed e\u{301}
                    number 0.5
                    precomposed \u{E9}
                    text dark

                    """,
                "\(imported.errors)"
            )
            #expect(try Data(contentsOf: list) == before)

            #expect(try TestHelper.run(["clear-suite", "app"], home: home).status == 0)
            #expect(try TestHelper.run(["print-suite", "app"], home: home).output.isEmpty)
            #expect(try Data(contentsOf: list) == before)
        }
    }

    @Test("leaves a corrupt property list unchanged, and reports it")
    func corrupt() throws {
        try withTemporaryDirectory { home in
            let list = home.appending(path: ".config/app.plist")
            try FileManager.default.createDirectory(
                at: home.appending(path: ".config"),
                withIntermediateDirectories: true
            )
            try Data("<plist><dict>".utf8).write(to: list)
            let outcome = try TestHelper.run(["print-suite", "app"], home: home)
            #expect(outcome.status == 0)
            #expect(outcome.output.isEmpty)
            #expect(outcome.errors.contains("import failed"))
            #expect(outcome.errors.contains("app.plist"))
            #expect(try Data(contentsOf: list) == Data("<plist><dict>".utf8))
        }
    }

    @Test("imports all valid values, and reports the others")
    func unusableKey() throws {
        try withTemporaryDirectory { home in
            let configuration = home.appending(path: ".config")
            try FileManager.default.createDirectory(at: configuration, withIntermediateDirectories: true)
            let values = ["": "no key", "text": "dark"]
            let list = try PropertyListSerialization.data(fromPropertyList: values, format: .xml, options: 0)
            try list.write(to: configuration.appending(path: "app.plist"))
            let outcome = try TestHelper.run(["print-suite", "app"], home: home)
            #expect(outcome.output == "text dark\n")
            #expect(outcome.errors.split(separator: "\n").count == 1)
            #expect(outcome.errors.contains("import failed"))
        }
    }

    @Test("reports to a handler that may use the suite being opened")
    func handlerUsesSuite() throws {
        try withTemporaryDirectory { home in
            try FileManager.default.createDirectory(
                at: home.appending(path: ".config"),
                withIntermediateDirectories: true
            )
            try Data("<plist>".utf8).write(to: home.appending(path: ".config/DefaultTestHelper.plist"))
            let outcome = try TestHelper.run(["handler-in-standard"], home: home)
            #expect(outcome.output == "importFailed\n", "\(outcome.errors)")
        }
    }

    @Test("does not change a suite that has values")
    func existing() throws {
        try withTemporaryDirectory { home in
            _ = try TestHelper.run(["write-suite", "app", "text", "bright"], home: home)
            _ = try TestHelper.run(["write-foundation", "app"], home: home)
            let printed = try TestHelper.run(["print-suite", "app"], home: home)
            #expect(printed.output == "text bright\n")
        }
    }
}
#endif
