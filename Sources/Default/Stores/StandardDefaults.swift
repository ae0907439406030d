#if canImport(Darwin)
public import Foundation

/// The type of the default store: `UserDefaults` on Apple platforms, ``FileDefaults`` on Linux.
public typealias StandardDefaults = UserDefaults
#else
/// The type of the default store: `UserDefaults` on Apple platforms, ``FileDefaults`` on Linux.
public typealias StandardDefaults = FileDefaults
#endif
