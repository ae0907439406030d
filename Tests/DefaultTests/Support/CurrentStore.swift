import Default
import Foundation

/// The store that a test has chosen for this task, so that one settings type can be tested on every store.
///
/// It is also an example of a third-party store, and implements none of the optional requirements.
struct CurrentStore: DefaultsStore {
    private struct Box: @unchecked Sendable {
        // Used only by the task that set it, and by its children.
        let store: any DefaultsStore
    }

    @TaskLocal private static var box: Box?

    static func with<Result>(_ store: any DefaultsStore, _ body: () throws -> Result) rethrows -> Result {
        try $box.withValue(Box(store: store), operation: body)
    }

    static func with<Result>(_ store: any DefaultsStore, _ body: () async throws -> Result) async rethrows -> Result {
        try await $box.withValue(Box(store: store), operation: body)
    }

    private var store: any DefaultsStore {
        Self.box?.store ?? MemoryDefaults()
    }

    func storedValue(forKey key: String) -> PropertyListValue? { store.storedValue(forKey: key) }
    func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws {
        try store.setStoredValue(value, forKey: key)
    }
    func storedKeys() -> [String] { store.storedKeys() }
    func flush() throws { try store.flush() }
    var storeDescription: String { store.storeDescription }
}

extension StoreKind {
    /// Runs a test in which `CurrentStore` is an empty store of this kind.
    func withCurrentStore(_ test: (any DefaultsStore) throws -> Void) throws {
        try withStore { store in
            try CurrentStore.with(store) { try test(store) }
        }
    }
}
