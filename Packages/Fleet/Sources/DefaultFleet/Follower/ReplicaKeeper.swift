internal import CoreMetrics
internal import Default
internal import Foundation
internal import Logging

/// Changes a host's replica as the cluster has changed its suite; for the follower's thread.
struct ReplicaKeeper {
    let replica: Replica
    let lock: HostLock
    let client: EtcdClient
    let reader: StoreReader
    let keys: SuiteKeys
    let timing: FollowerTiming
    let logger: Logger
    let metrics: FleetMetrics
    let storeDescription: String
    let troubles: TroubleRecord

    /// What the replica was when this follower has changed it last, or has begun to watch.
    private(set) var known: ReplicaState?
    /// What was listed until a connection was lost.
    private var partial: StoreReader.Listing?
    /// The strays that were logged.
    private var strays: [URL] = []
    private var hasReportedSize = false

    init(
        of replica: Replica,
        lock: HostLock,
        client: EtcdClient,
        keys: SuiteKeys,
        timing: FollowerTiming,
        logger: Logger,
        metrics: FleetMetrics,
        storeDescription: String,
        troubles: TroubleRecord
    ) {
        self.replica = replica
        self.lock = lock
        self.client = client
        self.keys = keys
        self.timing = timing
        self.logger = logger
        self.metrics = metrics
        self.storeDescription = storeDescription
        self.troubles = troubles
        reader = StoreReader(client: client, keys: keys)
    }

    // MARK: A copy of the store

    /// Verifies that the replica is a copy of this store, and makes it one if it may.
    mutating func prepare(listing needsListing: Bool) throws(Trouble) -> Preparation {
        let asked = ContinuousClock.now
        let found: StoreStatus
        let succession: Succession
        var listing: StoreReader.Listing?
        do throws(EtcdClient.Failure) {
            defer { noteStrays() }
            (found, succession) = try look()
            if succession != .same || found.identity != replica.state?.identity {
                // A wrong bit in an answer looks like another store. The same member is asked: the others may be
                // silent.
                let (again, sameSuccession) = try look()
                guard again.identity == found.identity, sameSuccession == succession else {
                    throw .unintelligible("Two looks at the store's identity have found different things.")
                }
            }
            let isComplete = !needsListing && replica.isIntact == true && replica.isIntactOnDisk
            if succession == .new || succession == .same && !isComplete {
                listing = try reader.list(continuing: &partial)
            }
        } catch {
            logger.warning("The cluster can't be reached.", metadata: ["reason": "\(error)"])
            troubles.record(error, store: storeDescription)
            throw Trouble(error)
        }
        switch succession {
        case .uninitialized:
            logger.warning("The suite has no store identity in the cluster. Call initialize() once.")
            throw .uninitialized
        case .replaced(let reason):
            noteReplacement(because: reason)
            throw .replaced
        case .new, .same: break
        }
        guard let identity = found.identity else { throw .uninitialized }
        do {
            var state = replica.state
            if let listing {
                let found = ReplicaState(
                    revision: listing.revision,
                    identity: identity,
                    clusterID: listing.clusterID,
                    latest: listing.latest,
                    addresses: state?.addresses ?? [],
                    ignoredKeys: listing.ignoredKeys
                )
                state = try replica.replaceContents(with: listing.values, state: found)
                report(listing.malformed)
                metrics.listings.increment()
                logger.info("All of the suite was listed.", metadata: ["revision": "\(listing.revision)"])
            } else if let before = state, before.identity != identity || before.replacement != nil {
                var after = before
                after.identity = identity
                after.replacement = nil
                state = try replica.apply([:], from: before, to: after)
            }
            known = state
            try advance(to: found)
        } catch {
            throw failure(error)
        }
        reportSize()
        // One that has just answered.
        let member = client.preferredMember
        guard let copy = known else { throw .streamEnded("The replica can't be read.") }
        return Preparation(found: found, asked: asked, member: member, copy: copy)
    }

    /// Compares the replica with what the cluster has.
    private func look() throws(EtcdClient.Failure) -> (StoreStatus, Succession) {
        let found = try reader.status(until: Deadline(after: timing.connectLimit))
        let state = replica.state
        var trace = TraceResult.unknown
        if let latest = state?.latest {
            trace = try reader.find(latest)
        }
        return (found, Succession.of(state, in: found, trace: trace))
    }

    /// Records that the replica has everything up to the revision of a status that it agrees with.
    ///
    /// A suite that is never changed beside others that are would have to be listed otherwise, when the history since
    /// its last change was compacted.
    private mutating func advance(to found: StoreStatus) throws {
        guard let before = known, before.revision < found.revision, before.isCurrent(with: found) else { return }
        var after = before
        after.revision = found.revision
        known = try replica.apply([:], from: before, to: after)
        metrics.revision.record(found.revision)
    }

    /// Keeps what the replica has, refuses writes, and reports it, once.
    private func noteReplacement(because reason: String) {
        guard let before = replica.state, before.replacement != reason else { return }
        var state = before
        state.replacement = reason
        do {
            _ = try replica.apply([:], from: before, to: state)
        } catch {
            logger.error("The replica can't be changed.", metadata: ["reason": "\(error)"])
        }
        logger.error("The store was replaced.", metadata: ["reason": "\(reason)"])
        DefaultsDiagnostics.report(.storeReplaced, .storeReplaced(because: reason, store: storeDescription))
    }

