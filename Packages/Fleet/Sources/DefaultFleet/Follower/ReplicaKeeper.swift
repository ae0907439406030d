internal import CoreMetrics
internal import Default
internal import Foundation
internal import Logging

/// Changes a host's replica as the cluster has changed its suite; for the follower's thread.
struct ReplicaKeeper {
    let context: FollowerContext
    private let reader: StoreReader

    /// What the replica was when this follower has changed it last, or has begun to watch.
    private(set) var known: ReplicaState?
    /// What was listed until a connection was lost.
    private var partial: StoreReader.Listing?
    /// The strays that were logged.
    private var strays: [URL] = []
    private var hasReportedSize = false

    init(_ context: FollowerContext) {
        self.context = context
        reader = context.reader
    }

    // MARK: A copy of the store

    /// Verifies that the replica is a copy of this store, and makes it one if it may; a listing ends when the follower
    /// is stopped.
    mutating func prepare(
        listing needsListing: Bool,
        stoppedBy isStopped: Flag
    ) throws(Disconnection) -> Preparation {
        let asked = ContinuousClock.now
        let found: StoreStatus
        let succession: Succession
        var listing: StoreReader.Listing?
        do throws(EtcdClient.Failure) {
            defer { noteStrays() }
            (found, succession) = try look()
            if succession != .same || found.identity != context.replica.state?.identity {
                // A wrong bit in an answer looks like another store. The same member is asked: the others may be
                // silent.
                let (again, sameSuccession) = try look()
                guard again.identity == found.identity, sameSuccession == succession else {
                    throw .unintelligible("Two looks at the store's identity have found different things.")
                }
            }
            let isComplete = !needsListing && context.replica.isIntact == true && context.replica.isIntactOnDisk
            if succession == .new || succession == .same && !isComplete {
                listing = try reader.list(continuing: &partial, stoppedBy: isStopped)
            }
        } catch {
            if !isStopped.isSet {
                context.logger.warning("The cluster can't be reached.", metadata: ["reason": "\(error)"])
                context.record(error)
            }
            throw Disconnection(error)
        }
        switch succession {
        case .uninitialized:
            context.logger.warning("The suite has no store identity in the cluster. Call initialize() once.")
            throw .uninitialized
        case .replaced(let reason):
            noteReplacement(because: reason)
            throw .replaced
        case .new, .same: break
        }
        guard let identity = found.identity else { throw .uninitialized }
        do {
            var state = context.replica.state
            if let listing {
                let found = ReplicaState(
                    revision: listing.revision,
                    identity: identity,
                    clusterID: listing.clusterID,
                    latest: listing.latest,
                    addresses: state?.addresses ?? [],
                    ignoredKeys: listing.ignoredKeys
                )
                state = try context.replica.replaceContents(with: listing.values, state: found)
                report(listing.malformed)
                context.metrics.listings.increment()
                context.logger.info("All of the suite was listed.", metadata: ["revision": "\(listing.revision)"])
            } else if let before = state, before.identity != identity || before.replacement != nil {
                var after = before
                after.identity = identity
                after.replacement = nil
                state = try context.replica.apply([:], from: before, to: after)
            }
            known = state
            try advance(to: found)
        } catch {
            throw failure(error)
        }
        reportSize()
        // One that has just answered.
        let member = context.client.preferredMember
        guard let copy = known else { throw .streamEnded("The replica can't be read.") }
        return Preparation(found: found, asked: asked, member: member, copy: copy)
    }

    /// Compares the replica with what the cluster has.
    private func look() throws(EtcdClient.Failure) -> (StoreStatus, Succession) {
        let found = try reader.status(until: Deadline(after: context.timing.connectLimit))
        let state = context.replica.state
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
        known = try context.replica.apply([:], from: before, to: after)
        context.metrics.revision.record(found.revision)
    }

    /// Keeps what the replica has, refuses writes, and reports it, once.
    private func noteReplacement(because reason: String) {
        guard let before = context.replica.state, before.replacement != reason else { return }
        var state = before
        state.replacement = reason
        do {
            _ = try context.replica.apply([:], from: before, to: state)
        } catch {
            context.logger.error("The replica can't be changed.", metadata: ["reason": "\(error)"])
        }
        context.logger.error("The store was replaced.", metadata: ["reason": "\(reason)"])
        DefaultsDiagnostics.report(.storeReplaced, .storeReplaced(because: reason, store: context.storeDescription))
    }

