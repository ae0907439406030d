public import Default

extension DefaultsError.Code {
    /// A write may or may not have been stored: the answer of the cluster was lost, and could not be found out before
    /// the deadline.
    ///
    /// It may still take effect. Read what is stored, after ``EtcdDefaults/flush()``, before you try again.
    public static let outcomeUnknown = Self("fleet.outcomeUnknown")
    /// What a change was made from was changed by others each time; nothing was stored.
    ///
    /// For a change in place, which can't run again, one conflict is enough.
    public static let conflict = Self("fleet.conflict")
    /// The cluster has used up its space, and accepts removals only, or a suite would have more than 32 MiB of keys and
    /// texts; nothing was stored.
    public static let quotaExceeded = Self("fleet.quotaExceeded")
    /// A transaction has more keys than the cluster accepts at once; nothing was stored.
    public static let tooManyKeys = Self("fleet.tooManyKeys")
    /// A call that waits for the network was made in a task, where it holds a thread that other tasks need, or on a
    /// thread of NIO's event loops, where it is refused.
    public static let blockingCall = Self("fleet.blockingCall")
    /// The cluster has accepted a write, but the host's copy did not have it at the deadline; reads may show the
    /// previous value for some time.
    public static let replicaBehind = Self("fleet.replicaBehind")
}

extension DefaultsDiagnostics.Event.Kind {
    /// A call that waits for the network was made in a task; reported once per process.
    public static let blockingCall = Self("blocking call")
    /// The cluster has accepted a write that the host's copy did not have at the deadline.
    public static let replicaBehind = Self("replica behind")
}

extension DefaultsError {
    static func unavailable(_ reason: String, store: String, key: String? = nil) -> DefaultsError {
        DefaultsError(.storeUnavailable, reason: "\(store): \(reason)", key: key, store: store)
    }

    static func storeReplaced(because reason: String, store: String) -> DefaultsError {
        DefaultsError(
            .storeReplaced,
            reason: """
                \(store) is not what this host has a copy of: \(reason). The host keeps its last values, and nothing is written. \
                If the cluster is the right one, an operator calls acceptReplacement once, from one host.
                """,
            store: store
        )
    }

    static func emptyReplacement(_ keyCount: Int, store: String) -> DefaultsError {
        DefaultsError(
            .storeReplaced,
            reason: """
                The cluster has no values of \(store), and this host has \(keyCount). Accepting that would remove all of them from all \
                hosts. Fill the cluster from this host's copy: fleet-agent seed. Or say that all hosts shall be emptied: \
                --empty-all-hosts.
                """,
            store: store
        )
    }

    static func noSuchRevision(_ revision: Int64, isFuture: Bool, _ store: String) -> DefaultsError {
        DefaultsError(
            .storeUnavailable,
            reason: isFuture
                ? "The cluster of \(store) has no revision \(revision) yet."
                : "The cluster of \(store) has deleted its history before and including revision \(revision).",
            store: store
        )
    }

    static func malformedText(_ form: String, key: String, store: String) -> DefaultsError {
        DefaultsError(
            .undecodable,
            reason: """
                What is stored under \(key.debugDescription) in \(store) is not JSON, but \(form). A program that reads it uses the \
                default value that it declares for the key. Store true or false for a Boolean, and texts in double quotes.
                """,
            key: key,
            store: store
        )
    }

    static func outcomeUnknown(after failure: EtcdClient.Failure?, store: String, key: String?) -> DefaultsError {
        DefaultsError(
            .outcomeUnknown,
            reason: """
                A write to \(store) was sent, and whether it was stored could not be found out before the deadline. It may still \
                take effect. Read what is stored before you try again. The last failure: \
                \(failure.map { "\($0)" } ?? "no answer").
                """,
            key: key,
            store: store
        )
    }

    static func conflict(after runs: Int, store: String, key: String?) -> DefaultsError {
        DefaultsError(
            .conflict,
            reason: """
                What a change of \(store) was made from was changed by others \(runs == 1 ? "meanwhile" : "\(runs) times"). \
                Nothing was stored. Try again, or use update, which runs again by itself until the deadline.
                """,
            key: key,
            store: store
        )
    }

