public import Default

/// The settings of all tenants; the server and its administrators' tools use the same suite.
public struct Tenants: Sendable {
    /// The suite, in which the limits are too.
    public let suite: FileDefaults

    /// Uses a suite.
    ///
    /// - Parameter suite: The suite.
    public init(_ suite: FileDefaults) {
        self.suite = suite
    }

    /// Opens the suite of all tenants, `tenants` in the directory for configuration.
    ///
    /// - Returns: The tenants.
    /// - Throws: `DefaultsError` if the suite can't be opened.
    public static func open() throws -> Tenants {
        Tenants(try FileDefaults(suiteName: "tenants"))
    }

    /// The current settings of a tenant, whichever process has stored them.
    ///
    /// - Parameter tenant: The tenant's name.
    /// - Returns: The settings.
    /// - Throws: `DefaultsError` when they can't be read.
    public func settings(of tenant: TenantName) throws -> TenantSettings {
        try TenantSettings.load(from: suite, forKey: key(for: tenant)) ?? TenantSettings()
    }

    /// Changes a tenant's settings, as one operation across all threads and processes.
    ///
    /// The call waits for others that are changing the suite, which takes some microseconds; that is short enough for a
    /// request handler.
    ///
    /// - Parameters:
    ///   - tenant: The tenant's name.
    ///   - limits: What bounds the tenants.
    ///   - change: Changes the settings.
    /// - Returns: The changed settings.
    /// - Throws: A ``TenantRefusal``, or `DefaultsError` if the settings can't be stored; they are unchanged then.
    @discardableResult
    public func change(
        _ tenant: TenantName,
        within limits: Limits,
        _ change: (inout TenantSettings) -> Void
    ) throws -> TenantSettings {
        let key = key(for: tenant)
        // A new tenant is counted and stored in one operation, so that concurrent requests don't exceed the limit.
        return try suite.withExclusiveAccess {
            if suite.object(forKey: key) == nil {
                guard suite.storedKeys().count(where: { $0.hasPrefix(prefix) }) < limits.tenants else {
                    throw TenantRefusal.tooManyTenants(limit: limits.tenants)
                }
            }
            var settings = try settings(of: tenant)
            change(&settings)
            guard settings.greeting.utf8.count <= limits.greeting else {
                throw TenantRefusal.greetingTooLong(limit: limits.greeting)
            }
            settings.revision += 1
            try settings.save(to: suite, withKey: key)
            return settings
        }
    }

    private func key(for tenant: TenantName) -> String { prefix + tenant.description }
}

private let prefix = "tenant."
