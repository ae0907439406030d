/// A change in place: reads a value and stores the changed one, with exclusive access in between.
///
/// A coroutine can't yield inside a closure, so the steps are methods: `init`, ``value(by:default:)``, then
/// ``commit(_:by:)`` unless an error ended the change, and always ``end()``. The methods are generic and not the struct,
/// because a generic struct's metadata would be looked up at each step.
struct ChangeInPlace {
    private let access: KeyAccess
    /// Whether the stored value could be read.
    private var isReadable = true
    /// The reason why there is no exclusive access; nothing is stored then.
    private let refusal: (any Error)?

    init(forKey key: String, in store: any DefaultsStore) {
        access = KeyAccess(key, in: store)
        do {
            try store.beginExclusiveAccess()
            refusal = nil
        } catch {
            refusal = error
        }
    }

    /// The value to change.
    mutating func value<Value>(by bridge: ValueBridge<Value>, default makeDefault: () -> Value) -> Value {
        guard refusal == nil, let found = access.store.storedValue(forKey: access.key) else {
            return makeDefault()
        }
        do {
            return try access.decode(found, by: bridge, default: makeDefault())
        } catch {
            DefaultsDiagnostics.report(.readFailed, error)
            isReadable = false
            return makeDefault()
        }
    }

    /// Stores the changed value; a stored value with parts that could not be used is quarantined before it is replaced.
    func commit<Value>(_ value: Value, by bridge: ValueBridge<Value>, default makeDefault: () -> Value) {
        DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in
            if let refusal {
                throw .wrapping(refusal, access.context(Value.self))
            }
            try access.save(value, by: bridge, default: makeDefault(), isReadable: isReadable)
        }
    }

    func end() {
        if refusal == nil {
            access.store.endExclusiveAccess()
        }
    }
}
