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

    private let id: ObjectIdentifier
    /// The next one in the same bucket.
    private let next: Unmanaged<KnownType>?

    private init(_ type: Any.Type, next: Unmanaged<KnownType>?) {
        plainName = String(describing: type)
        id = ObjectIdentifier(type)
        self.next = next
    }

    /// What is remembered of a type; there are as many as the program stores types, and each stays.
    static func of(_ type: Any.Type) -> KnownType {
        reference(to: type).takeUnretainedValue()
    }

    /// The same, for what happens so often that counting references, which threads share, would be most of its cost.
    static func reference(to type: Any.Type) -> Unmanaged<KnownType> {
        let bucket = Buckets.shared.bucket(of: type)
        return bucket.pointee.known(type) ?? bucket.pointee.insert(type)
    }

    /// A list that only grows, at its front, and so is looked through without a lock.
    private struct Bucket: ~Copyable {
        private let head = Atomic<Unmanaged<KnownType>?>(nil)

        func known(_ type: Any.Type) -> Unmanaged<KnownType>? {
            var known = head.load(ordering: .acquiring)
            while let found = known, found._withUnsafeGuaranteedRef({ $0.id != ObjectIdentifier(type) }) {
                known = found._withUnsafeGuaranteedRef(\.next)
            }
            return known
        }

        func insert(_ type: Any.Type) -> Unmanaged<KnownType> {
            Buckets.shared.inserting.lock()
            defer { Buckets.shared.inserting.unlock() }
            if let known = known(type) {
                return known
            }
            let known = Unmanaged.passRetained(KnownType(type, next: head.load(ordering: .relaxed)))
            head.store(known, ordering: .releasing)
            return known
        }
    }

    private final class Buckets: @unchecked Sendable {
        static let shared = Buckets()

        let inserting = ThreadLock()
        private static let count = 64
        // Atomics need a fixed address.
        private let buckets = UnsafeMutablePointer<Bucket>.allocate(capacity: count)

        private init() {
            for index in 0..<Self.count {
                (buckets + index).initialize(to: Bucket())
            }
        }

        func bucket(of type: Any.Type) -> UnsafeMutablePointer<Bucket> {
            // Types are told apart by addresses, whose lowest bits are alike.
            buckets
                + Int(bitPattern: UInt(bitPattern: Int(bitPattern: ObjectIdentifier(type))) >> 4 & UInt(Self.count - 1))
        }
    }
}