    // MARK: Changes

    /// Applies events, those of one revision together.
    mutating func apply(_ events: [WatchEvent]) throws(Disconnection) {
        for transaction in events[...].chunked(by: \.revision) {
            guard let before = known, let revision = transaction.first?.revision else { continue }
            // A watch begins with what the copy has already, which may be the store's identity.
            guard revision > before.revision else { continue }
            guard !transaction.contains(where: { $0.key == context.keys.store }) else { throw .identityChanged }
            var state = before
            var changes: [StoreKey: PropertyListValue?] = [:]
            var malformed: [StoreKey: String] = [:]
            for event in transaction where context.keys.contains(event.key) {
                if let key = context.keys.key(at: event.key) {
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
                known = try context.replica.apply(changes, from: before, to: state)
                report(malformed)
            } catch is Replica.ChangedByOthers {
                throw .replicaDamaged
            } catch {
                throw failure(error)
            }
            context.metrics.transactions.increment()
            context.metrics.revision.record(revision)
        }
        reportSize()
    }

    /// Records that the replica has what a heartbeat has found, after a look whether it is still what this follower has
    /// made it.
    mutating func confirm(_ heartbeat: Heartbeat) throws(Disconnection) {
        guard context.lock.isAcquired, context.replica.state == known else { throw .replicaDamaged }
        if case .status(let found) = heartbeat.target {
            do {
                try advance(to: found)
            } catch {
                throw failure(error)
            }
        }
        context.lock.confirm(asOf: .now - heartbeat.asOf)
        recordStrays()
    }

    /// Stores where the cluster's members are, for all processes of the host.
    mutating func remember(_ addresses: [String]) throws(Disconnection) {
        guard let before = known else { return }
        var after = before
        after.addresses = addresses
        do {
            known = try context.replica.apply([:], from: before, to: after)
        } catch is Replica.ChangedByOthers {
            throw .replicaDamaged
        } catch {
            throw failure(error)
        }
        context.logger.info("The cluster names its members.", metadata: ["addresses": "\(addresses)"])
    }

    // MARK: Reports

    /// Reports texts that can't be read, each once: programs don't find what an operator has typed.
    private func report(_ malformed: [StoreKey: String]) {
        for (key, form) in malformed {
            let error = DefaultsError.malformedText(form, key: key.string, store: context.storeDescription)
            DefaultsDiagnostics.report(.readFailed, error)
        }
    }

    /// Logs a suite that is larger than it may be: `etcdctl` has no limit.
    private mutating func reportSize() {
        let isTooLarge = known.map { $0.byteCount > SuiteLimits.bytes } ?? false
        if isTooLarge, !hasReportedSize {
            context.logger.warning(
                "The suite is larger than it may be. Writes that make it larger still are refused.",
                metadata: ["bytes": "\(known?.byteCount ?? 0)", "limit": "\(SuiteLimits.bytes)"]
            )
        }
        hasReportedSize = isTooLarge
    }

    /// A copy that is confirmed has no trouble but endpoints that lead elsewhere.
    private mutating func recordStrays() {
        noteStrays()
        guard !strays.isEmpty else { return context.troubles.clear() }
        let endpoints = strays.map(\.address).joined(separator: ", ")
        let explanation = """
            These endpoints lead to members of another cluster than most do, and are not used: \(endpoints). Leave them out, or \
            repair those members.
            """
        context.troubles.record(Freshness.Trouble(cause: .strayMember, explanation: explanation))
    }

    private mutating func noteStrays() {
        let strays = context.client.strays
        context.metrics.strays.record(strays.count)
        if strays != self.strays, !strays.isEmpty {
            context.logger.error(
                "Endpoints lead to members of another cluster than most do; they are not used.",
                metadata: ["endpoints": "\(strays.map(\.address).joined(separator: ", "))"]
            )
        }
        self.strays = strays
    }

    private func failure(_ error: any Error) -> Disconnection {
        context.logger.error("The replica can't be changed.", metadata: ["reason": "\(error)"])
        context.troubles.record(.init(cause: .copy, explanation: "This host's copy can't be changed. \(error)"))
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
