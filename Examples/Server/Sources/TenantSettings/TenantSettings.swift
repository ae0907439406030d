public import Default

/// The settings of one tenant.
public struct TenantSettings: DefaultStorable, Equatable, Sendable {
    /// The greeting that the tenant's visitors see.
    public var greeting = "Hello"
    /// The number of changes so far.
    public var revision = 0

    /// The settings of a tenant that has not chosen anything yet.
    public static let defaultValue = TenantSettings()
}

/// What bounds the tenants: without limits, requests could fill the disk.
///
/// An administrator sets them for all servers, in `/etc/xdg/tenants.json`: `{"Limits": {"tenants": 20}}`.
public struct Limits: DefaultStorable, Equatable, Sendable {
    /// The greatest number of tenants with settings.
    public var tenants: Int
    /// The greatest number of bytes in a greeting.
    public var greeting: Int

    /// The limits where nobody has set any.
    public static let defaultValue = Limits()

    /// Makes limits.
    ///
    /// - Parameters:
    ///   - tenants: The greatest number of tenants with settings.
    ///   - greeting: The greatest number of bytes in a greeting.
    public init(tenants: Int = 1_000, greeting: Int = 1_000) {
        (self.tenants, self.greeting) = (tenants, greeting)
    }

    /// Why these limits can't be used; nil if they can.
    public var problem: String? {
        if !(1...100_000).contains(tenants) { return "There can be 1 to 100000 tenants, not \(tenants)." }
        if !(1...100_000).contains(greeting) { return "A greeting can have 1 to 100000 bytes, not \(greeting)." }
        return nil
    }
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
    /// There are as many tenants as there may be.
    case tooManyTenants(limit: Int)
    /// The greeting is too long.
    case greetingTooLong(limit: Int)

    /// A description of the refusal.
    public var description: String {
        switch self {
        case .tooManyTenants(let limit): "No more than \(limit) tenants are accepted."
        case .greetingTooLong(let limit): "A greeting has at most \(limit) bytes."
        }
    }
}
