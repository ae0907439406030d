public import Foundation

/// The type of the store that settings go to when they choose none: `UserDefaults`.
public typealias StandardDefaults = UserDefaults
