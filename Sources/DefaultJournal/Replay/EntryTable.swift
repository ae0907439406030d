/// Keys and values in memory: a hash table of blocks, one for each entry, with the entry's key and value as in the
/// journal.
///
/// A block has room for a pointer to a form that the table's owner makes of the value, such as the one in which it is
/// read.
package struct EntryTable: ~Copyable {
    /// The address of an entry's block.
    ///
    /// It has 16 bytes before the key: the owner's pointer, the key's length, the owner's note, whether it is in a
    /// chunk, the value's length.
    package struct Entry: Equatable {
        fileprivate let block: UnsafeMutableRawPointer

        fileprivate static let headerSize = 16

        fileprivate var keyLength: Int { Int(block.load(fromByteOffset: 8, as: UInt16.self)) }
        fileprivate var valueLength: Int { Int(block.load(fromByteOffset: 12, as: UInt32.self)) }

        /// The key's bytes, valid until the entry changes.
        package var key: UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(start: block + Self.headerSize, count: keyLength)
        }

        /// The value's bytes, valid until the entry changes.
        package var value: UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(start: block + Self.headerSize + keyLength, count: valueLength)
        }

        var contentSize: Int { keyLength + valueLength }

        /// A number in which the owner notes what it knows about the value, until the entry changes; 0 for nothing.
        package var note: UInt8 {
            get { block.load(fromByteOffset: 10, as: UInt8.self) }
            nonmutating set { block.storeBytes(of: newValue, toByteOffset: 10, as: UInt8.self) }
        }

        /// Whether the block is a part of one of the table's chunks, and isn't freed before that.
        fileprivate var isInChunk: Bool { block.load(fromByteOffset: 11, as: UInt8.self) != 0 }

        /// Whether this is the entry's value; the prefix is its first byte, if it isn't in `bytes`.
        func holds(_ prefix: UInt8?, _ bytes: UnsafeRawBufferPointer) -> Bool {
            guard let prefix else { return ByteSearch.isSame(value, bytes) }
            guard valueLength == bytes.count + 1, value[0] == prefix else { return false }
            return ByteSearch.isSame(UnsafeRawBufferPointer(rebasing: value[1...]), bytes)
        }

        /// The form that the owner has made of the value, until the entry changes.
        package var form: UnsafeMutableRawPointer? {
            get { block.load(as: UnsafeMutableRawPointer?.self) }
            nonmutating set { block.storeBytes(of: newValue, as: UnsafeMutableRawPointer?.self) }
        }
    }

    /// A block, with its key's hash: with the hash here, most blocks of other keys needn't be fetched into the
    /// processor's cache.
    private struct Slot {
        var hash: Int
        var block: UnsafeMutableRawPointer?
    }

    /// Blocks by the keys' hashes; open addressing, without gaps between a key's place and its block.
    private var slots: UnsafeMutablePointer<Slot>
    private var capacity: Int
    package private(set) var count = 0
    /// Bytes that a journal with only these entries has.
    private(set) var journalSize = UInt64(JournalHeader.size)

    /// Memory of the blocks that were made while ``isFilling``.
    private var chunks: [UnsafeMutableRawPointer] = []
    /// The unused part of the last chunk.
    private var chunkRest = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private static let chunkSize = 1 << 16
    /// Whether a journal is being read from its beginning: then many entries share an allocation.
    var isFilling = false

    private let hashSeed = UInt64.random(in: 0...UInt64.max)
    private let hashMultiplier = UInt64.random(in: 0...UInt64.max) | 1
    /// Frees the form that the owner has made of a value.
    let freeForm: (UnsafeMutableRawPointer) -> Void

    /// - Parameter freeForm: Frees the form that the owner has made of a value, when its entry changes.
    package init(freeForm: @escaping (UnsafeMutableRawPointer) -> Void = { _ in }) {
        self.freeForm = freeForm
        capacity = 16
        slots = Self.orTrap { () throws(JournalError) in try Self.makeSlots(16) }
    }

    private static func makeSlots(_ capacity: Int) throws(JournalError) -> UnsafeMutablePointer<Slot> {
        let memory = try SystemCalls.allocateBlock(capacity * MemoryLayout<Slot>.stride)
        let slots = memory.bindMemory(to: Slot.self, capacity: capacity)
        slots.initialize(repeating: Slot(hash: 0, block: nil), count: capacity)
        return slots
    }

    /// The result of a body that needs memory for the program's own values, where a failure ends the process as that of
    /// any other allocation does.
    private static func orTrap<Result>(_ body: () throws(JournalError) -> Result) -> Result {
        do throws(JournalError) {
            return try body()
        } catch {
            preconditionFailure("\(error)")
        }
    }

    deinit {
        for index in 0..<capacity {
            guard let block = slots[index].block else { continue }
            dropForm(of: Entry(block: block))
            if !Entry(block: block).isInChunk { SystemCalls.freeBlock(block) }
        }
        for chunk in chunks { SystemCalls.freeBlock(chunk) }
        SystemCalls.freeBlock(slots)
    }

    private func dropForm(of entry: Entry) {
        guard let form = entry.form else { return }
        freeForm(form)
        entry.form = nil
    }

    package func entry(_ key: UnsafeRawBufferPointer) -> Entry? { entry(key, hash: hash(key)) }

    func entry(_ key: UnsafeRawBufferPointer, hash: Int) -> Entry? {
        slots[slot(of: key, hash)].block.map { Entry(block: $0) }
    }

    /// Whether this value is stored under a key; the prefix is its first byte, if it isn't in `value`.
    package func holds(_ key: UnsafeRawBufferPointer, prefix: UInt8?, _ value: UnsafeRawBufferPointer) -> Bool {
        entry(key)?.holds(prefix, value) ?? false
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
        case .set(let key, let prefix, let value): try set(checking: key, hash: hash(key), prefix: prefix, value)
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
            if let block = slots[index].block { try body(Entry(block: block)) }
        }
    }

    /// Stores a value of the program's own, with a note; the prefix is its first byte, if it isn't in `value`.
    @inline(__always)  // See Journal.acquire.
    mutating func set(
        _ key: UnsafeRawBufferPointer,
        hash: Int,
        prefix: UInt8?,
        _ value: UnsafeRawBufferPointer,
        note: UInt8
    ) {
        Self.orTrap { () throws(JournalError) in
            try set(checking: key, hash: hash, prefix: prefix, value, note: note)
        }
    }

    @inline(__always)  // See Journal.acquire.
    private mutating func set(
        checking key: UnsafeRawBufferPointer,
        hash: Int,
        prefix: UInt8?,
        _ value: UnsafeRawBufferPointer,
        note: UInt8 = 0
    ) throws(JournalError) {
        let length = value.count + (prefix == nil ? 0 : 1)
        var slot = slot(of: key, hash)
        let replaced = slots[slot].block.map { Entry(block: $0) }
        // In place, so that the block and its slot stay.
        if let replaced, replaced.valueLength == length {
            dropForm(of: replaced)
            replaced.note = note
            Self.fill(replaced.block + Entry.headerSize + key.count, prefix, value)
            return
        }
        if replaced == nil, (count + 1) * 4 > capacity * 3 {
            try grow()
            slot = self.slot(of: key, hash)
        }
        let new = try makeBlock(Entry.headerSize + key.count + length)
        let block = new.memory
        block.storeBytes(of: nil, as: UnsafeMutableRawPointer?.self)
        block.storeBytes(of: UInt16(truncatingIfNeeded: key.count), toByteOffset: 8, as: UInt16.self)
        block.storeBytes(of: note, toByteOffset: 10, as: UInt8.self)
        block.storeBytes(of: new.isInChunk ? 1 : 0, toByteOffset: 11, as: UInt8.self)
        block.storeBytes(of: UInt32(truncatingIfNeeded: length), toByteOffset: 12, as: UInt32.self)
        Self.fill(block + Entry.headerSize, nil, key)
        Self.fill(block + Entry.headerSize + key.count, prefix, value)
        count(Entry(block: block), isAdded: true)
        if let replaced { free(replaced) } else { count += 1 }
        slots[slot] = Slot(hash: hash, block: block)
    }

    /// Memory for a block.
    private struct NewBlock {
        var memory: UnsafeMutableRawPointer
        var isInChunk = false
    }

    private mutating func makeBlock(_ size: Int) throws(JournalError) -> NewBlock {
        // A large block isn't worth a place in a chunk, which is freed only with the whole table.
        guard isFilling, size <= Self.chunkSize / 16 else {
            return NewBlock(memory: try SystemCalls.allocateBlock(size))
        }
        let size = (size + 7) & ~7
        if chunkRest.count < size {
            let chunk = try SystemCalls.allocateBlock(Self.chunkSize)
            chunks.append(chunk)
            chunkRest = UnsafeMutableRawBufferPointer(start: chunk, count: Self.chunkSize)
        }
        guard let block = chunkRest.baseAddress else { return NewBlock(memory: try SystemCalls.allocateBlock(size)) }
        chunkRest = UnsafeMutableRawBufferPointer(start: block + size, count: chunkRest.count - size)
        return NewBlock(memory: block, isInChunk: true)
    }

    private static func fill(_ target: UnsafeMutableRawPointer, _ prefix: UInt8?, _ bytes: UnsafeRawBufferPointer) {
        var target = target
        if let prefix {
            target.storeBytes(of: prefix, as: UInt8.self)
            target += 1
        }
        if let start = bytes.baseAddress { target.copyMemory(from: start, byteCount: bytes.count) }
    }

    mutating func remove(_ key: UnsafeRawBufferPointer) {
        var gap = slot(of: key, hash(key))
        guard let block = slots[gap].block else { return }
        free(Entry(block: block))
        count -= 1
        slots[gap].block = nil
        // Entries that would be found through the gap move into it.
        let mask = capacity - 1
        var next = (gap + 1) & mask
        while slots[next].block != nil {
            let distance = (next - slots[next].hash) & mask
            if distance >= (next - gap) & mask {
                slots[gap] = slots[next]
                slots[next].block = nil
                gap = next
            }
            next = (next + 1) & mask
        }
    }

    mutating func removeAll() { self = EntryTable(freeForm: freeForm) }

    private mutating func free(_ entry: Entry) {
        count(entry, isAdded: false)
        dropForm(of: entry)
        if !entry.isInChunk { SystemCalls.freeBlock(entry.block) }
    }

    private mutating func count(_ entry: Entry, isAdded: Bool) {
        let record = UInt64(Record.liveSize(payload: Operation.setOverhead + entry.contentSize))
        journalSize = isAdded ? journalSize + record : journalSize - record
    }

    private mutating func grow() throws(JournalError) {
        let old = slots
        let size = capacity
        slots = try Self.makeSlots(2 * size)
        capacity = 2 * size
        let mask = capacity - 1
        for index in 0..<size {
            guard old[index].block != nil else { continue }
            var slot = old[index].hash & mask
            while slots[slot].block != nil { slot = (slot + 1) & mask }
            slots[slot] = old[index]
        }
        SystemCalls.freeBlock(old)
    }

    /// A hash whose collisions depend on two random numbers; for a short key, Swift's `Hasher` takes several times as
    /// long.
    func hash(_ key: UnsafeRawBufferPointer) -> Int {
        let multiplier = hashMultiplier
        var state = hashSeed ^ UInt64(truncatingIfNeeded: key.count)
        func mix(_ word: UInt64) {
            let product = (state ^ word).multipliedFullWidth(by: multiplier)
            state = product.high ^ product.low
        }
        if key.count < 8 {
            mix(key.reduce(0) { $0 << 8 | UInt64($1) })
        } else {
            var cursor = 0
            while cursor < key.count - 8 {
                mix(key.loadUnaligned(fromByteOffset: cursor, as: UInt64.self))
                cursor += 8
            }
            // The last word may overlap the one before it.
            mix(key.loadUnaligned(fromByteOffset: key.count - 8, as: UInt64.self))
        }
        return Int(truncatingIfNeeded: state)
    }

    /// The slot of a key's block, or the free one for it.
    private func slot(of key: UnsafeRawBufferPointer, _ hash: Int) -> Int {
        let mask = capacity - 1
        var slot = hash & mask
        while let block = slots[slot].block {
            if slots[slot].hash == hash, ByteSearch.isSame(Entry(block: block).key, key) { break }
            slot = (slot + 1) & mask
        }
        return slot
    }
}
