import Foundation
import Testing

@testable import Default

@Suite("A suite's index")
struct SuiteIndexTests {
    @Test("takes a value that is in memory already for what its bytes in a journal would be")
    func entering() throws {
        let values: [PropertyListValue] = [.data(Data("shared".utf8)), .data(Data()), .string("text"), .integer(-1)]
        let key = StoreKey(unchecked: "k")
        for first in values {
            for second in values {
                let entered = SuiteIndex()
                let replayed = SuiteIndex()
                for value in [first, second] {
                    Array("k".utf8).withUnsafeBytes { key in
                        value.binaryForm.withUnsafeBytes { _ = replayed.set(key: key, value: $0) }
                    }
                    entered.enter(StoredValue(value), for: key, at: entered.entries.index(forKey: key))
                    #expect(entered.entries == replayed.entries)
                    #expect(entered.entries[key]?.value == value)
                    #expect(replayed.entries[key]?.value == value)
                }
            }
        }
    }
}
