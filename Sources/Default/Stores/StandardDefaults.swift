#if canImport(Darwin)
public import Foundation

/// The type of the default store: `UserDefaults` on Apple's systems, ``FileDefaults`` everywhere else.
public typealias StandardDefaults = UserDefaults
#else
/// The type of the default store: `UserDefaults` on Apple's systems, ``FileDefaults`` everywhere else.
public typealias StandardDefaults = FileDefaults
#endif
