package import Default
internal import Foundation

// What a key was before is read by watching it from the first revision on. A watch doesn't say when it has brought what
// is past, and an operator who may only read can't make a change that would come last. So the end is found by what is
// there: the change that has made the present value, or, where there is none, the latest change that is still there of
// what is watched.

extension SuiteOperator {
    /// All changes of a key that the cluster still has, the oldest first.
    ///
    /// Nothing is written.
    package func history(of key: String) throws(DefaultsError) -> [Version] {
        let place = try place(of: key)
        return try request(isReading: true) { limit throws(EtcdClient.Failure) in
            let target = try target(of: place, until: limit)
            var start: Int64 = 1
            while true {
                switch try changes(of: place, from: start, to: target) {
                case .compacted(let oldest): start = oldest
                case .complete(let versions): return versions
                }
            }
        }
    }

    /// The value of a key, or the last one that could be read, if the present one can't: its type is the key's.
    ///
    /// Nil if there is none, or none is known any more.
    package func lastReadableValue(of key: String, present: Version?) throws(DefaultsError) -> PropertyListValue? {
        guard let present, present.malformed != nil else { return present?.value }
        return try history(of: key).last { $0.malformed == nil && $0.value != nil }?.value
    }

    private enum History {
        case compacted(Int64)
        case complete([Version])
    }

    /// What was found of a key, which its history has to reach.
    private struct Target {
        /// Nil if the key has no value.
        var present: KeyValue?
        /// The latest change among what is watched that is still there; 0 for none.
        var newest: Int64
        /// The cluster's, when it was asked.
        var revision: Int64
    }

    /// How long nothing may arrive where the end can't be recognized otherwise: members send what is past together.
    private static let silenceAtEnd = Duration.seconds(1)

    private func target(of place: Data, until limit: Deadline) throws(EtcdClient.Failure) -> Target {
        let latest = RangeRequest(
            key: place,
            rangeEnd: keys.watchEnd,
            limit: 1,
            sortOrder: "DESCEND",
            sortTarget: "MOD",
            keysOnly: true
        )
        let ask = TransactionRequest(success: [
            RequestOperation(requestRange: RangeRequest(key: place)), RequestOperation(requestRange: latest),
        ])
        let answer: TransactionResponse = try client.call("v3/kv/txn", ask, until: limit)
        let ranges = answer.operations.compactMap(\.responseRange)
        guard ranges.count == 2, let revision = answer.header?.storeRevision else {
            throw .unintelligible("an answer lacks what was asked for")
        }
        return Target(
            present: ranges[0].keyValues.first,
            newest: ranges[1].keyValues.first?.revision ?? 0,
            revision: revision
        )
    }

    private func changes(
        of place: Data,
        from start: Int64,
        to target: Target
    ) throws(EtcdClient.Failure) -> History {
        if let present = target.present, present.revision < start {
            return .complete([Version(present.revision, present.text)])
        }
        let pieces = Mailbox<StreamPiece>()
        let end = target.present == nil ? keys.watchEnd : place + [0]
        let stream = try client.watch(
            WatchRequest(createRequest: .init(key: place, rangeEnd: end, startRevision: start)),
            member: client.preferredMember,
            until: Deadline(after: deadline)
        ) { pieces.post($0) }
        defer { stream.cancel() }
        var parser = WatchFrameParser()
        var versions: [Version] = []
        var isCreated = false
        var newest: Int64 = 0
        while true {
            // Of a key without a value, the last change is a removal.
            let mayBeComplete =
                isCreated && target.present == nil && (newest >= target.newest || target.newest < start)
                && versions.last?.value == nil
            // For each piece: the history may be long.
            let limit = Deadline(after: mayBeComplete ? min(deadline, Self.silenceAtEnd) : deadline)
            let piece = pieces.next(until: limit)
            if piece == nil, mayBeComplete {
                return .complete(versions)
            }
            guard case .bytes(let bytes, _)? = piece else {
                client.avoid(client.preferredMember)
                throw .unanswered("the history did not arrive")
            }
            let frames: [WatchFrame]
            do throws(WatchFrameParser.Malformed) {
                frames = try parser.parse(bytes)
            } catch {
                throw .unintelligible("what came is not a watch")
            }
            for frame in frames {
                if let oldest = frame.compactRevision {
                    return .compacted(oldest)
                }
                if frame.isCanceled {
                    throw .refused(EtcdRefusal(message: frame.reason ?? "the watch was canceled"))
                }
                isCreated = isCreated || frame.isCreated
                versions += frame.events.filter { $0.key == place && $0.revision <= target.revision }
                    .map { Version($0.revision, $0.text) }
                newest = max(newest, frame.events.last?.revision ?? 0)
                // What comes is in the order of revisions.
                if newest >= target.present?.revision ?? (target.revision + 1) {
                    return .complete(versions)
                }
            }
        }
    }
}
