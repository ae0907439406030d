internal import DefaultJournal
internal import Synchronization

/// What this process remembers of a type whose values are stored.
final class TypeInfo: Sendable {
    /// The name without module and enclosing types, which the runtime composes each time it is asked.
    let plainName: String
    /// Whether it is known which type the identifier belongs to; see `IdentifierRegistry`.
    let isRegistered = Atomic<Bool>(false)

    private init(_ type: Any.Type) {
        plainName = String(describing: type)
    }

    /// What is remembered of a type; there are as many as the program stores types, and each stays.
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
        node.initialize(to: Node(id: ObjectIdentifier(type), info: TypeInfo(type), next: next))
        latest.store(UnsafePointer(node), ordering: .releasing)
        return node.pointee.info
    }

    // A list that only grows, at its front, and so is searched without a lock and without counting references. A dictionary
    // behind a lock that readers share would be a third of a read of unchanged settings.

    private struct Node {
        let id: ObjectIdentifier
        let info: TypeInfo
        let next: UnsafePointer<Node>?
    }

    // Nodes never change.
    nonisolated(unsafe) private static let latest = Atomic<UnsafePointer<Node>?>(nil)
    private static let insertionLock = ThreadLock()

    private static func known(_ type: Any.Type) -> TypeInfo? {
        let id = ObjectIdentifier(type)
        var node = latest.load(ordering: .acquiring)
        while let found = node, found.pointee.id != id {
            node = found.pointee.next
        }
        return node?.pointee.info
    }
}
