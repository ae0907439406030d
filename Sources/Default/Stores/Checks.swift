// What every store checks before it stores something; public, since authors of stores need it.

extension StoreKey {
    /// Checks a key that a value is to be stored under.
    ///
    /// - Parameter string: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey`` for a key that is empty, contains NUL, or has
    ///   over 65,535 bytes of UTF-8.
    public init(_ string: String) throws(DefaultsError) {
        self.init(unchecked: string)
        if let fault {
            throw .invalidKey(string, because: fault)
        }
    }
}

extension PropertyListValue {
    /// Checks that a value which is to be stored does not nest too deep.
    ///
    /// - Parameters:
    ///   - key: The key it is to be stored under.
    ///   - store: The store, which the error names.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/unsupportedValue`` for more than 256 levels.
    public func checkDepth(forKey key: String, in store: some DefaultsStore) throws(DefaultsError) {
        if isTooDeep {
            throw .unsupportedValue(.tooDeep, key: key, store: store.storeDescription)
        }
    }

    /// Copies an object that is to be stored, nil when there is none.
    ///
    /// - Throws: ``DefaultsError/Code/unsupportedValue`` for what is not a property-list value all through.
    init?(_ object: Any?, forKey key: String, in store: some DefaultsStore) throws(DefaultsError) {
        guard let object else {
            return nil
        }
        if let convertible = object as? any PropertyListConvertible {
            self = convertible.propertyListValue
            return
        }
        do {
            try self.init(object: object)
        } catch {
            throw .unsupportedValue(error, key: key, store: store.storeDescription)
        }
    }
}

extension [String: PropertyListValue] {
    /// The values by the keys of a store, all of them checked.
    func checked(in store: some DefaultsStore) throws(DefaultsError) -> [StoreKey: PropertyListValue] {
        var checked: [StoreKey: PropertyListValue] = [:]
        for (key, value) in self {
            try value.checkDepth(forKey: key, in: store)
            checked[try StoreKey(key)] = value
        }
        return checked
    }
}
