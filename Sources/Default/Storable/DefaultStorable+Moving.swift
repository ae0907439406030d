internal import Foundation

extension DefaultStorable {
    /// Takes over a value from another store, or from what another library stored; once, however often it is called.
    ///
    /// Call it at each start, before the settings are used:
    ///
    /// ```swift
    /// try VisualSettings.move(from: UserDefaults.standard)
    /// try VisualSettings.move(from: UserDefaults(suiteName: "group.app")!, sourceKey: "visual")
    /// ```
    ///
    /// It understands what this library stores, in whatever version of the type; JSON or a property list in `Data`,
    /// whichever the type's own coder is; JSON in a string; and a native property-list dictionary. A value that lacks
    /// properties is completed. Under the key in this type's own store, it converts a string or a dictionary in place, and
    /// keeps it aside; see ``quarantined(forKey:)``.
    ///
    /// Nothing is done when a value of this type's is stored under the key already, or was moved there before, even if it
    /// has been removed since. That a value was moved is kept in the store under `"<key>.moved"`.
    ///
    /// Other threads and, for ``FileDefaults``, processes that call it at the same time find it done.
    ///
    /// - Parameters:
    ///   - source: The store to take the value from. It is left as it is, unless `removingOriginal` is true.
    ///   - sourceKey: The key in that store; nil, the default, for the one after it or, where that is nil as well, for
    ///     all that ``load(forKey:)`` looks at.
    ///   - key: The key to store under; nil, the default, for the type's ``defaultIdentifier``.
    ///   - removingOriginal: Whether to remove the value from the source once it has been stored here; false by default.
    /// - Returns: Whether a value was moved.
    /// - Throws: ``DefaultsError`` as ``load(forKey:)`` and ``save(withKey:)`` do; what was stored is as it was then, and
    ///   the value is still in the source.
    @discardableResult
    public static func move(
        from source: some DefaultsStore,
        sourceKey: String? = nil,
        forKey key: String? = nil,
        removingOriginal: Bool = false
    ) throws(DefaultsError) -> Bool {
        let store = store
        let target = key ?? defaultIdentifier
        _ = try StoreKey(target)
        let sourceKeys = (sourceKey ?? key).map { [$0] } ?? identifiers
        let isSameStore = source.storeDescription == store.storeDescription
        let found: String?
        do {
            found = try store.withExclusiveAccess {
                let isInPlace = isSameStore && sourceKeys.first == target && store.data(forKey: target) == nil
                guard store.object(forKey: SiblingKey.moved(of: target)) == nil,
                    isInPlace || store.object(forKey: target) == nil,
                    let (sourceKey, object) = try firstObject(under: sourceKeys, in: source)
                else {
                    return nil
                }
                let value = try readForeign(object, forKey: sourceKey, in: source)
                try store.transaction {
                    try value.save(withKey: key)
                    try store.set(true as Any?, forKey: SiblingKey.moved(of: target))
                }
                return sourceKey
            }
        } catch {
            throw .wrapping(error, key: target, type: Self.self, store: store.storeDescription)
        }
        if let found, removingOriginal, !(isSameStore && found == target) {
            let record = SiblingKey.version(of: found)
            let keys = source.object(forKey: record) == nil ? [found] : [found, record]
            try source.remove(keys: keys, type: Self.self)
        }
        return found != nil
    }

    private static func firstObject(
        under keys: [String],
        in store: some DefaultsStore
    ) throws -> (key: String, object: Any)? {
        for key in keys {
            _ = try StoreKey(key)
            if let object = store.object(forKey: key) {
                return (key, object)
            }
        }
        try store.checkAvailability()
        return nil
    }

    /// Makes a value of what this or another library stored.
    private static func readForeign(
        _ object: Any,
        forKey key: String,
        in store: some DefaultsStore
    ) throws(DefaultsError) -> Self {
        let stored: StoredSettings<Self>
        switch object {
        case let data as Data:
            stored = try readForeign(data, coders: [nil, .json, .propertyList], forKey: key, in: store)
        case let text as String:
            stored = try readForeign(Data(text.utf8), coders: [nil, .json], forKey: key, in: store)
        default:
            guard let value = try? PropertyListValue(object), let data = StoredTree(value).propertyListData else {
                throw .typeMismatch(found: object, key: key, type: Self.self, store: store.storeDescription)
            }
            stored = try readForeign(data, coders: [.propertyList], forKey: key, in: store)
        }
        stored.reportCompletion()
        return stored.value
    }

    /// Makes a value with the first coder that can, nil standing for the type's own.
    private static func readForeign(
        _ data: Data,
        coders: [DefaultsCoder?],
        forKey key: String,
        in store: some DefaultsStore
    ) throws(DefaultsError) -> StoredSettings<Self> {
        var first: DefaultsError?
        for coder in coders {
            do {
                let reading = try read(data, forKey: key, in: store, coder: coder)
                return StoredSettings(reading: reading, data: data, key: key, store: store)
            } catch {
                guard error.code == .undecodable else {
                    throw error
                }
                first = first ?? error
            }
        }
        throw first ?? .typeMismatch(found: data, key: key, type: Self.self, store: store.storeDescription)
    }
}
