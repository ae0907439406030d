// Values in the forms of other libraries.
extension KeyAccess {
    /// Stores a value that another library stored in this library's own form.
    ///
    /// Nothing is stored when the value is in its own form, is in no known form, or can't be read completely.
    ///
    /// - Returns: Whether a value was converted.
    /// - Throws: `invalidKey`, or errors of the store.
    func convertForm<Value>(by bridge: ValueBridge<Value>) throws(DefaultsError) -> Bool {
        _ = try StoreKey(key)
        let isConverted = try DefaultsError.wrapping(context(Value.self)) {
            try store.withExclusiveAccess {
                guard let stored = ownValue, (try? decodeExactly(stored, by: bridge, sharing: false)) == nil,
                    let translated = ForeignForm.translate(stored, by: bridge),
                    let value = try? decodeExactly(translated, by: bridge, sharing: false)
                else {
                    return false
                }
                try store.setStoredValue(bridge.encode(value), forKey: key)
                return true
            }
        }
        if isConverted {
            store.notifyChange(forKey: key)
        }
        return isConverted
    }
}
