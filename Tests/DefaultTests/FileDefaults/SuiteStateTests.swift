import Foundation
import Testing

@testable import Default
@testable import DefaultJournal

@Suite("A suite's entries")
struct SuiteEntriesTests {
    private let key = StoreKey(unchecked: "k")

    @Test("are the same, whether a value comes from memory or as a journal's bytes")
    func inserting() throws {
        // A text as bytes, and two strings that are equal, but have different bytes.
        let values: [PropertyListValue] = [
            .data(Data("text".utf8)), .data(Data()), .string("text"), .string("\u{E9}"), .string("e\u{301}"),
            .string(""),
            .integer(-1),
        ]
        for first in values {
            for second in values {
                var inserted = EntryTable(freeForm: SuiteState.free)
                var replayed = EntryTable(freeForm: SuiteState.free)
                for value in [first, second] {
                    replayed.set(value.binaryForm, for: key)
                    StoredValue(value).withBytes { tag, rest in
                        key.withUTF8 { key in
                            let key = UnsafeRawBufferPointer(key)
                            inserted.apply(.set(key: key, prefix: tag, value: rest))
                            let isHeld = replayed.holds(key, prefix: tag, rest)
                            #expect(isHeld)
                        }
                    }
                    let (made, isHeld) = (inserted.made(for: key), inserted.holds(StoredValue(value), for: key))
                    #expect(made == StoredValue(value))
                    #expect(isHeld)
                    for made in [made, replayed.made(for: key)] {
                        #expect(made?.value?.binaryForm == value.binaryForm)
                    }
                }
            }
        }
    }

    @Test("know which values a journal's bytes are already, and how many bytes they have there")
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
                var table = EntryTable(freeForm: SuiteState.free)
                table.set(first.binaryForm, for: key)
                let isHeld = table.holds(StoredValue(second), for: key)
                #expect(isHeld == isSame, "\(first), \(second)")
            }
        }
    }

    @Test("that are no value are kept as they are")
    func invalidBytes() {
        var table = EntryTable(freeForm: SuiteState.free)
        for bytes: [UInt8] in [[PropertyListValue.Tag.string.rawValue, 0xFF], [200, 1], []] {
            table.set(Data(bytes), for: key)
            let stored = table.made(for: key)
            #expect(stored == .encoded(Data(bytes)))
            #expect(stored?.value == nil)
        }
    }

    @Test("that changed are named once: a thread's own by that thread, the others by the first that asks")
    func changedKeys() {
        let state = SuiteState()
        func note(_ key: String, _ origin: ChangeOrigin) {
            Array(key.utf8).withUnsafeBytes { state.noteChange(of: $0, by: origin) }
        }
        note("own", .thisThread)
        note("other", .journal)
        note("\0own", .journal)
        #expect(onAnotherThread { state.takeChangedKeys() } == ["other"])
        #expect(state.takeChangedKeys() == ["own"])
        note("both", .thisThread)
        note("other", .journal)
        #expect(state.takeChangedKeys() == ["both", "other"])
        #expect(state.takeChangedKeys().isEmpty)
    }

    @Test("that one thread changes over and over before it reports them take no more room than those keys")
    func repeatedChanges() {
        let state = SuiteState()
        for key in ["a", "b"] {
            for _ in 0..<1_000 {
                Array(key.utf8).withUnsafeBytes { state.noteChange(of: $0, by: .thisThread) }
            }
        }
        #expect(state.changedByThread.values.map(\.count) == [2])
        #expect(state.takeChangedKeys() == ["a", "b"])
        #expect(state.changedByThread.isEmpty)
    }
}

extension EntryTable {
    fileprivate mutating func set(_ bytes: Data, for key: StoreKey) {
        key.withUTF8 { key in bytes.withUnsafeBytes { apply(.set(key: UnsafeRawBufferPointer(key), value: $0)) } }
    }

    /// The value for a key, in the form that is kept for reads.
    fileprivate func made(for key: StoreKey) -> StoredValue? {
        key.withUTF8 { entry(UnsafeRawBufferPointer($0))?.makeValue() }
    }
}

extension StoredValue: Equatable {
    private var bytes: [UInt8] {
        if case .encoded(let data) = self { return Array(data) }
        var bytes: [UInt8] = []
        withBytes { tag, rest in bytes = [tag] + rest }
        return bytes
    }

    /// Whether two values have the same bytes; equal strings may differ in them.
    static func == (one: StoredValue, other: StoredValue) -> Bool { one.bytes == other.bytes }
}
