public import Default

/// A feature that is on for some hosts: those that are named, those of named groups, and a part of all others.
///
/// It is one value of the suite, so an operator changes it with one command:
///
/// ```sh
/// fleet-agent set checkout '{"percentage": 10, "hosts": {"web-1": true}, "groups": {"canary": true}}' --type json …
/// ```
public struct Rollout: Codable, Hashable, Sendable {
    /// For how many of a hundred hosts it is on, of those that are not named.
    public var percentage: Double
    /// Hosts for which it is on or off, whatever else is said.
    public var hosts: [String: Bool]?
    /// Groups of hosts for which it is on or off, unless the host is named.
    public var groups: [String: Bool]?

    /// Describes a rollout; to no host, if nothing is given.
    public init(percentage: Double = 0, hosts: [String: Bool]? = nil, groups: [String: Bool]? = nil) {
        self.percentage = percentage
        self.hosts = hosts
        self.groups = groups
    }

    /// Whether the feature is on for a host.
    ///
    /// Each host has a number from 0 to 100 for each feature, which never changes. So a host that has the feature keeps
    /// it while the percentage grows, and the hosts that are the first ones for one feature are others for the next.
    public func isOn(_ feature: String, host: String, group: String) -> Bool {
        hosts?[host] ?? groups?[group] ?? (Self.number(of: host, for: feature) < percentage)
    }

    /// FNV-1a, mixed well: Swift's own hash is another one in each process.
    private static func number(of host: String, for feature: String) -> Double {
        var hash = "\(feature)\u{0}\(host)".utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        hash = (hash ^ hash >> 32) &* 0xd6e8_feb8_6659_fd93
        hash ^= hash >> 32
        return Double(hash >> 11) / Double(1 << 53 as UInt64) * 100
    }
}

extension Rollout {
    /// The key of a feature.
    public static func key(_ feature: String) -> Defaults.Key<Rollout> {
        Defaults.Key(feature, default: Rollout())
    }
}
