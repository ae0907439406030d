#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Stored bytes of any version of a settings type.
struct StoredBytes {
    let data: Data
    /// Their recorded version; nil when there is none.
    let version: SchemaVersion?
    /// The settings type and its predecessors, newest first.
    let types: [StoredType]
    /// Their coder; nil for each type's own.
    let coder: DefaultsCoder?

    private var predecessors: [StoredType] { Array(types.dropFirst()) }

    /// Decodes the bytes.
    ///
    /// - Throws: The error of the decoder, or a ``VersionFault``.
    func read() throws -> StoredType.Outcome {
        let own = types[0]
        if types.count == 1, !own.hasVersion, version == nil {
            return try own.read(data, coder: coder, fillingIn: true)
        }
        // Without a version, bytes that the type decodes exactly are its own.
        if !own.hasVersion, let outcome = try? own.read(data, coder: coder, fillingIn: false) {
            return outcome
        }
        guard let version else {
            var outcome = try readUnrecorded()
            outcome.form.requireForCurrent(!own.hasVersion)
            return outcome
        }
        guard version.readableSince <= own.version else { throw VersionFault.newer(version.number) }
        // The predecessor with that version or, if it no longer exists, with the next higher version.
        let predecessor = predecessors.last { $0.version >= version.number }
        let type = version.number < own.version ? predecessor ?? own : own
        var outcome = try type.read(data, coder: coder, fillingIn: true)
        outcome.form.requireForCurrent(version.number >= own.version)
        return outcome
    }

    /// Decodes bytes without a recorded version.
    ///
    /// A type with a version records it at each write. So the bytes are those of a type without a version if such a
    /// type can use any part of them, and only otherwise those of a type with one.
    private func readUnrecorded() throws -> StoredType.Outcome {
        // The current type is filled in last: its default has all that it needs, so it reads bytes of any other type.
        let currentLast = predecessors + [types[0]]
        var last: StoredType.Outcome?
        for hasVersion in [false, true] {
            let candidate = hasVersion ? likeliestOwner : nil
            let outcome = try bestReading(
                exactlyBy: types.filter { $0.hasVersion == hasVersion && candidate?.share != .all },
                orFilledInBy: currentLast.filter { $0.hasVersion == hasVersion && candidate == nil }
            )
            if let outcome, outcome.form.filling?.usesNothing != true { return outcome }
            if let candidate, outcome == nil, last == nil {
                return try candidate.type.read(data, coder: coder, fillingIn: true)
            }
            last = last ?? outcome
        }
        return try last ?? types[0].read(data, coder: coder, fillingIn: true)
    }

    /// A type that can't read the bytes, and how much of them it might use.
    private struct Candidate {
        let type: StoredType
        let share: KnownKeys.UsableShare
    }

    /// The predecessor without a version that might use the most of bytes that it can't read; nil when none can use
    /// anything.
    private var likeliestOwner: Candidate? {
        let unable = predecessors.filter {
            !$0.hasVersion && (try? $0.read(data, coder: coder, fillingIn: true)) == nil
        }
        let candidates = unable.map { Candidate(type: $0, share: $0.usableShare(of: data, coder: coder)) }
        return candidates.first { $0.share == .all } ?? candidates.first { $0.share == .some }
    }

    /// The first that succeeds: an exact decoding, a filled-in one that uses all stored values, or the filled-in one
    /// that loses the fewest.
    private func bestReading(
        exactlyBy exact: [StoredType],
        orFilledInBy filledIn: [StoredType]
    ) throws -> StoredType.Outcome? {
        var best: StoredType.Outcome?
        for (index, type) in (exact + filledIn).enumerated() {
            let isExact = index < exact.count
            do {
                let outcome = try type.read(data, coder: coder, fillingIn: !isExact)
                if isExact || outcome.form.unusedCount == 0 { return outcome }
                if outcome.form.unusedCount < best?.form.unusedCount ?? .max {
                    best = outcome
                }
            } catch let fault as VersionFault {
                // The bytes are of that type, but its migration rejected them.
                throw fault
            } catch {
                continue
            }
        }
        return best
    }
}
