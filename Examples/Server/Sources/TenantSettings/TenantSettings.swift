public import Default
import Foundation

/// What one tenant of the server has chosen; the server and its administrators' tools use the same suite.
public struct TenantSettings: DefaultStorable, Equatable, Sendable {
    /// What the tenant's visitors are greeted with.
    public var greeting = "Hello"
    /// How many changes were made so far.
    public var revision = 0

    /// The suite of all tenants' settings, `tenants` in the directory for configuration.
    public static var defaults: FileDefaults { suite }

    /// What a tenant has that has chosen nothing yet.
    public static var defaultValue: TenantSettings? { TenantSettings() }

    private static let suite: FileDefaults = {
        do {
            return try FileDefaults(suiteName: "tenants")
        } catch {
            fatalError("The suite of the tenants' settings can't be opened. \(error)")
        }
    }()
}

extension TenantSettings {
    /// The settings of a tenant as they are at this moment, whichever process has stored them.
    ///
    /// - Parameter tenant: The tenant's name.
    /// - Returns: The settings.
    /// - Throws: ``DefaultsError`` when they can't be read.
    public static func current(of tenant: String) throws -> TenantSettings {
        try load(forKey: key(for: tenant)) ?? TenantSettings()
    }

    /// Changes a tenant's settings, as one operation across all threads and processes.
    ///
    /// It waits for others that change the suite at this moment, which takes them some microseconds; that is little enough
    /// for a handler of requests.
    ///
    /// - Parameters:
    ///   - tenant: The tenant's name.
    ///   - change: Changes the settings.
    /// - Returns: The changed settings.
    /// - Throws: ``DefaultsError`` when they can't be stored; they are as they were then.
    @discardableResult
    public static func change(of tenant: String, _ change: (inout TenantSettings) -> Void) throws -> TenantSettings {
        try update(forKey: key(for: tenant)) { settings in
            change(&settings)
            settings.revision += 1
            return settings
        }
    }

    private static func key(for tenant: String) -> String { "tenant.\(tenant)" }
}
