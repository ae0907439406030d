internal import Foundation
internal import Synchronization

/// The store that code uses which chose none: the platform's standard one, or what a task has put in its place.
enum StandardStore {
    private struct Replacement: @unchecked Sendable {
        // Handed to the tasks that whoever put it there started, who knows from where the store may be used.
        let store: any DefaultsStore
    }

    @TaskLocal private static var replacement: Replacement?

    /// Whether any task of the process has ever put something in the store's place; while none has, nobody looks.
    private static let isReplaceable = Atomic<Bool>(false)

    static var current: any DefaultsStore {
        replacingStore ?? StandardDefaults.standard
    }

    /// What the current task has put in the standard store's place.
    static var replacingStore: (any DefaultsStore)? {
        isReplaceable.load(ordering: .relaxed) ? replacement?.store : nil
    }

    static func with<Result>(_ store: any DefaultsStore, _ body: () throws -> Result) rethrows -> Result {
        isReplaceable.store(true, ordering: .relaxed)
        return try $replacement.withValue(Replacement(store: store), operation: body)
    }

    static func with<Result>(
        _ store: any DefaultsStore,
        isolation: isolated (any Actor)?,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        isReplaceable.store(true, ordering: .relaxed)
        return try await $replacement.withValue(Replacement(store: store), operation: body, isolation: isolation)
    }
}

/// Runs a body in which another store stands in for the standard one, so that tests don't meet there, nor on the disk.
///
/// ```swift
/// withDefaults(MemoryDefaults()) {
///     Defaults[.launchCount] += 1
///     VisualSettings(themeName: "dark").write()
/// }
/// ```
///
/// Inside the body, and in the tasks that it starts (detached ones excepted), every use of the standard store goes to the given one: by
/// ``DefaultStorable`` types that chose no store, or chose the standard one, by ``Defaults`` and ``Stored`` without a suite, and by
/// ``PersistentStorage`` without a name. Threads that the body starts are not part of it, and neither are direct uses of the object,
/// such as `FileDefaults.standard.string(forKey:)`. Calls nest.
///
/// - Parameters:
///   - store: The store. Child tasks use it at the same time, so it has to be one that several threads may use.
///   - body: What to do.
/// - Returns: What the body returns.
/// - Throws: What the body throws.
public func withDefaults<Result>(_ store: any DefaultsStore, _ body: () throws -> Result) rethrows -> Result {
    try StandardStore.with(store, body)
}

/// Runs an asynchronous body in which another store stands in for the standard one; see the synchronous form.
///
/// - Parameters:
///   - store: The store. Child tasks use it at the same time, so it has to be one that several threads may use.
///   - isolation: The actor that the body stays on: the caller's.
///   - body: What to do.
/// - Returns: What the body returns.
/// - Throws: What the body throws.
public func withDefaults<Result>(
    _ store: any DefaultsStore,
    isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Result
) async rethrows -> Result {
    try await StandardStore.with(store, isolation: isolation, body)
}
