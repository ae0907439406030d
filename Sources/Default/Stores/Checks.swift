// The checks that every store makes before it stores a value; public, because third-party stores need them.

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension ErrorContext {
    convenience init(_ key: String? = nil, _ type: Any.Type? = nil, in store: any DefaultsStore) {
        self.init(key: key, type: type, store: store.storeDescription)
    }
}

extension StoreKey {
    /// Creates a key to store a value under, and checks it.
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
    /// Checks that a value does not nest too deeply to be stored.
    ///
    /// - Parameters:
    ///   - key: The key to store it under.
    ///   - store: The store, for the error.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/unsupportedValue`` for more than 256 levels.
    public func checkDepth(forKey key: String, in store: some DefaultsStore) throws(DefaultsError) {
        if isTooDeep {
            throw .unsupportedValue(.tooDeep, ErrorContext(key, in: store))
        }
    }

    /// Creates a value from an object to store; nil when there is no object.
    ///
    /// - Throws: ``DefaultsError/Code/unsupportedValue`` for an object that is not a property-list value.
    init?(_ object: Any?, forKey key: String, in store: any DefaultsStore) throws(DefaultsError) {
        guard let object else {
            return nil
        }
        // An NSURL is a URL, too.
        if let convertible = object as? URL ?? object as? any PropertyListConvertible {
            self = convertible.propertyListValue
            return
        }
        do {
            try self.init(object: object)
        } catch {
            throw .unsupportedValue(error, ErrorContext(key, in: store))
        }
    }
}

extension [StoreKey: PropertyListValue] {
    /// Adds values, in place of those for the same keys.
    mutating func replaceValues(with others: Self) {
        for (key, value) in others {
            self[key] = value
        }
    }

    /// The values by strings, which are equal if they are canonically equivalent: only one of several such keys is included.
    var byString: [String: PropertyListValue] {
        var values: [String: PropertyListValue] = [:]
        for (key, value) in self {
            values[key.string] = value
        }
        return values
    }
}

extension [String: PropertyListValue] {
    /// The values with keys of a store, after all keys and values were checked.
    func checked(in store: any DefaultsStore) throws(DefaultsError) -> [StoreKey: PropertyListValue] {
        var checked: [StoreKey: PropertyListValue] = [:]
        for (key, value) in self {
            try value.checkDepth(forKey: key, in: store)
            checked[try StoreKey(key)] = value
        }
        return checked
    }
}
