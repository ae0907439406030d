/// The journals that this process has open: one for each suite directory, however many callers open it, by whatever
/// path.
///
/// Two engines of one process on one suite would be correct, since each has its own file lock, but a thread that
/// nests their exclusive access would deadlock. One case of this remains: a suite that was deleted, recreated by a
/// second engine, and then written to by the first, which moves to the new directory.
final class JournalRegistry: Sendable {
    static let ofProcess = PerProcess { JournalRegistry() }

    static var shared: JournalRegistry { ofProcess.current }

    /// A suite directory, with a lock under which it is opened once.
    final class Slot: Sendable {
        let id: FileID
        let opening = ThreadLock()
        private let reference = Locked(WeakReference())

        init(_ id: FileID) { self.id = id }

        var journal: Journal? {
            get { reference.withLock(\.journal) }
            set { reference.withLock { $0.journal = newValue } }
        }
    }

    private struct WeakReference {
        weak var journal: Journal?
    }

    // A list: a program has a few suites.
    private let slots = Locked<[Slot]>([])

    func slot(for id: FileID) -> Slot {
        slots.withLock { slots in
            for slot in slots where slot.id == id { return slot }
            let slot = Slot(id)
            slots.append(slot)
            return slot
        }
    }

    /// Drops a directory's slot if its journal is closed and no thread is opening it.
    func forget(_ id: FileID) {
        // A journal may lose its last other reference during this check. Its deinit calls this function, so it must not
        // run while the registry is locked: the journal is returned and released outside.
        _ = slots.withLock { slots -> Journal? in
            guard let index = slots.firstIndex(where: { $0.id == id }) else { return nil }
            let journal = slots[index].journal
            // A thread that has the slot is about to open the directory, and others must find the same slot.
            if isKnownUniquelyReferenced(&slots[index]), journal == nil { slots.remove(at: index) }
            return journal
        }
    }

    /// Moves a journal to another directory, unless another journal is open there.
    func move(_ journal: Journal, from old: FileID, to new: FileID) {
        guard old != new else { return }
        let target = slot(for: new)
        if target.journal == nil { target.journal = journal }
        // No variable keeps the slot: `forget` leaves one that something else refers to.
        if slot(for: old).journal === journal { slot(for: old).journal = nil }
        forget(old)
    }
}
