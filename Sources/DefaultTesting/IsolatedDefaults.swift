#if canImport(Testing)
public import Default
internal import Foundation
public import Testing

/// A trait that gives each test a standard store of its own.
///
/// ```swift
/// import Default
/// import DefaultTesting
/// import Testing
///
/// @Suite(.isolatedDefaults) struct PlayerTests {
///     @Test func theVolumeIsKept() {
///         Defaults["volume"] = 0.5    // in a store of this test's own
///         #expect(Defaults["volume"].double == 0.5)
///     }
/// }
/// ```
///
/// In the test, and in the tasks that it starts, the store is used by everything that `withDefaults` says: settings
/// types and keys that name no store. So tests run in parallel, see nothing of each other, and leave nothing on the
/// disk. Of a test with arguments, each case has its own store.
///
/// **Detached tasks and threads aren't reached.** They use the standard store of the machine, unless they are given
/// one.
public struct IsolatedDefaults: TestTrait, SuiteTrait, TestScoping {
    /// True: each test of a suite has a store of its own.
    public var isRecursive: Bool { true }

    let store: TestStore

    /// Runs a test with its own store.
    @concurrent
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        let made = try store.make()
        // Also if the test throws.
        defer { made.remove() }
        try await withDefaults(made.store) { try await function() }
    }
}

extension Trait where Self == IsolatedDefaults {
    /// Gives each test a `MemoryDefaults` of its own as the standard store; see ``IsolatedDefaults``.
    public static var isolatedDefaults: Self { isolatedDefaults(TestStore { (MemoryDefaults(), {}) }) }

    /// Gives each test a store of its own as the standard store; see ``IsolatedDefaults``.
    ///
    /// `@Test(.isolatedDefaults(FileDefaults.temporary))` keeps its values in a file that is removed afterwards.
    ///
    /// - Parameter store: How to make the store.
    /// - Returns: The trait.
    public static func isolatedDefaults(_ store: TestStore) -> Self { IsolatedDefaults(store: store) }
}

/// How to make a store for a test, and to remove it afterwards.
public struct TestStore: Sendable {
    struct Made {
        let store: any DefaultsStore
        let remove: () -> Void
    }

    let make: @Sendable () throws -> Made

    /// Makes stores by a closure.
    ///
    /// - Parameter make: Makes a store, and says how to remove it when its test has ended.
    public init(_ make: @escaping @Sendable () throws -> (store: any DefaultsStore, remove: () -> Void)) {
        self.make = {
            let made = try make()
            return Made(store: made.store, remove: made.remove)
        }
    }
}

extension FileDefaults {
    /// A suite in a temporary directory, which is removed when its test has ended.
    public static var temporary: TestStore {
        TestStore {
            let directory = FileManager.default.temporaryDirectory
                .appendingPathComponent("default-test-\(UUID().uuidString)", isDirectory: true)
            let store = try FileDefaults(url: directory.appendingPathComponent("suite.defaults", isDirectory: true))
            return (
                store,
                {
                    // What is written in the background may add a file in between.
                    try? store.flush()
                    for _ in 0..<100 where FileManager.default.fileExists(atPath: directory.path) {
                        try? FileManager.default.removeItem(at: directory)
                    }
                }
            )
        }
    }
}
#endif