    static func tooManyKeys(reads: Int, writes: Int, store: String) -> DefaultsError {
        DefaultsError(
            .tooManyKeys,
            reason: """
                A transaction of \(store) reads \(reads) keys and writes \(writes); at most \(WriteLimits.reads) and \
                \(WriteLimits.writes) are possible. Nothing was stored. Divide it, or store one value with several properties.
                """,
            store: store
        )
    }

    static func suiteTooLarge(_ size: Int, store: String, key: String?) -> DefaultsError {
        DefaultsError(
            .quotaExceeded,
            reason: """
                \(store) would have \(size) bytes with this write; a suite has \(SuiteLimits.bytes) at most, keys and texts together. \
                Nothing was stored. Remove values, or divide the suite.
                """,
            key: key,
            store: store
        )
    }

    private static func tooLarge(store: String, key: String?) -> DefaultsError {
        DefaultsError(
            .valueTooLarge,
            reason: """
                A write to \(store) is larger than the cluster accepts at once (1.5 MB, unless it is configured otherwise). Nothing was stored. Store large data elsewhere, and its name here.
                """,
            key: key,
            store: store
        )
    }

    /// The error for a request that a member refused, or that none could be sent.
    static func failed(
        _ failure: EtcdClient.Failure,
        store: String,
        key: String?,
        isReading: Bool = false
    ) -> DefaultsError {
        if case .replaced = failure {
            return storeReplaced(because: "its identity is another one", store: store)
        }
        guard let refusal = failure.refusal else {
            return unavailable(
                "No member of the cluster can be reached in time. \(advice(for: "\(failure)"))",
                store: store,
                key: key
            )
        }
        switch refusal.cause {
        case .quotaExceeded:
            return DefaultsError(
                .quotaExceeded,
                reason: """
                    The cluster of \(store) has used up its space. Nothing was stored; removals are still possible. An operator \
                    compacts and defragments it, and disarms the alarm: etcdctl compact, defrag, alarm disarm.
                    """,
                key: key,
                store: store
            )
        case .requestTooLarge: return tooLarge(store: store, key: key)
        case .tooManyOperations:
            return DefaultsError(
                .tooManyKeys,
                reason:
                    "A transaction of \(store) has more keys than the cluster is configured for. Nothing was stored.",
                store: store
            )
        case .permissionDenied where isReading:
            return unavailable(
                """
                The user has no permission to read the suite. An operator grants a role of the user the permission read for the \
                suite's prefix: etcdctl role grant-permission.
                """,
                store: store
            )
        case .permissionDenied:
            return DefaultsError(
                .storeReadOnly,
                reason: """
                    The user of \(store) has no permission for this. Nothing was stored. An operator grants a role of the user \
                    the permission readwrite for the suite's prefix: etcdctl role grant-permission.
                    """,
                key: key,
                store: store
            )
        default:
            return unavailable("The cluster has refused a request. \(explanation(of: refusal))", store: store, key: key)
        }
    }

    private static func explanation(of refusal: EtcdRefusal) -> String {
        switch refusal.cause {
        case .wrongPassword: "The user's name or password is wrong. Check EtcdCluster.user."
        case .missingUser: "It has authentication enabled. Set EtcdCluster.user."
        case .invalidToken:
            """
            It has not accepted the user's token. One from a file may have expired, or be older than the last change of users and roles. \
            Otherwise check the members' clocks and their log.
            """
        case .commonName:
            """
            With authentication enabled, its gateway accepts no client certificate that has a CommonName. Use a certificate without \
            one, or none, and EtcdCluster.user.
            """
        case .noLeader: "It has no leader: most of its members are stopped, or can't reach each other."
        default: "It says: \(refusal.message)"
        }
    }

    private static func advice(for reason: String) -> String {
        switch CertificateFault(in: reason) {
        case .own:
            """
            A member has refused this program's certificate, which may have expired, be of another authority, or be missing. Check \
            the certificate and the private key of EtcdCluster.tls. The failure: \(reason).
            """
        case .member:
            "A member's certificate is not valid: check EtcdCluster.tls, and its trustRoots. The failure: \(reason)."
        case nil: "The last failure: \(reason)."
        }
    }
}
