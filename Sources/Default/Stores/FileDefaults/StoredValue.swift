internal import DefaultJournal
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The in-memory form of a value: `Data` and strings are ready to be returned, everything else is in its binary form.
enum StoredValue: Sendable {
    case data(Data)
    /// A string whose UTF-8 is contiguous.
    case string(String)
    case encoded(Data)

    /// Creates a value from its bytes in the journal.
    init(_ bytes: UnsafeRawBufferPointer) {
        let tag = bytes.first.flatMap(PropertyListValue.Tag.init(rawValue:))
        let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
        switch tag {
        case .data: self = .data(Data(rest))
        case .string: self = String(strictUTF8: rest).map { .string($0) } ?? .encoded(Data(bytes))
        default: self = .encoded(Data(bytes))
        }
    }

    /// Creates a value from the one that a caller passed.
    init(_ value: PropertyListValue) {
        switch value {
        case .data(let data):
            self.init(data)
        case .string(var string):
            string.makeContiguousUTF8()
            self = .string(string)
        default:
            self = .encoded(value.binaryForm)
        }
    }

    /// Creates a value from any `Data`.
    init(_ data: Data) {
        // A slice would retain the whole buffer.
        self = .data(data.startIndex == 0 ? data : Data(data))
    }

    /// The number of bytes in the journal.
    var byteCount: Int {
        switch self {
        case .data(let data): data.count + 1
        case .string(let string): string.utf8.count + 1
        case .encoded(let bytes): bytes.count
        }
    }

    /// Calls a body with the bytes for the journal: the first, which identifies the type, and the rest.
    ///
    /// Without copies: each costs two changes of a count that all threads see.
    func withBytes(_ body: (_ tag: UInt8, _ rest: UnsafeRawBufferPointer) -> Void) {
        switch self {
        case .data(let data): data.withUnsafeBytes { body(PropertyListValue.Tag.data.rawValue, $0) }
        case .string(var string):
            string.withUTF8 { body(PropertyListValue.Tag.string.rawValue, UnsafeRawBufferPointer($0)) }
        case .encoded(let bytes):
            bytes.withUnsafeBytes { body($0[0], UnsafeRawBufferPointer(rebasing: $0[1...])) }
        }
    }

    /// The value; nil for bytes of a type that this version doesn't know.
    var value: PropertyListValue? {
        switch self {
        case .data(let data): .data(data)
        case .string(let string): .string(string)
        case .encoded(let bytes): PropertyListValue(binaryForm: bytes)
        }
    }
}

/// A suite's entries as the layers above use them.
///
/// The journal keeps the bytes. The form in which a value is read is made when it is first read, and kept with the
/// entry.
extension EntryTable {
    /// Whether there is a value under a key.
    func contains(_ key: StoreKey) -> Bool { key.withUTF8 { entry(UnsafeRawBufferPointer($0)) != nil } }

    /// Whether a key has a value, or none.
    func holds(_ value: StoredValue?, for key: StoreKey) -> Bool {
        guard let value else { return !contains(key) }
        var isSame = false
        key.withUTF8 { key in
            value.withBytes { isSame = holds(UnsafeRawBufferPointer(key), prefix: $0, $1) }
        }
        return isSame
    }
}

extension EntryTable.Entry {
    /// The key; nil if it is the library's own: no caller's key begins with NUL.
    var storeKey: StoreKey? {
        key.first == 0 ? nil : StoreKey(unchecked: String(decoding: key, as: UTF8.self))
    }

    /// The outcome of a read that changes nothing.
    enum Reading {
        case value(PropertyListValue)
        /// The binary form of a value that isn't decoded while others wait for the lock.
        case encoded(Data)
        /// The value hasn't been read yet: ``makeValue()`` makes it.
        case unmade
    }

    /// The value; any number of threads may call this at once.
    var reading: Reading {
        switch readForm?.pointee {
        case .data(let data): .value(.data(data))
        case .string(let string): .value(.string(string))
        case .encoded(let bytes): .encoded(bytes)
        // Of a number, a Boolean or a date nothing but its bytes is kept.
        case nil: PropertyListValue(number: value).map { .value($0) } ?? .unmade
        }
    }

    /// The value, in a form that is kept; called while no other thread reads.
    func makeValue() -> StoredValue {
        if let form = readForm { return form.pointee }
        let made = UnsafeMutablePointer<StoredValue>.allocate(capacity: 1)
        made.initialize(to: StoredValue(value))
        form = UnsafeMutableRawPointer(made)
        return made.pointee
    }

    /// The value, made now if it hasn't been read.
    var storedValue: StoredValue { readForm?.pointee ?? StoredValue(value) }

    /// The form in which the value is read, if it has been read.
    fileprivate var readForm: UnsafeMutablePointer<StoredValue>? { form?.assumingMemoryBound(to: StoredValue.self) }
}
