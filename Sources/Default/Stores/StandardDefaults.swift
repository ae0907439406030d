#if canImport(Darwin)
public import Foundation

/// The type of the store that settings go to when they choose none: `UserDefaults` on Apple's systems, ``FileDefaults``
/// everywhere else.
public typealias StandardDefaults = UserDefaults
#else
/// The type of the store that settings go to when they choose none: `UserDefaults` on Apple's systems, ``FileDefaults``
/// everywhere else.
public typealias StandardDefaults = FileDefaults
#endif
