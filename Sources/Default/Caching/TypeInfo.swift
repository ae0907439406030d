internal import DefaultJournal

/// Cached information about a type whose values are stored.
struct TypeInfo: ~Copyable {
    private let id: ObjectIdentifier
    /// The name without module and enclosing types; the runtime computes it at each call, so it is cached here.
    let plainName: String
    /// The type's number in this process, from 1 on; 0 if there are too many.
    let number: UInt8
    private let next: UnsafePointer<TypeInfo>?

    private init(_ type: Any.Type, next: UnsafePointer<TypeInfo>?) {
        id = ObjectIdentifier(type)
        // `String(describing:)` asks for five conformances first: three million instructions at the first read.
        plainName = "\(type)"
        self.next = next
        // 0 for the one after the last number, and for all that follow.
        number = next.map { $0.pointee.number == 0 ? 0 : $0.pointee.number &+ 1 } ?? 1
    }

    /// The information about a type; there is one for each type that the program stores, and it is never freed.
    static func of(_ type: Any.Type) -> UnsafePointer<TypeInfo> {
        if let known = known(type) { return known }
        let lock = insertionLock.current
        lock.lock()
        defer { lock.unlock() }
        if let known = known(type) { return known }
        let info = UnsafeMutablePointer<TypeInfo>.allocate(capacity: 1)
        info.initialize(to: TypeInfo(type, next: UnsafePointer(bitPattern: latest.load())))
        latest.store(UInt(bitPattern: info))
        return UnsafePointer(info)
    }

    // A linked list that only grows, at its front, so it can be searched without a lock and without reference counting.
    // A dictionary behind a shared lock would take a third of a read of unchanged settings.

    /// The address of the latest type's information, or 0.
    private static let latest = Atomic<UInt>(0)
    private static let insertionLock = PerProcess { ThreadLock() }

    private static func known(_ type: Any.Type) -> UnsafePointer<TypeInfo>? {
        let id = ObjectIdentifier(type)
        var info = UnsafePointer<TypeInfo>(bitPattern: latest.load())
        while let found = info, found.pointee.id != id {
            info = found.pointee.next
        }
        return info
    }
}
