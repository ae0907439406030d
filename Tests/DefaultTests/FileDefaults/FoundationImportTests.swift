import Foundation
import Testing

@testable import Default

#if !canImport(Darwin)
@Suite("Importing a Foundation property list", .waits)
struct FoundationImportTests {
    @Test("imports every value once, and keeps the property list")
    func once() throws {
        try withTemporaryDirectory { home in
            let list = home.appending(path: ".config/app.plist")
            // Foundation itself writes the list, through this library in another process.
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

            // Most suites have no such list, which causes no event.
            let other = try TestHelper.run(["print-suite", "other"], home: home)
            #expect(other.output.isEmpty && other.errors.isEmpty, "\(other.errors)")
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
            #expect(outcome.errors.contains("and the suite starts empty."))
            #expect(try Data(contentsOf: list) == Data("<plist><dict>".utf8))
        }
    }

    /// A binary property list with a dictionary of one array, below which each of `levels` arrays holds the next one
    /// twice.
    private func sharedReferences(levels: UInt8) -> Data {
        // The dictionary's key is object 1, the arrays begin with object 2, and the last object is a Boolean.
        var objects: [[UInt8]] = [[0xD1, 1, 2], [0x51, 0x6B]]
        objects += (0..<levels).map { [0xA2, $0 + 3, $0 + 3] }
        objects.append([0x09])
        var list = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets.append(UInt8(list.count))
            list += object
        }
        let table = UInt8(list.count)
        list += offsets + [0, 0, 0, 0, 0, 0, 1, 1]
        for number in [UInt8(objects.count), 0, table] { list += [0, 0, 0, 0, 0, 0, 0, number] }
        return Data(list)
    }

    @Test("refuses a property list of some bytes in which shared arrays have a million elements")
    func sharedReferences() throws {
        for (levels, isRefused) in [(UInt8(2), false), (20, true)] {
            try withTemporaryDirectory { home in
                let configuration = home.appending(path: ".config")
                try FileManager.default.createDirectory(at: configuration, withIntermediateDirectories: true)
                let list = sharedReferences(levels: levels)
                #expect(list.count < 160)
                try list.write(to: configuration.appending(path: "app.plist"))
                let outcome = try TestHelper.run(["print-suite", "app"], home: home)
                #expect(outcome.status == 0)
                #expect(outcome.output.isEmpty == isRefused)
                #expect(outcome.errors.contains("import failed") == isRefused)
                #expect(try Data(contentsOf: configuration.appending(path: "app.plist")) == list)
            }
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
            // The second line says how to replace the handler.
            #expect(outcome.errors.split(separator: "\n").count == 2)
            #expect(outcome.errors.contains("import failed"))
            #expect(outcome.errors.contains(#"stored under "" in "#))
            #expect(outcome.errors.contains("The other values were imported."))
        }
    }

    @Test("says in its errors which key and file they are about, and what the cause was")
    func errors() {
        let list = URL(filePath: "/home/app.plist")
        let ofKey = DefaultsError.importFailed(propertyList: list, CocoaError(.fileReadCorruptFile), key: "k")
        #expect(ofKey.code == .importFailed && ofKey.key == "k" && ofKey.underlyingError is CocoaError)
        #expect(ofKey.description.hasPrefix(#"The value that Foundation stored under "k" in /home/app.plist can't"#))
        let ofFile = DefaultsError.importFailed(propertyList: list, CocoaError(.fileReadCorruptFile))
        #expect(ofFile.code == .importFailed && ofFile.key == nil && ofFile.underlyingError is CocoaError)
        #expect(ofFile.description.hasPrefix("The values that Foundation stored in /home/app.plist can't"))
    }

    @Test("looks for the list of a suite's name beside the suite, and for none of a suite in its own directory")
    func place() throws {
        let list = try #require(try SuiteLocation.named("a.b").foundationPropertyList())
        let suite = try SuiteLocation.named("a.b").path()
        #expect(list.path == suite.dropLast("defaults".count) + "plist")
        #expect(try SuiteLocation.directory(URL(filePath: "/a/b.defaults")).foundationPropertyList() == nil)
    }

    @Test("imports all values but one that is too large for a suite, and reports that", .onlyInFullRuns)
    func tooLarge() throws {
        try withTemporaryDirectory { home in
            let configuration = home.appending(path: ".config")
            try FileManager.default.createDirectory(at: configuration, withIntermediateDirectories: true)
            let values: [String: Any] = ["large": Data(count: 64 << 20 + 1), "text": "dark"]
            let list = try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
            try list.write(to: configuration.appending(path: "app.plist"))
            let outcome = try TestHelper.run(["print-suite", "app"], home: home)
            #expect(outcome.output == "text dark\n")
            // The second line says how to replace the handler.
            #expect(outcome.errors.split(separator: "\n").count == 2)
            #expect(outcome.errors.contains("import failed"))
            #expect(outcome.errors.contains("\"large\""))
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
