/// Keys and values in memory: a hash table of blocks, one for each entry, with the entry's key and value as in the
/// journal.
///
/// A block has room for a pointer to what the table's owner makes of the value, such as the form in which it is read.
package struct EntryTable: ~Copyable {
    /// The address of an entry's block, which has 24 bytes before the key: the owner's pointer, the key's hash, the
    /// lengths.
    package struct Entry: Equatable {
        fileprivate let block: UnsafeMutableRawPointer

        fileprivate static let headerSize = 24

        fileprivate var hash: Int { block.load(fromByteOffset: 8, as: Int.self) }
        fileprivate var keyLength: Int { Int(block.load(fromByteOffset: 16, as: UInt16.self)) }
        fileprivate var valueLength: Int { Int(block.load(fromByteOffset: 20, as: UInt32.self)) }

        /// The key's bytes, valid until the entry changes.
        package var key: UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(start: block + Self.headerSize, count: keyLength)
        }

        /// The value's bytes, valid until the entry changes.
        package var value: UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(start: block + Self.headerSize + keyLength, count: valueLength)
        }

        var contentSize: Int { keyLength + valueLength }

        /// What the owner has made of the value, until the entry changes.
        package var form: UnsafeMutableRawPointer? {
            get { block.load(as: UnsafeMutableRawPointer?.self) }
            nonmutating set { block.storeBytes(of: newValue, as: UnsafeMutableRawPointer?.self) }
        }
    }

    /// Blocks by the keys' hashes; open addressing, without gaps between a key's place and its block.
    private var slots: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    private var capacity: Int
    package private(set) var count = 0
    /// Bytes that a journal with only these entries has.
    private(set) var journalSize = UInt64(JournalHeader.size)

    private let hashSeed = UInt64.random(in: 0...UInt64.max)
    private let hashMultiplier = UInt64.random(in: 0...UInt64.max) | 1
    /// Frees what the owner has made of a value.
    let freeForm: (UnsafeMutableRawPointer) -> Void

    /// - Parameter freeForm: Frees what the owner has made of a value, when its entry changes.
    package init(freeForm: @escaping (UnsafeMutableRawPointer) -> Void = { _ in }) {
        self.freeForm = freeForm
        capacity = 16
        slots = Self.orTrap { () throws(JournalError) in try Self.makeSlots(16) }
    }

    private static func makeSlots(
        _ capacity: Int
    ) throws(JournalError) -> UnsafeMutablePointer<UnsafeMutableRawPointer?> {
        let size = capacity * MemoryLayout<UnsafeMutableRawPointer?>.stride
        let slots = try SystemCalls.allocateBlock(size).bindMemory(
            to: UnsafeMutableRawPointer?.self,
            capacity: capacity
        )
        slots.initialize(repeating: nil, count: capacity)
        return slots
    }

    /// The result of a body that needs memory for what the program itself says, where a failure ends the process as any
    /// other allocation's does.
    private static func orTrap<Result>(_ body: () throws(JournalError) -> Result) -> Result {
        do throws(JournalError) { return try body() } catch { preconditionFailure("\(error)") }
    }

    deinit {
        for index in 0..<capacity {
            guard let block = slots[index] else { continue }
            dropForm(of: Entry(block: block))
            SystemCalls.freeBlock(block)
        }
        SystemCalls.freeBlock(slots)
    }

    private func dropForm(of entry: Entry) {
        guard let form = entry.form else { return }
        freeForm(form)
        entry.form = nil
    }

    package func entry(_ key: UnsafeRawBufferPointer) -> Entry? {
        slots[slot(of: key, hash(key))].map { Entry(block: $0) }
    }

    /// Whether this value is stored under a key; the prefix is its first byte, if it isn't in `value`.
    package func holds(_ key: UnsafeRawBufferPointer, prefix: UInt8?, _ value: UnsafeRawBufferPointer) -> Bool {
        guard let stored = entry(key)?.value else { return false }
        guard let prefix else { return ByteSearch.isSame(stored, value) }
        return stored.first == prefix && ByteSearch.isSame(UnsafeRawBufferPointer(rebasing: stored[1...]), value)
    }

    /// Applies an operation of the program's own.
    mutating func apply(_ operation: Operation) {
        Self.orTrap { () throws(JournalError) in try apply(checking: operation) }
    }

    /// Applies an operation that a file has.
    ///
    /// - Throws: The refusal of memory, of which a file can claim much; the table is unchanged then.
    mutating func apply(checking operation: Operation) throws(JournalError) {
        switch operation {
        case .set(let key, let prefix, let value): try set(key, prefix: prefix, value)
        case .remove(let key): remove(key)
        case .removeAll: removeAll()
        case .moved: break
        }
    }

    /// Calls a body with each key that has another value in the other table, or none, or is only there.
    func forEachDifference(from other: borrowing EntryTable, _ body: (UnsafeRawBufferPointer) -> Void) {
        forEach { entry in
            if !other.holds(entry.key, prefix: nil, entry.value) { body(entry.key) }
        }
        other.forEach { entry in
            if self.entry(entry.key) == nil { body(entry.key) }
        }
    }

    package func forEach<Failure: Error>(_ body: (Entry) throws(Failure) -> Void) throws(Failure) {
        for index in 0..<capacity {
            if let block = slots[index] { try body(Entry(block: block)) }
        }
    }

    /// Stores a value; the prefix is its first byte, if it isn't in `value`.
    private mutating func set(
        _ key: UnsafeRawBufferPointer,
        prefix: UInt8?,
        _ value: UnsafeRawBufferPointer
    ) throws(JournalError) {
        let hash = hash(key)
        let length = value.count + (prefix == nil ? 0 : 1)
        var slot = slot(of: key, hash)
        let replaced = slots[slot].map { Entry(block: $0) }
        if let replaced, replaced.valueLength == length {
            dropForm(of: replaced)
            Self.fill(replaced.block + Entry.headerSize + key.count, prefix, value)
            return
        }
        if replaced == nil, (count + 1) * 4 > capacity * 3 {
            try grow()
            slot = self.slot(of: key, hash)
        }
        let block = try SystemCalls.allocateBlock(Entry.headerSize + key.count + length)
        block.storeBytes(of: nil, as: UnsafeMutableRawPointer?.self)
        block.storeBytes(of: hash, toByteOffset: 8, as: Int.self)
        block.storeBytes(of: UInt16(truncatingIfNeeded: key.count), toByteOffset: 16, as: UInt16.self)
        block.storeBytes(of: UInt32(truncatingIfNeeded: length), toByteOffset: 20, as: UInt32.self)
        Self.fill(block + Entry.headerSize, nil, key)
        Self.fill(block + Entry.headerSize + key.count, prefix, value)
        count(Entry(block: block), isAdded: true)
        if let replaced { free(replaced) } else { count += 1 }
        slots[slot] = block
    }

    private static func fill(_ target: UnsafeMutableRawPointer, _ prefix: UInt8?, _ bytes: UnsafeRawBufferPointer) {
        var target = target
        if let prefix {
            target.storeBytes(of: prefix, as: UInt8.self)
            target += 1
        }
        if let start = bytes.baseAddress { target.copyMemory(from: start, byteCount: bytes.count) }
    }

    // Compiled once, as is the next.
    @inline(never)
    mutating func remove(_ key: UnsafeRawBufferPointer) {
        var gap = slot(of: key, hash(key))
        guard let block = slots[gap] else { return }
        free(Entry(block: block))
        count -= 1
        slots[gap] = nil
        // Entries that would be found through the gap move into it.
        let mask = capacity - 1
        var next = (gap + 1) & mask
        while let moved = slots[next] {
            let distance = (next - Entry(block: moved).hash) & mask
            if distance >= (next - gap) & mask {
                slots[gap] = moved
                slots[next] = nil
                gap = next
            }
            next = (next + 1) & mask
        }
    }

    @inline(never)
    mutating func removeAll() { self = EntryTable(freeForm: freeForm) }

    private mutating func free(_ entry: Entry) {
        count(entry, isAdded: false)
        dropForm(of: entry)
        SystemCalls.freeBlock(entry.block)
    }

    private mutating func count(_ entry: Entry, isAdded: Bool) {
        let record = UInt64(Record.liveSize(payload: Operation.setOverhead + entry.contentSize))
        journalSize = isAdded ? journalSize + record : journalSize - record
    }

    private mutating func grow() throws(JournalError) {
        let (old, size) = (slots, capacity)
        slots = try Self.makeSlots(2 * size)
        capacity = 2 * size
        let mask = capacity - 1
        for index in 0..<size {
            guard let block = old[index] else { continue }
            var slot = Entry(block: block).hash & mask
            while slots[slot] != nil { slot = (slot + 1) & mask }
            slots[slot] = block
        }
        SystemCalls.freeBlock(old)
    }

    /// A hash whose collisions depend on two random numbers; for a short key, Swift's `Hasher` takes several times as
    /// long.
    private func hash(_ key: UnsafeRawBufferPointer) -> Int {
        var state = hashSeed ^ UInt64(truncatingIfNeeded: key.count)
        for cursor in stride(from: 0, to: key.count, by: 8) {
            var word: UInt64 = 0
            if key.count >= 8 {
                // The last word overlaps the one before it.
                word = key.loadUnaligned(fromByteOffset: min(cursor, key.count - 8), as: UInt64.self)
            } else {
                for byte in key { word = word << 8 | UInt64(byte) }
            }
            let product = (state ^ word).multipliedFullWidth(by: hashMultiplier)
            state = product.high ^ product.low
        }
        return Int(truncatingIfNeeded: state)
    }

    /// The slot of a key's block, or the free one for it.
    private func slot(of key: UnsafeRawBufferPointer, _ hash: Int) -> Int {
        let mask = capacity - 1
        var slot = hash & mask
        while let block = slots[slot] {
            let entry = Entry(block: block)
            if entry.hash == hash, ByteSearch.isSame(entry.key, key) { break }
            slot = (slot + 1) & mask
        }
        return slot
    }
}
