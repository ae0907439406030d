internal import DefaultJournal
internal import Synchronization

/// What this process remembers of a type whose values are stored.
final class KnownType: Sendable {
    /// The name without module and enclosing types, which the runtime puts together anew each time it is asked.
    let plainName: String
    /// Whether ``IdentifierRegistry`` has looked at the type.
    let isRegistered = Atomic<Bool>(false)
    /// What is known of values stored as this type.
    let contents = KnownContents()

    private init(_ type: Any.Type) {
        plainName = String(describing: type)
    }

    private typealias Table = [(id: ObjectIdentifier, type: KnownType)]

    /// Types that are asked for often move to the front, so that they are found sooner than a dictionary would find them.
    private static let table = Guarded<Table>([])

    /// What is remembered of a type; there are as many as the program stores types.
    static func of(_ type: Any.Type) -> KnownType {
        let id = ObjectIdentifier(type)
        return table.withLock { table in
            for index in table.indices where table[index].id == id {
                let known = table[index].type
                if index > 8 {
                    table.swapAt(index, index / 2)
                }
                return known
            }
            let new = KnownType(type)
            table.append((id, new))
            return new
        }
    }
}
