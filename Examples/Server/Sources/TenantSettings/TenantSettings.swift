public import Default
import Foundation

/// The settings of one tenant; the server and its administrators' tools use the same suite.
public struct TenantSettings: DefaultStorable, Equatable, Sendable {
    /// The greeting that the tenant's visitors see.
    public var greeting = "Hello"
    /// The number of changes so far.
    public var revision = 0

    /// The suite of all tenants' settings, `tenants` in the directory for configuration.
    public static var defaults: FileDefaults { suite }

    /// The settings of a tenant that has not chosen anything yet.
    public static var defaultValue: TenantSettings? { TenantSettings() }

    private static let suite: FileDefaults = {
        do {
            return try FileDefaults(suiteName: "tenants")
        } catch {
            fatalError("The suite of the tenants' settings can't be opened. \(error)")
        }
    }()
}

/// The name of a tenant, which is part of a key in the suite, so it must not be arbitrary text from a request.
public struct TenantName: Hashable, Sendable, CustomStringConvertible {
    /// The name.
    public let description: String

    /// Checks a name; the result is nil for what can't be one.
    ///
    /// - Parameter text: 1 to 64 lower-case letters of ASCII, digits and hyphens.
    public init?(_ text: some StringProtocol) {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(Self.letters.contains) else { return nil }
        description = String(text)
    }

    private static let letters = Set("abcdefghijklmnopqrstuvwxyz0123456789-".utf8)
}

/// The reasons for refusing a change of settings.
public enum TenantRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The maximum number of tenants is reached.
    case tooManyTenants
    /// The greeting is too long.
    case greetingTooLong

    /// A description of the refusal.
    public var description: String {
        switch self {
        case .tooManyTenants: "There are \(TenantSettings.maximumTenants) tenants, and no more are accepted."
        case .greetingTooLong: "A greeting has at most \(TenantSettings.maximumGreeting) bytes."
        }
    }
}

extension TenantSettings {
    /// The maximum number of tenants with settings: without a bound, requests could fill the disk.
    public static let maximumTenants = 1_000
    /// The maximum number of bytes in a greeting.
    public static let maximumGreeting = 1_000

    /// The current settings of a tenant, whichever process has stored them.
    ///
    /// - Parameters:
    ///   - tenant: The tenant's name.
    ///   - store: The store; nil, the default, for the suite of all tenants.
    /// - Returns: The settings.
    /// - Throws: ``DefaultsError`` when they can't be read.
    public static func current(of tenant: TenantName, in store: FileDefaults? = nil) throws -> TenantSettings {
        try load(from: store ?? defaults, forKey: key(for: tenant)) ?? TenantSettings()
    }

    /// Changes a tenant's settings, as one operation across all threads and processes.
    ///
    /// The call waits for others that are changing the suite, which takes some microseconds; that is short enough for a
    /// request handler.
    ///
    /// - Parameters:
    ///   - tenant: The tenant's name.
    ///   - store: The store; nil, the default, for the suite of all tenants.
    ///   - change: Changes the settings.
    /// - Returns: The changed settings.
    /// - Throws: A ``TenantRefusal``, or ``DefaultsError`` if the settings can't be stored; they are unchanged then.
    @discardableResult
    public static func change(
        of tenant: TenantName,
        in store: FileDefaults? = nil,
        _ change: (inout TenantSettings) -> Void
    ) throws -> TenantSettings {
        let store = store ?? defaults
        // A new tenant is counted and stored in one operation, so that concurrent requests don't exceed the bound.
        return try store.withExclusiveAccess {
            if store.object(forKey: key(for: tenant)) == nil {
                guard store.storedKeys().count(where: { $0.hasPrefix(prefix) }) < maximumTenants else {
                    throw TenantRefusal.tooManyTenants
                }
            }
            var settings = try current(of: tenant, in: store)
            change(&settings)
            guard settings.greeting.utf8.count <= maximumGreeting else {
                throw TenantRefusal.greetingTooLong
            }
            settings.revision += 1
            try settings.save(to: store, withKey: key(for: tenant))
            return settings
        }
    }

    private static let prefix = "tenant."

    private static func key(for tenant: TenantName) -> String { prefix + tenant.description }
}
