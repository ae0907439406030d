/// Exclusive access to a storage from `init` to ``end()``, for coroutines, which can't yield inside a closure.
///
/// Nor do they yield what another coroutine yields: when the change throws, that one goes on as if it had not, and
/// stores what was changed so far (Swift 6.3).
struct AccessInPlace: ~Copyable {
    private let storage: any KeyValueStorage
    /// The error of a storage that refused it; nil if it has begun.
    let refusal: (any Error)?

    init(to storage: any KeyValueStorage) {
        self.storage = storage
        do {
            try storage.beginExclusiveAccess()
            refusal = nil
        } catch {
            refusal = error
        }
    }

    func end() {
        if refusal == nil {
            storage.endExclusiveAccess()
        }
    }
}

/// A change in place: reads a value and stores the changed one, with exclusive access in between.
///
/// The steps are methods: `init`, ``value(by:default:)``, then ``commit(_:by:default:)`` unless an error ended the
/// change, and always ``end()``. The methods are generic and not the struct, so that no step has to look a generic
/// type up at run time.
struct ChangeInPlace: ~Copyable {
    private let access: KeyAccess
    private let exclusive: AccessInPlace
    /// What is stored under the key, or supplied by another layer; nil for nothing.
    private var read: PropertyListValue?
    /// Whether it could be read.
    private var isReadable = true

    init(forKey key: String, in store: any DefaultsStore) {
        access = KeyAccess(key, in: store)
        exclusive = AccessInPlace(to: store)
    }

    /// The value to change.
    mutating func value<Value>(by bridge: ValueBridge<Value>, default makeDefault: () -> Value) -> Value {
        guard exclusive.refusal == nil, let found = access.store.storedValue(forKey: access.key) else {
            return makeDefault()
        }
        read = found
        do {
            return try access.decode(found, by: bridge, default: makeDefault())
        } catch {
            DefaultsDiagnostics.report(.readFailed, error)
            isReadable = false
            return makeDefault()
        }
    }

    /// Stores the value if it was changed; a stored value with parts that could not be used is quarantined before it is
    /// replaced.
    func commit<Value>(_ value: Value, by bridge: ValueBridge<Value>, default makeDefault: () -> Value) {
        do throws(DefaultsError) {
            if let refusal = exclusive.refusal {
                throw .wrapping(refusal, access.context(Value.self))
            }
            try access.save(value, by: bridge, default: makeDefault(), isReadable: isReadable, unlessSameAs: read)
        } catch {
            DefaultsDiagnostics.report(.writeFailed, error)
        }
    }

    func end() { exclusive.end() }
}
