internal import DefaultJournal

/// Cached information about a type whose values are stored.
final class TypeInfo: Sendable {
    /// The name without module and enclosing types; the runtime computes it at each call, so it is cached here.
    let plainName: String
    /// Whether the type's identifier was registered; see `IdentifierRegistry`.
    let isRegistered = Atomic<Bool>(false)

    private init(_ type: Any.Type) {
        plainName = String(describing: type)
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
        let next = UnsafePointer<Node>(bitPattern: latest.load(ordering: .relaxed))
        node.initialize(to: Node(id: ObjectIdentifier(type), info: TypeInfo(type), next: next))
        latest.store(UInt(bitPattern: node), ordering: .releasing)
        return node.pointee.info
    }

    // A linked list that only grows, at its front, so it can be searched without a lock and without reference counting. A
    // dictionary behind a shared lock would take a third of a read of unchanged settings.

    private struct Node {
        let id: ObjectIdentifier
        let info: TypeInfo
        let next: UnsafePointer<Node>?
    }

    /// The address of the latest node, or 0; nodes are immutable.
    private static let latest = Atomic<UInt>(0)
    private static let insertionLock = ThreadLock()

    private static func known(_ type: Any.Type) -> TypeInfo? {
        let id = ObjectIdentifier(type)
        var node = UnsafePointer<Node>(bitPattern: latest.load(ordering: .acquiring))
        while let found = node, found.pointee.id != id {
            node = found.pointee.next
        }
        return node?.pointee.info
    }
}
