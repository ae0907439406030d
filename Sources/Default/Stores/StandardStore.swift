#if canImport(Darwin)
public import Foundation
#endif
internal import DefaultJournal

#if canImport(Darwin)
/// The type of the default store: `UserDefaults` on Apple platforms, ``FileDefaults`` on Linux.
public typealias StandardDefaults = UserDefaults
#else
/// The type of the default store: `UserDefaults` on Apple platforms, ``FileDefaults`` on Linux.
public typealias StandardDefaults = FileDefaults
#endif

/// The store of calls that don't specify one: the platform's standard store, or a task's substitute for it.
enum StandardStore {
    private struct Substitute: @unchecked Sendable {
        // Only the tasks started in the body see it. The caller of `withDefaults` is responsible for their use of the
        // store.
        let store: any DefaultsStore
    }

    @TaskLocal private static var substituted: Substitute?

    /// Whether any task of the process has ever substituted a store; until then, reads skip the lookup of the task
    /// local.
    private static let hasSubstitutes = Atomic<Bool>(false)

    static var current: any DefaultsStore { substitute ?? StandardDefaults.standard }

    /// The current task's substitute for the standard store.
    static var substitute: (any DefaultsStore)? { hasSubstitutes.load() ? substituted?.store : nil }

    static func with<Result>(_ store: any DefaultsStore, _ body: () throws -> Result) rethrows -> Result {
        hasSubstitutes.store(true)
        return try $substituted.withValue(Substitute(store: store), operation: body)
    }

    static func with<Result>(
        _ store: any DefaultsStore,
        isolation: isolated (any Actor)?,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        hasSubstitutes.store(true)
        return try await $substituted.withValue(Substitute(store: store), operation: body, isolation: isolation)
    }
}

/// Runs a body in which another store replaces the standard one, so that tests share no settings and leave none on
/// disk.
///
/// ```swift
/// withDefaults(MemoryDefaults()) {
///     Defaults[.launchCount] += 1
///     VisualSettings(themeName: "dark").write()
/// }
/// ```
///
/// Inside the body, and in the tasks that it starts except detached ones, the given store is used by
/// ``DefaultStorable`` types that specify no store or the standard one, by ``Defaults`` and ``Stored`` without a suite,
/// and by ``PersistentStorage`` without a name. Threads that the body starts are not affected. Neither are direct uses
/// of the standard store, such as `FileDefaults.standard.string(forKey:)`. Calls nest.
///
/// - Parameters:
///   - store: The store. Child tasks may use it at the same time, so it has to be safe to use from several threads.
///   - body: The body.
/// - Returns: What the body returns.
/// - Throws: Any error that the body throws.
public func withDefaults<Result>(_ store: any DefaultsStore, _ body: () throws -> Result) rethrows -> Result {
    try StandardStore.with(store, body)
}

/// Runs an asynchronous body in which another store replaces the standard one; see the synchronous form.
///
/// - Parameters:
///   - store: The store. Child tasks may use it at the same time, so it has to be safe to use from several threads.
///   - isolation: The actor that the body runs on; the caller's by default.
///   - body: The body.
/// - Returns: What the body returns.
/// - Throws: Any error that the body throws.
public func withDefaults<Result>(
    _ store: any DefaultsStore,
    isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Result
) async rethrows -> Result {
    try await StandardStore.with(store, isolation: isolation, body)
}
