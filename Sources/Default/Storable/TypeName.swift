internal import DefaultJournal

/// Plain names of types, which the runtime puts together anew each time it is asked.
enum TypeName {
    private static let names = Guarded<[ObjectIdentifier: String]>([:])

    /// The name without module and enclosing types.
    static func plain(_ type: Any.Type) -> String {
        let id = ObjectIdentifier(type)
        if let name = names.withLock({ $0[id] }) {
            return name
        }
        let name = String(describing: type)
        names.withLock { $0[id] = name }
        return name
    }
}
