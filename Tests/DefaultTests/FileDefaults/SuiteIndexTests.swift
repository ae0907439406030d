import Foundation
import Testing

@testable import Default

@Suite("A suite's index")
struct SuiteIndexTests {
    @Test("treats a value in memory like its bytes in a journal")
    func inserting() throws {
        let values: [PropertyListValue] = [.data(Data("shared".utf8)), .data(Data()), .string("text"), .integer(-1)]
        let key = StoreKey(unchecked: "k")
        for first in values {
            for second in values {
                let inserted = SuiteIndex()
                let replayed = SuiteIndex()
                for value in [first, second] {
                    Array("k".utf8).withUnsafeBytes { key in
                        value.binaryForm.withUnsafeBytes { _ = replayed.set(key: key, value: $0) }
                    }
                    inserted.insert(StoredValue(value), for: key, at: inserted.entries.index(forKey: key))
                    #expect(inserted.entries == replayed.entries)
                    #expect(inserted.entries[key]?.value == value)
                    #expect(replayed.entries[key]?.value == value)
                }
            }
        }
    }

    @Test("names a change of this process once, also if the journal was read again just before")
    func changeAfterReading() {
        let index = SuiteIndex()
        let observation = index.changes.add { _ in }
        defer { observation.cancel() }
        func replay() {
            Array("k".utf8).withUnsafeBytes { key in
                PropertyListValue.string("old").binaryForm.withUnsafeBytes { _ = index.set(key: key, value: $0) }
            }
        }
        replay()
        #expect(index.takeChangedKeys() == ["k"])
        index.removeAll()
        replay()
        let key = StoreKey(unchecked: "k")
        index.insert(StoredValue(PropertyListValue.string("new")), for: key, at: index.entries.index(forKey: key))
        // Another thread that looks first, such as the one that watches, must not report what this one will.
        #expect(onAnotherThread { index.takeChangedKeys() }.isEmpty)
        #expect(index.takeChangedKeys() == ["k"])
    }
}
