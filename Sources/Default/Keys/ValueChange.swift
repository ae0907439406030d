/// A change in place, between reading a value and storing what became of it; exclusive access lasts as long.
///
/// A coroutine can't yield inside a closure, so the steps are methods: `init`, ``value(by:default:)``, then
/// ``commit(_:by:)`` unless the change was broken off by an error, and in any case ``end()``. Only the methods know the value's
/// type: a struct that did would be looked up by it at each step.
struct ValueChange {
    private let store: any DefaultsStore
    private let key: String
    /// Whether what was found could be read.
    private var isReadable = true
    /// Why there is no exclusive access; nothing is stored then.
    private let refusal: (any Error)?

    init(forKey key: String, in store: any DefaultsStore) {
        self.store = store
        self.key = key
        do {
            try store.beginExclusiveAccess()
            refusal = nil
        } catch {
            refusal = error
        }
    }

    /// The value to change.
    mutating func value<Value>(by bridge: ValueBridge<Value>, default makeDefault: () -> Value) -> Value {
        guard refusal == nil, let found = store.propertyListValue(forKey: key) else {
            return makeDefault()
        }
        do {
            return try store.decode(found, forKey: key, by: bridge)
        } catch {
            DefaultsDiagnostics.report(.readFailed, error)
            isReadable = false
            return makeDefault()
        }
    }

    /// Stores the changed value; before it takes the place of something that could not be read, that is quarantined.
    func commit<Value>(_ value: Value, by bridge: ValueBridge<Value>) {
        DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in
            if let refusal {
                throw .wrapping(refusal, key: key, type: Value.self, store: store.storeDescription)
            }
            try store.save(value, forKey: key, by: bridge, isReadable: isReadable)
        }
    }

    func end() {
        if refusal == nil {
            store.endExclusiveAccess()
        }
    }
}
