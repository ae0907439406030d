internal import DefaultJournal
internal import Synchronization

/// Cached information about a type whose values are stored.
struct TypeInfo: @unchecked Sendable {
    // Immutable but for an atomic.
    private let node: UnsafePointer<Node>

    /// The name without module and enclosing types; the runtime computes it at each call, so it is cached here.
    var plainName: String { node.pointee.plainName }

    /// Marks the type's identifier as registered; see `IdentifierRegistry`.
    ///
    /// - Returns: Whether it was not marked before.
    func markAsRegistered() -> Bool {
        // Without the load, the exchange would take the cache line from other processors at each read.
        !node.pointee.isRegistered.load(ordering: .relaxed)
            && !node.pointee.isRegistered.exchange(true, ordering: .relaxed)
    }

    /// The information about a type; there is one for each type that the program stores, and it is never freed.
    static func of(_ type: Any.Type) -> TypeInfo {
        if let known = known(type) {
            return known
        }
        insertionLock.lock()
        defer { insertionLock.unlock() }
        if let known = known(type) {
            return known
        }
        let node = UnsafeMutablePointer<Node>.allocate(capacity: 1)
        let next = latest.load(ordering: .relaxed)
        node.initialize(to: Node(type, next: next))
        latest.store(UnsafePointer(node), ordering: .releasing)
        return TypeInfo(node: node)
    }

    // A linked list that only grows, at its front, so it can be searched without a lock and without reference counting. A
    // dictionary behind a shared lock would take a third of a read of unchanged settings.

    private struct Node: ~Copyable {
        let id: ObjectIdentifier
        let plainName: String
        let isRegistered = Atomic<Bool>(false)
        let next: UnsafePointer<Node>?

        init(_ type: Any.Type, next: UnsafePointer<Node>?) {
            id = ObjectIdentifier(type)
            plainName = String(describing: type)
            self.next = next
        }
    }

    nonisolated(unsafe) private static let latest = Atomic<UnsafePointer<Node>?>(nil)
    private static let insertionLock = ThreadLock()

    private static func known(_ type: Any.Type) -> TypeInfo? {
        let id = ObjectIdentifier(type)
        var node = latest.load(ordering: .acquiring)
        while let found = node, found.pointee.id != id {
            node = found.pointee.next
        }
        return node.map { TypeInfo(node: $0) }
    }
}
