/// A place that keeps property-list values under string keys.
///
/// `UserDefaults`, ``FileDefaults`` and ``MemoryDefaults`` are stores. A store of your own has the five members that have no
/// default implementation, and fits on a page:
///
/// ```swift
/// /// Keeps its values in memory, and writes all of them to a file in `flush`.
/// final class Archive: DefaultsStore, @unchecked Sendable {
///     private let file: URL
///     private let lock = NSLock()
///     private var values: [StoreKey: PropertyListValue] = [:]  // used under the lock
///
///     init(file: URL) throws {
///         self.file = file
///         guard FileManager.default.fileExists(atPath: file.path) else { return }
///         for (key, form) in try PropertyListDecoder().decode([Data: Data].self, from: Data(contentsOf: file)) {
///             guard let value = PropertyListValue(binaryForm: form) else { throw CocoaError(.fileReadCorruptFile) }
///             values[StoreKey(unchecked: String(decoding: key, as: UTF8.self))] = value
///         }
///     }
///
///     func storedValue(forKey key: String) -> PropertyListValue? {
///         lock.withLock { values[StoreKey(unchecked: key)] }
///     }
///
///     func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
///         let storeKey = try StoreKey(key)  // refuses what no store can take
///         try value?.checkDepth(forKey: key, in: self)
///         try withExclusiveAccess {  // waits while another thread has it; reads don't
///             lock.withLock { values[storeKey] = value }
///         }
///     }
///
///     func storedKeys() -> [String] { lock.withLock { values.keys.map(\.string) } }
///
///     func flush() throws {
///         try withExclusiveAccess {
///             let entries = lock.withLock { values.map { (Data($0.key.string.utf8), $0.value.binaryForm) } }
///             let contents = try PropertyListEncoder().encode(Dictionary(uniqueKeysWithValues: entries))
///             try contents.write(to: file, options: .atomic)
///         }
///     }
///
///     var storeDescription: String { "Archive(\(file.path))" }
/// }
/// ```
///
/// ## What every store guarantees
///
/// - Keys differ when their UTF-8 differs, and hold any character but NUL. ``setStoredValue(_:forKey:)`` throws
///   ``DefaultsError/Code/invalidKey`` for other keys, for empty ones, and for those over 65,535 bytes; ``StoreKey`` checks
///   and compares them so.
/// - What was set is returned as it was set: same case, same value. Values that nest more than 256 levels are refused with
///   ``DefaultsError/Code/unsupportedValue``.
/// - A mutating call that throws has changed nothing.
/// - Several threads may call a store at once, when its type allows them to share it. Writes wait for another thread's
///   exclusive access.
/// - Observers are called with no lock held, once per change.
///
/// The module `DefaultTesting` checks all of this for a store of your own. Settings types, typed keys and containers encode
/// before they call a store, and wrap errors of its own that a store throws in a ``DefaultsError`` that names key and type.
public protocol DefaultsStore: KeyValueStorage {
    /// The value for a key.
    ///
    /// - Parameter key: The key; one that can't be stored under has no value.
    /// - Returns: The value that is stored, else one that the store supplies while nothing is (a registered default, say);
    ///   nil when there is none.
    func storedValue(forKey key: String) -> PropertyListValue?

    /// Stores a value under a key, or removes what is there.
    ///
    /// - Parameters:
    ///   - value: The value; nil removes.
    ///   - key: The key.
    /// - Throws: ``DefaultsError`` when the key or the value can't be stored, or errors of the store's own; nothing has
    ///   changed then.
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws

    /// The keys under which something is stored, in no particular order.
    ///
    /// - Returns: The keys, each once.
    func storedKeys() -> [String]

    /// Makes everything set so far durable, as far as the store can: it survives a loss of power when the call returns.
    ///
    /// - Throws: ``DefaultsError`` or errors of the store's own.
    func flush() throws

    /// How errors and events name the store: the same for two handles on one suite, different for different suites.
    var storeDescription: String { get }

    /// Throws when the store can't be read at this time, so that a value which isn't found may still be there.
    ///
    /// The default implementation does nothing: the store can always be read.
    ///
    /// - Throws: ``DefaultsError``, best with the code ``DefaultsError/Code/storeUnavailable``, or errors of the store's own.
    func checkAvailability() throws

    /// Makes several changes as one, as far as the store can.
    ///
    /// ``FileDefaults`` makes them visible and durable together, in all processes, or not at all. ``MemoryDefaults`` takes
    /// them back when the body throws. The default implementation runs the body under exclusive access: what it has
    /// changed before it throws stays.
    ///
    /// **The body may run more than once** on a store that detects conflicts; see
    /// ``KeyValueStorage/withExclusiveAccess(_:)``.
    ///
    /// - Parameter body: Makes the changes.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, and errors of the store's own.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result
}

extension DefaultsStore {
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
