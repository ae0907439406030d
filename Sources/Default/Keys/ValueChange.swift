/// A change in place, between reading a value and storing what became of it; exclusive access lasts as long.
///
/// A coroutine can't yield inside a closure, so the steps are methods: `init`, then ``commit()`` unless the change was broken
/// off by an error, and in any case ``end()``.
struct ValueChange<Value> {
    var value: Value
    private let store: any DefaultsStore
    private let key: String
    private let bridge: ValueBridge<Value>
    /// Whether what was found could be read.
    private var isReadable = true
    /// Why there is no exclusive access; nothing is stored then.
    private var refusal: DefaultsError?

    init(of key: Defaults.Key<Value>, in store: any DefaultsStore) {
        self.init(forKey: key.name, by: key.bridge, in: store, default: { key.defaultValue })
    }

    init(
        forKey key: String,
        by bridge: ValueBridge<Value>,
        in store: any DefaultsStore,
        default makeDefault: () -> Value
    ) {
        self.store = store
        self.key = key
        self.bridge = bridge
        do {
            try store.beginExclusiveAccess()
        } catch {
            refusal = .wrapping(error, key: key, type: Value.self, store: store.storeDescription)
            value = makeDefault()
            return
        }
        guard let found = store.propertyListValue(forKey: key) else {
            value = makeDefault()
            return
        }
        let decoded = DefaultsDiagnostics.reporting(.readFailed) { () throws(DefaultsError) in
            try store.decode(found, forKey: key, by: bridge)
        }
        isReadable = decoded != nil
        value = decoded ?? makeDefault()
    }

    /// Stores the changed value; before it takes the place of something that could not be read, that is quarantined.
    func commit() {
        DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in
            if let refusal {
                throw refusal
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
