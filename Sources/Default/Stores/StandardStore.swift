internal import Synchronization

/// The store that code uses which chose none: the platform's standard one, or what a task has put in its place.
package enum StandardStore {
    private struct Replacement: @unchecked Sendable {
        // Handed to the tasks that whoever put it there started, who knows from where the store may be used.
        let store: any DefaultsStore
    }

    @TaskLocal private static var replacement: Replacement?

    /// Whether any task of the process has ever put something in the store's place; while none has, nobody looks.
    private static let isReplaceable = Atomic<Bool>(false)

    static var current: any DefaultsStore {
        if isReplaceable.load(ordering: .relaxed), let replacement {
            return replacement.store
        }
        return StandardDefaults.standard
    }

    /// Runs a body in which another store stands in for the standard one, for this task and its children.
    package static func with<Result>(_ store: any DefaultsStore, _ body: () throws -> Result) rethrows -> Result {
        isReplaceable.store(true, ordering: .relaxed)
        return try $replacement.withValue(Replacement(store: store), operation: body)
    }
}