    // MARK: Changes

    /// Applies events, those of one revision together.
    mutating func apply(_ events: [WatchEvent]) throws(Trouble) {
        for transaction in events[...].chunked(by: \.revision) {
            guard let before = known, let revision = transaction.first?.revision else { continue }
            guard !transaction.contains(where: { $0.key == keys.store }) else { throw .identityChanged }
            // It may come again after a listing.
            guard revision > before.revision else { continue }
            var state = before
            var changes: [StoreKey: PropertyListValue?] = [:]
            var malformed: [StoreKey: String] = [:]
            for event in transaction where keys.contains(event.key) {
                if let key = keys.key(at: event.key) {
                    let value = event.text.map(JSONText.storedValue)
                    changes.updateValue(value, forKey: key)
                    if let text = event.text, let value {
                        malformed[key] = JSONText.formOfMalformed(text, keptAs: value)
                    }
                } else if event.text == nil {
                    state.ignoredKeys.remove(event.key)
                } else {
                    state.ignoredKeys.insert(event.key)
                }
                if let text = event.text {
                    state.latest = ReplicaState.Trace(key: event.key, revision: revision, text: text)
                }
            }
            state.revision = revision
            do {
                known = try replica.apply(changes, from: before, to: state)
                report(malformed)
            } catch is Replica.ChangedByOthers {
                throw .replicaDamaged
            } catch {
                throw failure(error)
            }
            metrics.transactions.increment()
            metrics.revision.record(revision)
        }
        reportSize()
    }

    /// Records that the replica has what a heartbeat has found, after a look whether it is still what this follower has
    /// made it.
    mutating func confirm(_ heartbeat: Heartbeat) throws(Trouble) {
        guard lock.isAcquired, replica.state == known else { throw .replicaDamaged }
        if case .status(let found) = heartbeat.target {
            do {
                try advance(to: found)
            } catch {
                throw failure(error)
            }
        }
        lock.confirm(asOf: .now - heartbeat.asOf)
        recordStrays()
    }

    /// Stores where the cluster's members are, for all processes of the host.
    mutating func remember(_ addresses: [String]) throws(Trouble) {
        guard let before = known else { return }
        var after = before
        after.addresses = addresses
        do {
            known = try replica.apply([:], from: before, to: after)
        } catch is Replica.ChangedByOthers {
            throw .replicaDamaged
        } catch {
            throw failure(error)
        }
        logger.info("The cluster names its members.", metadata: ["addresses": "\(addresses)"])
    }

    // MARK: Reports

    /// Reports texts that can't be read, each once: programs don't find what an operator has typed.
    private func report(_ malformed: [StoreKey: String]) {
        for (key, form) in malformed {
            DefaultsDiagnostics.report(.readFailed, .malformedText(form, key: key.string, store: storeDescription))
        }
    }

    /// Logs a suite that is larger than it may be: `etcdctl` has no limit.
    private mutating func reportSize() {
        let isTooLarge = known.map { $0.byteCount > SuiteLimits.bytes } ?? false
        if isTooLarge, !hasReportedSize {
            logger.warning(
                "The suite is larger than it may be. Writes that make it larger still are refused.",
                metadata: ["bytes": "\(known?.byteCount ?? 0)", "limit": "\(SuiteLimits.bytes)"]
            )
        }
        hasReportedSize = isTooLarge
    }

    /// A copy that is confirmed has no trouble but endpoints that lead elsewhere.
    private func recordStrays() {
        guard !strays.isEmpty else { return troubles.clear() }
        let endpoints = strays.map(\.address).joined(separator: ", ")
        let explanation = """
            These endpoints lead to members of another cluster than most do, and are not used: \(endpoints). Leave them out, or \
            repair those members.
            """
        let trouble = Freshness.Trouble(cause: .strayMember, explanation: explanation)
        troubles.record(trouble)
    }

    private mutating func noteStrays() {
        let strays = client.strays
        metrics.strays.record(strays.count)
        if strays != self.strays, !strays.isEmpty {
            logger.error(
                "Endpoints lead to members of another cluster than most do; they are not used.",
                metadata: ["endpoints": "\(strays.map(\.address).joined(separator: ", "))"]
            )
        }
        self.strays = strays
    }

    private func failure(_ error: any Error) -> Trouble {
        logger.error("The replica can't be changed.", metadata: ["reason": "\(error)"])
        troubles.record(.init(cause: .copy, explanation: "This host's copy can't be changed. \(error)"))
        return .streamEnded("\(error)")
    }
}

extension ArraySlice {
    /// The elements in groups of neighbours with the same property.
    fileprivate func chunked<Property: Equatable>(by property: (Element) -> Property) -> [ArraySlice] {
        var chunks: [ArraySlice] = []
        var start = startIndex
        for index in indices where property(self[index]) != property(self[start]) {
            chunks.append(self[start..<index])
            start = index
        }
        if start < endIndex {
            chunks.append(self[start...])
        }
        return chunks
    }
}
