/// The live entries of a journal: those that compaction and recovery keep.
///
/// The table holds offsets into the replayed bytes, not copies, and drops superseded entries as it grows, so it takes at
/// most about 130 bytes for each live entry. It must not outlive those bytes.
package struct LiveTable: ReplayVisitor {
    /// A live `set`: its key and value, as offsets from `origin`.
    private struct Entry {
        var key: Int
        var keyLength: UInt16
        var valueLength: UInt32
        var isLive: Bool
    }

    private let origin: UnsafeRawPointer
    private var entries: [Entry] = []
    private var slots: [UInt32]
    private var used = 0

    /// Live entries.
    package private(set) var count = 0
    /// Bytes of the live keys and values.
    package private(set) var contentBytes: UInt64 = 0

    /// A table over `bytes`, which contain the operations that it will visit.
    package init(_ bytes: UnsafeRawBufferPointer) {
        // An empty buffer may lack an address; it contains no operation then, and the address is never used.
        origin = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
        slots = [UInt32](repeating: 0, count: 64)
    }

    package mutating func visit(_ operation: Operation) {
        switch operation {
        case .set(let key, let value): set(key, value)
        case .remove(let key): remove(key)
        case .removeAll:
            entries.removeAll()
            slots = [UInt32](repeating: 0, count: 64)
            used = 0
            count = 0
            contentBytes = 0
        }
    }

    /// The number of entries, live or not; see ``entry(_:)``.
    var entryCount: Int { entries.count }

    /// The entry with this number, in the order of the last changes, or nil if it isn't live any more.
    func entry(_ index: Int) -> Operation? {
        let entry = entries[index]
        return entry.isLive ? .set(key: key(of: entry), value: value(of: entry)) : nil
    }

    private func key(of entry: Entry) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: origin + entry.key, count: Int(entry.keyLength))
    }

    private func value(of entry: Entry) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: origin + entry.key + Int(entry.keyLength), count: Int(entry.valueLength))
    }

    private mutating func set(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        if (used + 1) * 2 > slots.count || entries.count >= slots.count { grow() }
        let slot = slot(for: key)
        if slots[slot] == 0 {
            used += 1
        } else {
            retire(Int(slots[slot]) - 1)
        }
        guard let start = key.baseAddress else { return }
        let entry = Entry(
            key: start - origin,
            keyLength: UInt16(truncatingIfNeeded: key.count),
            valueLength: UInt32(truncatingIfNeeded: value.count),
            isLive: true
        )
        entries.append(entry)
        slots[slot] = UInt32(truncatingIfNeeded: entries.count)
        count += 1
        contentBytes += UInt64(key.count + value.count)
    }

    private mutating func remove(_ key: UnsafeRawBufferPointer) {
        let slot = slot(for: key)
        // The retired entry stays in its slot, so that probing for other keys does not end here.
        if slots[slot] != 0 { retire(Int(slots[slot]) - 1) }
    }

    private mutating func retire(_ index: Int) {
        guard entries[index].isLive else { return }
        entries[index].isLive = false
        count -= 1
        contentBytes -= UInt64(entries[index].keyLength) + UInt64(entries[index].valueLength)
    }

    /// The slot of `key`'s latest entry, or the free one for it.
    private func slot(for key: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: key)
        let mask = slots.count - 1
        var slot = hasher.finalize() & mask
        while slots[slot] != 0, !equal(self.key(of: entries[Int(slots[slot]) - 1]), key) {
            slot = (slot + 1) & mask
        }
        return slot
    }

    private func equal(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        guard one.count == other.count else { return false }
        return one.elementsEqual(other)
    }

    private mutating func grow() {
        let live = entries.filter(\.isLive)
        entries = live
        used = live.count
        var capacity = 64
        while capacity < (live.count + 1) * 4 { capacity *= 2 }
        slots = [UInt32](repeating: 0, count: capacity)
        for index in live.indices {
            slots[slot(for: key(of: live[index]))] = UInt32(truncatingIfNeeded: index + 1)
        }
    }
}
