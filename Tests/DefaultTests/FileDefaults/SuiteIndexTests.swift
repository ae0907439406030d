import Foundation
import Testing

@testable import Default
@testable import DefaultJournal

@Suite("A suite's index")
struct SuiteIndexTests {
    @Test("treats a value in memory like its bytes in a journal")
    func inserting() throws {
        // The text as bytes, and two strings that are equal, but not in their bytes.
        let values: [PropertyListValue] = [
            .data(Data("text".utf8)), .data(Data()), .string("text"), .string("\u{E9}"), .string("e\u{301}"),
            .string(""),
            .integer(-1),
        ]
        let key = StoreKey(unchecked: "k")
        for first in values {
            for second in values {
                let inserted = SuiteIndex()
                let replayed = SuiteIndex()
                for value in [first, second] {
                    Array("k".utf8).withUnsafeBytes { key in
                        value.binaryForm.withUnsafeBytes { replayed.apply(key, $0) }
                        StoredValue(value).withBytes { tag, rest in
                            _ = inserted.set(key: key, prefix: tag, value: rest, from: .thisThread)
                            #expect(replayed.holds(key: key, prefix: tag, value: rest))
                        }
                    }
                    #expect(inserted.makeValue(for: key) == StoredValue(value))
                    #expect(inserted.holds(StoredValue(value), for: key))
                    #expect(inserted.entries == replayed.entries)
                    #expect(inserted.entries[key]?.value?.binaryForm == value.binaryForm)
                    #expect(replayed.entries[key]?.value?.binaryForm == value.binaryForm)
                }
            }
        }
    }

    @Test("knows which values a journal's bytes are already, and how many bytes they have there")
    func comparing() throws {
        let values: [PropertyListValue] = [
            .data(Data("text".utf8)), .string("text"), .string("test"), .string("\u{E9}"), .string("e\u{301}"),
            .string(""), .integer(-1),
        ]
        for first in values {
            let stored = StoredValue(first)
            #expect(stored.byteCount == first.binaryForm.count)
            for second in values {
                let isSame = second.binaryForm == first.binaryForm
                #expect((stored == StoredValue(second)) == isSame)
                let index = SuiteIndex()
                Array("k".utf8).withUnsafeBytes { key in first.binaryForm.withUnsafeBytes { index.apply(key, $0) } }
                #expect(
                    index.holds(StoredValue(second), for: StoreKey(unchecked: "k")) == isSame,
                    "\(first), \(second)"
                )
            }
        }
    }

    @Test("knows its bytes from others of the same length, from the beginning of them, and from more of them")
    func comparingBytes() {
        let index = SuiteIndex()
        let bytes: [UInt8] = [7, 1, 2, 3, 4]
        bytes.withUnsafeBytes { bytes in
            func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer { .init(rebasing: bytes[range]) }
            Array("k".utf8).withUnsafeBytes { key in
                func holds(_ prefix: UInt8?, _ range: Range<Int>) -> Bool {
                    index.holds(key: key, prefix: prefix, value: slice(range))
                }
                #expect(!holds(nil, 0..<4))
                index.apply(key, slice(0..<4))
                #expect(holds(nil, 0..<4) && holds(7, 1..<4))
                #expect(!holds(nil, 1..<5) && !holds(nil, 0..<3) && !holds(nil, 0..<5) && !holds(nil, 0..<0))
                #expect(!holds(7, 2..<5) && !holds(7, 1..<3) && !holds(7, 1..<5) && !holds(8, 1..<4))
                index.apply(key, slice(0..<0))
                #expect(holds(nil, 0..<0) && !holds(7, 0..<0))
            }
        }
    }

    @Test("keeps bytes that are no value as they are")
    func invalidBytes() {
        let index = SuiteIndex()
        for bytes: [UInt8] in [[PropertyListValue.Tag.string.rawValue, 0xFF], [200, 1], []] {
            Array("k".utf8).withUnsafeBytes { key in
                bytes.withUnsafeBytes { index.apply(key, $0) }
            }
            let stored = index.makeValue(for: StoreKey(unchecked: "k"))
            #expect(stored == .encoded(Data(bytes)))
            #expect(stored?.value == nil)
        }
    }

    @Test("names a string that was replaced by an equal one of other bytes, when the journal was read again")
    func equalStrings() {
        let index = SuiteIndex()
        let observation = index.changes.add { _ in }
        defer { observation.cancel() }
        func set(_ string: String, forKey key: String) {
            Array(key.utf8).withUnsafeBytes { key in
                PropertyListValue.string(string).binaryForm.withUnsafeBytes { index.apply(key, $0) }
            }
        }
        set("\u{E9}", forKey: "changed")
        set("\u{E9}", forKey: "same")
        _ = index.takeChangedKeys()
        index.removeAll(from: .journal)
        set("e\u{301}", forKey: "changed")
        set("\u{E9}", forKey: "same")
        #expect(index.takeChangedKeys() == ["changed"])
    }

    @Test("names a change of this process once, also if the journal was read again just before")
    func changeAfterReading() {
        let index = SuiteIndex()
        let observation = index.changes.add { _ in }
        defer { observation.cancel() }
        func replay() {
            Array("k".utf8).withUnsafeBytes { key in
                PropertyListValue.string("old").binaryForm.withUnsafeBytes { index.apply(key, $0) }
            }
        }
        replay()
        #expect(index.takeChangedKeys() == ["k"])
        index.removeAll(from: .journal)
        replay()
        Array("k".utf8).withUnsafeBytes { key in
            PropertyListValue.string("new").binaryForm.withUnsafeBytes { value in
                _ = index.set(key: key, prefix: nil, value: value, from: .thisThread)
            }
        }
        // Another thread that looks first, such as the one that watches, must not report what this one will.
        #expect(onAnotherThread { index.takeChangedKeys() }.isEmpty)
        #expect(index.takeChangedKeys() == ["k"])
    }
}

extension SuiteIndex {
    /// Stores a value that was read from the journal.
    func apply(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        _ = set(key: key, prefix: nil, value: value, from: .journal)
    }
}
