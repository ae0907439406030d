@testable import Default
import DefaultJournal
import Foundation
import Testing

@Suite("Files as sources")
struct SourceFileTests {
    /// A file in a directory of its own.
    private func withFile(_ test: (URL) throws -> Void) throws {
        try withTemporaryDirectory { try test($0.appending(path: "settings.json")) }
    }

    private func write(_ text: String, to url: URL) throws {
        // In place of the file, as editors do.
        try Data(text.utf8).write(to: url, options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: url.path)
    }

    private func values(_ url: URL) throws -> [String: PropertyListValue] { try FileSource.file(url).values() }

    private func reason(_ url: URL) -> String {
        do {
            _ = try values(url)
            return ""
        } catch { return "\(error)" }
    }

    @Test("are JSON, property lists in XML or binary form, or the folder of a suite")
    func forms() throws {
        try withFile { file in
            #expect(try values(file) == [:])
            try write(#"{"volume": 0.5, "Player": {"theme": "dark"}, "none": null}"#, to: file)
            let expected: [String: PropertyListValue] = ["volume": 0.5, "Player": ["theme": "dark"]]
            #expect(try values(file) == expected)
            let object: [String: Any] = ["volume": 0.5, "Player": ["theme": "dark"]]
            for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
                let data = try PropertyListSerialization.data(fromPropertyList: object, format: format, options: 0)
                try data.write(to: file, options: .atomic)
                try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
                #expect(try values(file) == expected, "\(format)")
            }
            let folder = file.deletingLastPathComponent().appending(path: "suite")
            let suite = try FileDefaults(url: folder)
            try suite.set(0.5, forKey: "volume")
            let store = MemoryDefaults(fallbacks: [.file(folder)])
            #expect(store.double(forKey: "volume") == 0.5)
            #expect(store.origin(forKey: "volume")?.url?.path == folder.path)
        }
    }

