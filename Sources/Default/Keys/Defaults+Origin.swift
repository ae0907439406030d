extension Defaults {
    /// Where the value of a key comes from.
    ///
    /// - Parameter key: The key.
    /// - Returns: The origin; nil when the key's default is read, since nothing has a value for it.
    public func origin(of key: Keys) -> DefaultsOrigin? { suite.origin(forKey: key.storedName) }

    /// Where the value of a key in the standard store comes from; nil when the key's default is read.
    public static func origin(of key: Keys) -> DefaultsOrigin? { Defaults().origin(of: key) }

    /// Whether the value of a key is mandatory, so that it can't be changed.
    ///
    /// - Parameter key: The key.
    /// - Returns: True if a mandatory source has a value for the key.
    public func isForced(_ key: Keys) -> Bool { origin(of: key)?.kind == .mandatory }

    /// Whether the value of a key in the standard store is mandatory, so that it can't be changed.
    public static func isForced(_ key: Keys) -> Bool { Defaults().isForced(key) }
}
