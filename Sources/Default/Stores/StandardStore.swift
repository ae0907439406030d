internal import Foundation
internal import Synchronization

/// The store of code that chose none: the platform's standard one, or what a task has substituted for it.
enum StandardStore {
    private struct Substitute: @unchecked Sendable {
        // Only the tasks started in the body see it; the caller of `withDefaults` answers for their use of the store.
        let store: any DefaultsStore
    }

    @TaskLocal private static var substituted: Substitute?

    /// Whether any task of the process has ever substituted a store; while none has, reads skip the look-up.
    private static let hasSubstitutes = Atomic<Bool>(false)

    static var current: any DefaultsStore {
        substitute ?? StandardDefaults.standard
    }

    /// What the current task has substituted for the standard store.
    static var substitute: (any DefaultsStore)? {
        hasSubstitutes.load(ordering: .relaxed) ? substituted?.store : nil
    }

    static func with<Result>(_ store: any DefaultsStore, _ body: () throws -> Result) rethrows -> Result {
        hasSubstitutes.store(true, ordering: .relaxed)
        return try $substituted.withValue(Substitute(store: store), operation: body)
    }

    static func with<Result>(
        _ store: any DefaultsStore,
        isolation: isolated (any Actor)?,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        hasSubstitutes.store(true, ordering: .relaxed)
        return try await $substituted.withValue(Substitute(store: store), operation: body, isolation: isolation)
    }
}

/// Runs a body in which another store is used for the standard one, so that tests share no settings, and leave none on the disk.
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

/// Runs an asynchronous body in which another store is used for the standard one; see the synchronous form.
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