    @Test("that people have broken are reported with line and column; the last good values stay")
    func broken() throws {
        try withFile { file in
            try write(#"{"volume": 0.5}"#, to: file)
            for kind in LayeredStoreKind.allCases {
                try write(#"{"volume": 0.5}"#, to: file)
                try kind.withStore(fallbacks: [.file(file)]) { store in
                    #expect(store.double(forKey: "volume") == 0.5)
                    try write("{\n  \"volume\": 0.6,\n}", to: file)
                    let collector = EventCollector()
                    collector.collect {
                        store.sources?.look()
                        store.sources?.look()
                    }
                    #expect(collector.events.map(\.kind) == [.sourceUnusable])
                    #expect(
                        collector.events[0].error.description == """
                            The values of \(file.path):3:1 can't be used: a name in quotation marks is missing.
                            """
                    )
                    #expect(store.double(forKey: "volume") == 0.5)
                    try store.set(1, forKey: "other")
                    try write(#"{"volume": 0.7}"#, to: file)
                    expectEvents([.sourceRestored]) { store.sources?.look() }
                    #expect(store.double(forKey: "volume") == 0.7)
                    try FileManager.default.removeItem(at: file)
                    store.sources?.look()
                    #expect(store.object(forKey: "volume") == nil)
                }
            }
        }
    }

    @Test("that are mandatory and broken make the whole suite mandatory, with the place in each error")
    func brokenMandatory() throws {
        try withFile { file in
            try write("{\"volume\": 1, \"volume\": 2}", to: file)
            for kind in LayeredStoreKind.allCases {
                try kind.withStore(mandatory: [.file(file)]) { store in
                    let error = #expect(throws: DefaultsError.self) { try store.set(1, forKey: "other") }
                    #expect(error?.code == .mandatory)
                    #expect(error?.description.contains("\(file.path):1:15 can't be used") == true, "\(error as Any)")
                    #expect(store.object(forKey: "volume") == nil)
                }
            }
        }
    }

    @Test("are found changed within a second by reads and writes, without an observer")
    func looks() throws {
        try withFile { file in
            try write(#"{"volume": 0.5}"#, to: file)
            let store = MemoryDefaults(fallbacks: [.file(file)])
            #expect(store.double(forKey: "volume") == 0.5)
            try write(#"{"volume": 0.6}"#, to: file)
            try wait(for: "the new value") { store.double(forKey: "volume") == 0.6 }
        }
    }

    @Test("are found changed however soon after they were read, in place and with the same size")
    func sameTick() throws {
        try withFile { file in
            try write(#"{"volume": 0}"#, to: file)
            let store = MemoryDefaults(fallbacks: [.file(file)])
            let handle = try FileHandle(forWritingTo: file)
            defer { try? handle.close() }
            for number in 1..<10 {
                try handle.seek(toOffset: 0)
                try handle.write(contentsOf: Data(#"{"volume": \#(number)}"#.utf8))
                store.sources?.look()
                #expect(store.integer(forKey: "volume") == number)
            }
        }
    }

    @Test("are watched while the store is observed, also where the folder doesn't exist yet", .waits)
    func watched() throws {
        try withTemporaryDirectory { directory in
            let folder = directory.appending(path: "later")
            let file = folder.appending(path: "settings.json")
            let suite = try FileDefaults(url: directory.appending(path: "s"), fallbacks: [.file(file)])
            let keys = Locked<Set<String>>([])
            let observation = suite.observeChanges { changed in keys.withLock { $0.formUnion(changed ?? ["?"]) } }
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            try write(#"{"volume": 0.5}"#, to: file)
            try wait(for: "the first value") { keys.withLock { $0 } == ["volume"] }
            keys.withLock { $0 = [] }
            try write(#"{"volume": 0.5, "other": 1}"#, to: file)
            try wait(for: "another value") { keys.withLock { $0 } == ["other"] }
            observation.cancel()
        }
    }

    @Test("that are no files, too large, or somebody else's are refused, and nothing waits")
    func hostile() throws {
        try withTemporaryDirectory { directory in
            func place(_ name: String) -> URL { directory.appending(path: name) }
            mkfifo(place("pipe").path, 0o600)
            #expect(reason(place("pipe")).contains("neither a file nor the folder"))
            try write("", to: place("large"))
            truncate(place("large").path, 2 << 30)
            #expect(reason(place("large")).contains("it has 2147483648 bytes, more than 16777216"))
            try write("{}", to: place("open"))
            chmod(place("open").path, 0o666)
            #expect(reason(place("open")).contains("others than its owner may write to it"))
            chmod(place("open").path, 0o664)
            #expect(reason(place("open")).contains("others than its owner may write to it"))
            try FileManager.default.createSymbolicLink(at: place("loop"), withDestinationURL: place("loop"))
            #expect(reason(place("loop")).contains("can't be used"))
            try FileManager.default.createDirectory(at: place("empty"), withIntermediateDirectories: false)
            expectEvents([.sourceUnusable]) {
                _ = MemoryDefaults(fallbacks: [.file(place("empty"))]).string(forKey: "a")
            }
            #expect(reason(place("missing/below")) == "" && reason(URL(string: "https://example.com/a")!) != "")
            try write("{\"a\": \"\u{FFFD}\"}".replacing("\u{FFFD}", with: "x"), to: place("text"))
            try Data([0x7B, 0x22, 0x61, 0x22, 0x3A, 0x22, 0xFF, 0x22, 0x7D]).write(to: place("bytes"))
            chmod(place("bytes").path, 0o600)
            #expect(reason(place("bytes")).contains("bytes:1:6 can't be used: a string isn't UTF-8"))
            try write("[1]", to: place("array"))
            #expect(reason(place("array")).contains("array:1:1 can't be used: its value is not an object of keys"))
            try write(String(repeating: "<array>", count: 100_000), to: place("deep"))
            #expect(reason(place("deep")).contains("it nests too deeply"))
            try write("<plist><dict><key>a</key>", to: place("xml"))
            #expect(reason(place("xml")).contains("is not a property list"))
            try write("bplist00" + String(repeating: "\u{7}", count: 60), to: place("binary"))
            #expect(reason(place("binary")).contains("damaged property list"))
            if getuid() == 0 {
                try write("{}", to: place("foreign"))
                chown(place("foreign").path, 4_321, 4_321)
                try FileManager.default.createSymbolicLink(at: place("link"), withDestinationURL: place("foreign"))
                #expect(reason(place("link")).contains("who is neither root nor this user"))
            }
        }
    }

    @Test("of a suite's name are those of the XDG directories, in the specification's order")
    func byName() throws {
        try withTemporaryDirectory { directory in
            for name in ["first", "second", "policies"] {
                try FileManager.default.createDirectory(
                    at: directory.appending(path: name),
                    withIntermediateDirectories: false
                )
            }
            func file(_ name: String) -> URL { directory.appending(path: name) }
            try write(#"{"a": "first", "b": "first"}"#, to: file("first/player.json"))
            try write(#"{"a": "second", "b": "second", "c": "second", "d": "second"}"#, to: file("second/player.json"))
            try write(#"{"d": "policy"}"#, to: file("policies/player.mandatory.json"))
            try write(#"{"e": "other"}"#, to: file("first/other.json"))
            let places = SourcePlaces(
                mandatory: [file("policies").path],
                fallbacks: [file("missing").path, file("first").path, file("second").path]
            )
            let sources = places.sources(
                ofSuite: "player",
                fallbacks: [.values(["a": "given"], name: "given")]
            )
            let store = FileDefaults(
                suite: FileSuite(location: .directory(file("suite"))),
                durability: .background,
                sources: sources
            )
            #expect(
                ["a", "b", "c", "d", "e"].map { store.string(forKey: $0) }
                    == ["given", "first", "second", "policy", nil]
            )
            #expect(store.origin(forKey: "d")?.kind == .mandatory)
            #expect(store.origin(forKey: "b")?.url?.path == file("first/player.json").path)
            // A file that appears later counts.
            try write("<plist><dict><key>e</key><string>list</string></dict></plist>", to: file("second/player.plist"))
            store.sources?.look()
            #expect(store.string(forKey: "e") == "list")
            let nowhere = SourcePlaces(mandatory: [file("no").path], fallbacks: [file("no").path])
            #expect(nowhere.sources(ofSuite: "player") == nil)
            #expect(places.sources(ofSuite: nil) == nil)
            #expect(places.sources(ofSuite: "../player") == nil)
        }
    }

    @Test("are those of the directories that the variable names, of which none is mandatory")
    func variable() throws {
        let places = SourcePlaces.system(variable: "/opt/a:relative::/opt/b")
        #expect(places.fallbacks == ["/opt/a", "/opt/b"] && places.mandatory == ["/etc/xdg"])
        for variable in [nil, ""] { #expect(SourcePlaces.system(variable: variable).fallbacks == ["/etc/xdg"]) }
    }
}
