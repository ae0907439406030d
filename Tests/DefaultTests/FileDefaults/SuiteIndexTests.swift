import Foundation
import Testing

@testable import Default

@Suite("A suite's index")
struct SuiteIndexTests {
    @Test("takes the value that is being written for those bytes alone, not for others that come by meanwhile")
    func incoming() {
        let index = SuiteIndex()
        let written = Array(PropertyListValue.string("written").encoded)
        let replayed = Array(PropertyListValue.string("replayed").encoded)
        let shared = Data("shared".utf8)
        written.withUnsafeBytes { written in
            replayed.withUnsafeBytes { replayed in
                index.incoming = (StoreKey(unchecked: "k"), StoredValue(shared), written.baseAddress)
                Array("k".utf8).withUnsafeBytes { key in
                    #expect(index.set(key: key, value: replayed) == nil)
                    #expect(index.entries[StoreKey(unchecked: "k")]?.value == .string("replayed"))
                    #expect(index.set(key: key, value: written) == 1 + replayed.count)
                    #expect(index.entries[StoreKey(unchecked: "k")]?.value == .data(shared))
                }
            }
        }
    }
}
