import Foundation
import Testing

@testable import DefaultJournal

@Suite("A table of entries")
struct EntryTableTests {
    private func with<Result>(_ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body($0) }
    }

    @Test("holds a value as it is, whether its first byte is separate or not")
    func values() {
        var table = EntryTable()
        let key: [UInt8] = [107]
        func set(_ value: [UInt8], prefix: UInt8? = nil) {
            with(key) { key in with(value) { table.set(key, prefix: prefix, $0) } }
        }
        func holds(_ value: [UInt8], prefix: UInt8? = nil) -> Bool {
            with(key) { key in with(value) { table.holds(key, prefix: prefix, $0) } }
        }
        #expect(!holds([]) && !holds([], prefix: 0))
        set([])
        #expect(holds([]) && !holds([], prefix: 0) && !holds([0]))
        set([1])
        #expect(holds([1]) && holds([], prefix: 1) && !holds([]) && !holds([1], prefix: 1))
        set([2, 3], prefix: 1)
        #expect(holds([1, 2, 3]) && holds([2, 3], prefix: 1))
        #expect(!holds([2, 3]) && !holds([2, 3], prefix: 2) && !holds([2, 4], prefix: 1) && !holds([2], prefix: 1))
        // A value of the same length takes the place of the old one.
        set([8, 9], prefix: 7)
        #expect(holds([7, 8, 9]) && !holds([1, 2, 3]))
        let count = table.count
        #expect(count == 1)
    }

    @Test("tells keys apart that differ in one byte, whatever their length")
    func keys() {
        var table = EntryTable()
        var keys: [[UInt8]] = []
        for length in 1...40 {
            keys.append([UInt8](repeating: 65, count: length))
            for index in 0..<length {
                var key = [UInt8](repeating: 65, count: length)
                key[index] = 66
                keys.append(key)
            }
        }
        for (number, key) in keys.enumerated() {
            with(key) { key in with([UInt8(number % 251), UInt8(number / 251)]) { table.set(key, $0) } }
        }
        let count = table.count
        #expect(count == keys.count)
        for (number, key) in keys.enumerated() {
            let value = with(key) { table.entry($0).map { Array($0.value) } }
            #expect(value == [UInt8(number % 251), UInt8(number / 251)])
        }
        for key in keys.dropLast() { with(key) { table.remove($0) } }
        let (left, size) = (table.count, table.journalSize)
        // The headers of a record and of a set, a key of 40 bytes and a value of 2, rounded up to a multiple of 8.
        #expect(left == 1 && size == 4_128 + 72)
        table.removeAll()
        let (none, least) = (table.count, table.journalSize)
        #expect(none == 0 && least == 4_128)
    }

    @Test("frees what was made of a value when its entry changes or goes, once, and nothing else")
    func forms() {
        let freed = Locked<[UInt]>([])
        func take() -> [UInt] { freed.exchange([]).sorted() }
        let one: [UInt8] = [1]
        do {
            var table = EntryTable(freeForm: { form in freed.withLock { $0.append(UInt(bitPattern: form)) } })
            func set(_ key: UInt8, _ value: [UInt8], form: UInt? = nil) {
                with([key]) { key in
                    with(value) { table.set(key, $0) }
                    if let form { table.entry(key)?.form = UnsafeMutableRawPointer(bitPattern: form) }
                }
            }
            func form(_ key: UInt8) -> UInt? {
                with([key]) { table.entry($0)?.form.map { UInt(bitPattern: $0) } }
            }
            for key in UInt8(1)...20 { set(key, one, form: UInt(key)) }
            // The table has grown since, and its entries have moved.
            #expect(take().isEmpty && (1...20).allSatisfy { form($0) == UInt($0) })
            // A value of the same length, and one of another length.
            set(1, [2])
            #expect(take() == [1] && form(1) == nil)
            set(2, [1, 2])
            #expect(take() == [2] && form(2) == nil)
            with([3]) { table.remove($0) }
            #expect(take() == [3])
            // An entry without a form has nothing to free.
            set(1, [3])
            with([2]) { table.remove($0) }
            with([99]) { table.remove($0) }
            #expect(take().isEmpty)
            table.removeAll()
            #expect(take() == Array(4...20))
            set(1, one, form: 100)
            set(2, one)
            #expect(take().isEmpty)
        }
        #expect(take() == [100])
    }

    @Test("differs from another one in what is changed, in what is missing, and in what is only there")
    func differences() {
        var table = EntryTable()
        var other = EntryTable()
        let one: [UInt8] = [1]
        for key in UInt8(1)...3 { with([key]) { key in with(one) { table.set(key, $0) } } }
        for (key, value) in [(1, [1]), (2, [2]), (4, [1])] as [(UInt8, [UInt8])] {
            with([key]) { key in with(value) { other.set(key, $0) } }
        }
        var keys: [UInt8] = []
        table.forEachDifference(from: other) { keys += $0 }
        #expect(keys.sorted() == [2, 3, 4])
        keys = []
        other.forEachDifference(from: table) { keys += $0 }
        #expect(keys.sorted() == [2, 3, 4])
    }

    @Test("throws for a value that a file claims to have and there is no memory for, and is unchanged")
    func refusedMemory() {
        var table = EntryTable()
        with([1]) { key in with([2]) { table.set(key, $0) } }
        // The table must not read any of these bytes.
        let claim = UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: 4_096), count: 1 << 50)
        for key: [UInt8] in [[1], [2]] {
            let kind: JournalError.Kind? = with(key) { key in
                do throws(JournalError) {
                    try table.apply(checking: .set(key: key, value: claim))
                    return nil
                } catch {
                    return error.kind
                }
            }
            #expect(kind == .system(.malloc, code: ENOMEM))
        }
        let count = table.count
        let value = with([1]) { table.entry($0).map { Array($0.value) } }
        #expect(count == 1 && value == [2])
    }
}

extension EntryTable {
    fileprivate mutating func set(
        _ key: UnsafeRawBufferPointer,
        prefix: UInt8? = nil,
        _ value: UnsafeRawBufferPointer
    ) {
        apply(.set(key: key, prefix: prefix, value: value))
    }
}
