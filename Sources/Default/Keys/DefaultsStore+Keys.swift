extension DefaultsStore {
    /// The value of a typed key in this store.
    ///
    /// ```swift
    /// store[.launchCount] += 1
    /// ```
    ///
    /// It works as on ``Defaults``: reading returns the key's default when nothing is stored or the stored value can't be read,
    /// assigning a value that can't be stored changes nothing, and both report errors to ``DefaultsDiagnostics``. A change in
    /// place is one operation across threads and, on a ``FileDefaults``, processes. For calls that throw, make a ``Defaults``.
    ///
    /// - Parameter key: The key.
    public subscript<Value>(key: Defaults.Key<Value>) -> Value {
        get { Defaults(suite: self)[key] }
        nonmutating set { Defaults(suite: self)[key] = newValue }
        nonmutating _modify { yield &Defaults(suite: self)[key] }
    }
}
