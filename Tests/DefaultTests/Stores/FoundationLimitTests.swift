import Foundation
import Testing

@testable import Default

@Suite("What Foundation refuses without an error on Apple platforms")
struct FoundationLimitTests {
    @Test("is a value of the limit and more, in any form, and gets an error that names the key")
    func values() throws {
        let store = MemoryDefaults()
        let limits = FoundationLimits(value: 1_000)
        let fitting: [PropertyListValue] = [
            .data(Data(count: 998)), .string(String(repeating: "x", count: 998)),
            .array(Array(repeating: .integer(1), count: 76)),
            .dictionary(["k": .data(Data(count: 988))]), .boolean(true), .date(Date()),
        ]
        for value in fitting {
            try limits.check(value, forKey: "k", in: store)
            let error = expectError(.valueTooLarge) {
                try limits.check(.array([value, .data(Data(count: 1_000))]), forKey: "k", in: store)
            }
            #expect(error?.key == "k")
            #expect(error?.description.contains("1000") == true)
        }
        let error = expectError(.valueTooLarge) { try limits.check(.data(Data(count: 999)), forKey: "k", in: store) }
        #expect(error?.store == store.storeDescription)
        let text = "it would hold 1000 bytes, and the system refuses 1000 and more."
        #expect(error?.description.contains(text) == true)
        expectError(.valueTooLarge) {
            try limits.check(.dictionary(["k": .data(Data(count: 989))]), forKey: "k", in: store)
        }
    }

    @Test("is, on tvOS, also a value with which all together reach the limit, except what it replaces")
    func total() throws {
        let store = MemoryDefaults()
        let limits = FoundationLimits(value: 1_000, total: 1_000)
        try store.set(Data(count: 400), forKey: "a")
        try store.set(Data(count: 400), forKey: "b")
        expectError(.valueTooLarge) { try limits.check(.data(Data(count: 200)), forKey: "c", in: store) }
        // Each of the other values takes its key, a byte for its type, and its 400 bytes.
        let error = expectError(.valueTooLarge) { try limits.check(.data(Data(count: 195)), forKey: "c", in: store) }
        #expect(error?.description.contains("it would hold 1000 bytes, and the system refuses 1000") == true)
        #expect(error?.key == "c")
        try limits.check(.data(Data(count: 194)), forKey: "c", in: store)
        try limits.check(.data(Data(count: 590)), forKey: "b", in: store)
    }

    @Test("is nothing on this system")
    func thisSystem() {
        #if !canImport(Darwin)
        #expect(FoundationLimits.ofSystem == nil)
        #endif
    }
}
