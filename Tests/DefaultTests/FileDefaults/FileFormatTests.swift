import Default
import Foundation
import Testing

@Suite("The file format")
struct FileFormatTests {
    /// A program in another language wrote the fixture, from the article "File format".
    @Test("of version 1 is read exactly by this version and all later ones")
    func goldenFile() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            let golden = try #require(Fixtures.data(named: "suite-v1.journal"))
            try golden.write(to: url.appending(path: "journal"))
            let suite = try FileDefaults(url: url)
            let expected: [String: Any] = [
                "string": "bright é", "data": Data([0, 1, 255]), "true": true, "false": false, "integer": -42,
                "unsigned": UInt.max, "real": 0.1, "date": Date(timeIntervalSinceReferenceDate: 123_456_789.5),
                "array": [1, "two", [3.5]] as [Any],
                "dictionary": ["a": 1, "b": ["c": Data([9])]] as [String: Any], "empty": [Any](),
            ]
            for (key, value) in expected {
                let stored = try #require(suite.object(forKey: key), "\(key)")
                #expect(type(of: stored) == type(of: value), "\(key)")
                #expect(try PropertyListValue(object: stored) == PropertyListValue(object: value), "\(key)")
            }
            #expect(suite.integer(forKey: "\u{E9}") == 1)
            #expect(suite.integer(forKey: "e\u{301}") == 2)
            #expect(suite.object(forKey: "gone") == nil)
            #expect(try suite.verify().isIntact)
            #expect(try Data(contentsOf: url.appending(path: "journal")) == golden)
        }
    }

    @Test("treats malformed values as absent, and changes nothing")
    func malformedValues() throws {
        for bytes in [
            [], [0], [11], [2, 0xFF], [3, 0], [5, 1], [9, 1, 0, 0, 0], [9, 255, 255, 255, 255], [10, 1, 0, 0, 0, 97],
        ] {
            #expect(PropertyListValue(binaryForm: Data(bytes.map { UInt8($0) })) == nil)
        }
        var nested = Data([5, 0, 0, 0, 0, 0, 0, 0, 0])
        for _ in 0..<300 {
            nested = Data([9]) + withUnsafeBytes(of: UInt32(nested.count).littleEndian) { Data($0) } + nested
        }
        #expect(PropertyListValue(binaryForm: nested) == nil)
    }
}
