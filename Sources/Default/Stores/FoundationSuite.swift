#if Foundation
internal import Foundation
#if canImport(ObjectiveC)
internal import ObjectiveC
#endif

/// The names of `UserDefaults` suites, for which Foundation has no getter.
enum FoundationSuite {
    #if canImport(Darwin)
    // Only its address is used.
    nonisolated(unsafe) private static var nameKey: UInt8 = 0

    /// Opens a suite, and remembers its name.
    ///
    /// - Throws: `invalidSuiteName` for a name under which Foundation stores nothing.
    static func open(_ name: String) throws(DefaultsError) -> UserDefaults {
        // Foundation's initializer refuses the program's own domain and the global one. It accepts the other names here, but
        // takes them for paths, or stores nothing.
        guard !name.isEmpty, !name.contains("/"), !name.contains("\0"), let suite = UserDefaults(suiteName: name) else {
            throw .invalidSuiteName(name)
        }
        objc_setAssociatedObject(suite, &nameKey, name as NSString, .OBJC_ASSOCIATION_COPY_NONATOMIC)
        return suite
    }

    /// The name of a suite that was opened by ``open(_:)``; nil for any other.
    static func name(of suite: UserDefaults) -> String? {
        objc_getAssociatedObject(suite, &nameKey) as? String
    }
    #else
    /// The name of a suite; nil if Foundation's stored property has another name than it had in Swift 6.
    static func name(of suite: UserDefaults) -> String? {
        Mirror(reflecting: suite).children.first { $0.label == "suite" }?.value as? String
    }
    #endif
}
#endif
