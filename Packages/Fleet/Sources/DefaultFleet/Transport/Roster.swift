internal import Foundation

/// The members that requests can be sent to, and the clusters that they belong to, as they have said themselves.
///
/// An endpoint may lead to a member of another cluster: one that was started again with a wrong configuration,
/// for example. Its answers look like those of a cluster that has lost its contents. So the endpoints decide which
/// cluster is meant, and the others are avoided. Members that the cluster names beside them are asked when none of the
/// endpoints is left, so a cluster may move to other addresses.
struct Roster: Sendable {
    /// One address of a member.
    struct Entry: Sendable {
        let url: URL
        /// Nil before it has answered.
        var clusterID: String?
        /// The member's own id.
        var memberID: String?
        /// How many members its cluster has.
        var clusterSize: Int?
        /// Whether the address is an endpoint, or one that the cluster names.
        var isInUse = true
    }

    /// The endpoints, and then all addresses that the cluster has ever named; those keep their numbers.
    private(set) var entries: [Entry]
    private let endpointCount: Int
    /// The cluster that is meant; nil before it is known.
    private(set) var clusterID: String?

    init(endpoints: [URL]) {
        entries = endpoints.map { Entry(url: $0) }
        endpointCount = endpoints.count
    }

    /// What a member says about itself and its cluster.
    struct Report: Sendable {
        var clusterID: String
        var memberID: String?
        /// Nil where the member doesn't name the others.
        var members: [Named]?
    }

    /// A member as others name it.
    struct Named: Hashable, Sendable {
        var id: String
        var urls: [URL]
    }

    /// Whether the endpoints may belong to several clusters.
    var hasChoice: Bool { entries.count > 1 }

    /// Whether a member is known to belong to another cluster than the one that is meant.
    func isStray(_ member: Int) -> Bool {
        guard let clusterID, let other = entries[member].clusterID else { return false }
        return other != clusterID
    }

    var strays: [URL] { entries.indices.filter { entries[$0].isInUse && isStray($0) }.map { entries[$0].url } }

    /// The member to ask after another one: the next one that may be of the cluster.
    func member(after member: Int) -> Int {
        let ring = (1...entries.count).map { (member + $0) % entries.count }
        return ring.first { entries[$0].isInUse && !isStray($0) } ?? ring[0]
    }

    /// One of the members that may be of the cluster, each as likely as the others.
    func randomMember(using generator: inout some RandomNumberGenerator) -> Int? {
        entries.indices.filter { entries[$0].isInUse && !isStray($0) }.randomElement(using: &generator)
    }

    // MARK: Which cluster is meant

    /// Forgets which clusters members belong to, before all are asked again.
    mutating func beginSurvey() {
        for index in entries.indices {
            entries[index].clusterID = nil
        }
    }

    /// Whether most endpoints lead to one cluster, so that the others need not be waited for.
    var hasMajority: Bool {
        let answers = entries.prefix(endpointCount).compactMap(\.clusterID)
        return Dictionary(grouping: answers) { $0 }.contains { $0.value.count * 2 > endpointCount }
    }

    /// Notes what a member has said.
    mutating func note(_ report: Report, from member: Int) {
        entries[member].clusterID = report.clusterID
        entries[member].memberID = report.memberID ?? entries[member].memberID
        entries[member].clusterSize = report.members?.count ?? entries[member].clusterSize
    }

    /// Decides which cluster is meant; it stays unknown where that can't be decided.
    ///
    /// - Parameter copied: The cluster that the host has a copy of.
    mutating func decide(copied: String?) {
        let answers = entries.prefix(endpointCount).map { $0 }
        clusterID = Self.cluster(of: answers, known: clusterID ?? copied)
    }

    /// The cluster that endpoints lead to.
    ///
    /// It is that of most endpoints. Where too few answer, it is the one that is known, or the only one that answers,
    /// if that has so many members that the other endpoints may lead to them.
    static func cluster(of endpoints: [Entry], known: String?) -> String? {
        var counts: [String: Int] = [:]
        for case let id? in endpoints.map(\.clusterID) {
            counts[id, default: 0] += 1
        }
        if let majority = counts.first(where: { $0.value * 2 > endpoints.count }) {
            return majority.key
        }
        if let known, counts.isEmpty || counts[known] != nil {
            return known
        }
        guard counts.count == 1, let only = counts.first?.key else { return nil }
        let size = endpoints.filter { $0.clusterID == only }.compactMap(\.clusterSize).max() ?? 0
        return size * 2 > endpoints.count ? only : nil
    }

    /// Which endpoints lead to which cluster, for people.
    var summary: String {
        let groups = Dictionary(grouping: entries.prefix(endpointCount), by: \.clusterID)
        return groups.sorted { $0.key ?? "" < $1.key ?? "" }.map { id, entries in
            let names = entries.map(\.url.address).joined(separator: ", ")
            return id.map { "\(names): cluster \($0)" } ?? "\(names): no answer"
        }
        .joined(separator: "; ")
    }

    // MARK: Addresses that the cluster names

    /// The addresses of members that the cluster names, and that may be used beside the endpoints.
    ///
    /// Endpoints with TLS are not left for others without it. An address of the loopback interface is another machine's
    /// on another host, so it counts only where an endpoint has one too.
    func usableAddresses(of members: [Named]) -> [URL] {
        let endpoints = entries.prefix(endpointCount)
        let schemes = Set(endpoints.map(\.url.scheme))
        let hasLoopback = endpoints.contains { $0.url.isLoopback }
        return members.flatMap(\.urls).filter { url in
            schemes.contains(url.scheme) && url.host != nil && (hasLoopback || !url.isLoopback)
        }
    }

    /// Uses the addresses that the cluster names, and no others beside the endpoints.
    mutating func use(_ addresses: [URL]) {
        for index in entries.indices.dropFirst(endpointCount) {
            entries[index].isInUse = addresses.contains(entries[index].url)
        }
        for url in addresses where !entries.contains(where: { $0.url == url }) {
            entries.append(Entry(url: url))
        }
    }
}

extension URL {
    /// The host and the port.
    var address: String { (host ?? "?") + (port.map { ":\($0)" } ?? "") }

    fileprivate var isLoopback: Bool {
        guard let host else { return false }
        return host == "localhost" || host == "::1" || host.hasPrefix("127.") || host == "0.0.0.0"
    }
}
