public import Foundation

/// A place that keeps property-list values under string keys, in the words of `UserDefaults`.
///
/// `UserDefaults`, ``FileDefaults`` and ``MemoryDefaults`` are stores. The six methods named after `UserDefaults`'s own are
/// what a store must have; the rest has default implementations. A store of your own fits on a page:
///
/// ```swift
/// /// Passes everything on to another store, under keys with a prefix.
/// struct PrefixedStore<Base: DefaultsStore>: DefaultsStore {
///     let base: Base
///     let prefix: String
///
///     func object(forKey key: String) -> Any? { base.object(forKey: prefix + key) }
///     func data(forKey key: String) -> Data? { base.data(forKey: prefix + key) }
///     func set(_ value: Any?, forKey key: String) throws { try base.set(value, forKey: prefix + key) }
///     func removeObject(forKey key: String) throws { try base.removeObject(forKey: prefix + key) }
///     func synchronize() throws -> Bool { try base.synchronize() }
///
///     func dictionaryRepresentation() -> [String: Any] {
///         var own: [String: Any] = [:]
///         for (key, value) in base.dictionaryRepresentation() where key.hasPrefix(prefix) {
///             own[String(key.dropFirst(prefix.count))] = value
///         }
///         return own
///     }
///
///     var storeDescription: String { "\(base.storeDescription), prefix \(prefix)" }
///
///     func beginExclusiveAccess() throws { try base.beginExclusiveAccess() }
///     func endExclusiveAccess() { base.endExclusiveAccess() }
/// }
/// ```
///
/// ## What every store keeps to
///
/// - Values are property-list values: `String`, `Bool`, numbers, `Data`, `Date`, and arrays and string-keyed
///   dictionaries of those. `set` throws ``DefaultsError/Code/unsupportedValue`` for anything else, and stores nothing.
/// - Keys differ when their UTF-8 differs, and hold any character but NUL; `set` throws
///   ``DefaultsError/Code/invalidKey`` for other keys, for empty ones, and for those over 65,535 bytes.
/// - A mutating call that throws has changed nothing.
/// - Several threads may call a store at once, when its type allows them to share it.
///
/// ``DefaultStorable`` and ``df`` check keys and encode to `Data` before they call a store, and wrap errors of its own
/// that a store throws in a ``DefaultsError``.
public protocol DefaultsStore: KeyValueStorage {
    /// The value stored under a key.
    ///
    /// - Parameter key: The key; one that can't be stored under has no value.
    /// - Returns: A property-list value, nil when nothing is stored.
    func object(forKey key: String) -> Any?

    /// The `Data` stored under a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The bytes, nil when nothing is stored or what is stored is not `Data`.
    func data(forKey key: String) -> Data?

    /// Stores a property-list value under a key, or removes what is there.
    ///
    /// - Parameters:
    ///   - value: The value; nil removes.
    ///   - key: The key.
    /// - Throws: ``DefaultsError`` when the key or the value can't be stored, or errors of the store's own.
    func set(_ value: Any?, forKey key: String) throws

    /// Stores `Data` under a key; what settings types are stored with.
    ///
    /// The default implementation calls ``set(_:forKey:)-(Any?,_)``. A store implements it when it can do so faster.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - key: The key.
    /// - Throws: ``DefaultsError`` when the key or the value can't be stored, or errors of the store's own.
    func set(_ data: Data, forKey key: String) throws

    /// The value stored under a key, with its type spelled out; what typed keys read.
    ///
    /// The default implementation converts what ``object(forKey:)`` gives. A store implements it when it can do so faster.
    ///
    /// - Parameter key: The key.
    /// - Returns: The value, nil when nothing is stored.
    func propertyListValue(forKey key: String) -> PropertyListValue?

    /// Stores a value with its type spelled out; what typed keys write.
    ///
    /// The default implementation calls ``set(_:forKey:)-(Any?,_)``. A store implements it when it can do so faster.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The key.
    /// - Throws: ``DefaultsError`` when the key or the value can't be stored, or errors of the store's own.
    func set(_ value: PropertyListValue, forKey key: String) throws

    /// Removes what is stored under a key, if anything is.
    ///
    /// - Parameter key: The key.
    /// - Throws: ``DefaultsError`` for an invalid key, or errors of the store's own.
    func removeObject(forKey key: String) throws

    /// All keys and values, those that only registered defaults supply included.
    ///
    /// Keys that differ in their bytes but are canonically equivalent are one key in a Swift dictionary, so one of them
    /// is left out here; the store itself keeps them apart.
    ///
    /// - Returns: Property-list values by their keys.
    func dictionaryRepresentation() -> [String: Any]

    /// The keys under which something is stored, in no particular order.
    ///
    /// The default implementation gives the keys of ``dictionaryRepresentation()``. A store that knows better leaves out the
    /// keys that only registered defaults supply.
    func storedKeys() -> [String]

    /// Brings everything set so far to where it survives a loss of power, as far as the store can.
    ///
    /// - Returns: True; a store that fails throws, or returns false as `UserDefaults` does.
    /// - Throws: ``DefaultsError`` or errors of the store's own.
    @discardableResult
    func synchronize() throws -> Bool

    /// Throws when the store can't be read at this time, so that a value which isn't found may still be there.
    ///
    /// The default implementation does nothing: the store can always be read.
    ///
    /// - Throws: ``DefaultsError``, best with the code ``DefaultsError/Code/storeUnavailable``, or errors of the store's own.
    func checkAvailability() throws

    /// How errors and events name the store: the same for two handles on one suite, different for different suites.
    ///
    /// The default implementation gives the type's name, for classes with the instance's address.
    var storeDescription: String { get }

    /// Makes several changes as one, as far as the store can.
    ///
    /// ``FileDefaults`` makes them visible and durable together, in all processes, or not at all. ``MemoryDefaults`` takes
    /// them back when the body throws. The default implementation runs the body under exclusive access: what it has
    /// changed before it throws stays.
    ///
    /// - Parameter body: Makes the changes.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, and errors of the store's own.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result
}

extension DefaultsStore {
    /// The type's name, for classes with the instance's address.
    public var storeDescription: String {
        if Self.self is AnyClass {
            "\(Self.self)(\(ObjectIdentifier(self as AnyObject)))"
        } else {
            "\(Self.self)"
        }
    }

    /// Stores `Data` as any other value.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - key: The key.
    /// - Throws: What the store throws.
    public func set(_ data: Data, forKey key: String) throws {
        try set(data as Any?, forKey: key)
    }

    /// What ``object(forKey:)`` gives, converted.
    ///
    /// - Parameter key: The key.
    /// - Returns: The value; nil when nothing is stored, or something that no property list holds.
    public func propertyListValue(forKey key: String) -> PropertyListValue? {
        object(forKey: key).flatMap { try? PropertyListValue($0) }
    }

    /// Stores a value as any other.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The key.
    /// - Throws: What the store throws.
    public func set(_ value: PropertyListValue, forKey key: String) throws {
        try set(value.object as Any?, forKey: key)
    }

    /// The keys of ``dictionaryRepresentation()``.
    public func storedKeys() -> [String] {
        Array(dictionaryRepresentation().keys)
    }

    /// Does nothing: the store can always be read.
    public func checkAvailability() {}

    /// Runs a body under exclusive access.
    ///
    /// - Parameter body: Makes the changes; those before it throws stay.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, and errors of the store's own.
    public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try withExclusiveAccess(body)
    }
}
