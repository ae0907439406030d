internal import Foundation

/// Thrown for bytes that a newer version of a type stored.
private struct NewerVersion: Error {
    let version: Int
}

extension DefaultStorable {
    /// Decodes stored bytes of any version of the type.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - key: The key they are stored under.
    ///   - store: The store they are stored in.
    ///   - coder: The coder; nil for the type's own, and for each predecessor its own.
    /// - Returns: The value, with a report.
    /// - Throws: `undecodable`, `newerVersion`, `migrationFailed`.
    static func read(
        _ data: Data,
        forKey key: String,
        in store: any DefaultsStore,
        coder: DefaultsCoder? = nil
    ) throws(DefaultsError) -> Reading<Self> {
        let version = try recordedVersion(of: data, forKey: key, in: store)
        do {
            return try remember(data, ofVersion: version, forKey: key, unless: coder != nil) {
                try read(data, ofVersion: version, coder: coder)
            }
        } catch {
            throw Self.readError(error, byteCount: data.count, key: key, store: store.storeDescription)
                .about(.data(data))
        }
    }

    private static func readError(_ error: any Error, byteCount: Int, key: String, store: String)
        -> DefaultsError
    {
        switch error {
        case let newer as NewerVersion:
            .newerVersion(newer.version, key: key, type: Self.self, own: schemaVersion, store: store)
        case let failure as MigrationFailure:
            .migrationFailed(
                failure.underlyingError,
                from: failure.typeName,
                key: key,
                type: Self.self,
                store: store
            )
        default:
            .undecodable(error, byteCount: byteCount, key: key, type: Self.self, store: store)
        }
    }

    /// The outcome for some bytes, which depends on nothing but them and their version, so that reading them again is cheap.
    private static func remember(
        _ data: Data,
        ofVersion version: SchemaVersion?,
        forKey key: String,
        unless isForeign: Bool,
        _ read: () throws -> Reading<Self>
    ) throws -> Reading<Self> {
        guard !isForeign, remembersDecodedValues, migrationSteps.allSatisfy(\.remembersDecodedValues) else {
            return try read()
        }
        let key = rememberedKey(key, version)
        let reading = try DecodedValueCache.shared.value(
            of: data,
            forKey: key,
            isLasting: { $0 is DecodingError },
            decode: read
        )
        reading.share(of: data, forKey: key, coder: defaultCoder)
        return reading
    }

    /// The key of the outcome for bytes with a version.
    static func rememberedKey(_ key: String, _ version: SchemaVersion?) -> String {
        // No key contains NUL.
        version.map { "\(key)\0\($0.text)" } ?? key
    }

    /// The recorded version of some bytes; nil when there is none.
    static func recordedVersion(
        of data: Data,
        forKey key: String,
        in store: any DefaultsStore
    ) throws(DefaultsError) -> SchemaVersion? {
        do {
            return try SchemaRecord.stored(beside: key, of: Self.self, in: store)?.version(of: data)
        } catch {
            // A type without a version ignores any value stored under the record's key.
            if schemaVersion == 0 {
                return nil
            }
            throw error
        }
    }

    /// The recorded version of a stored value that is quarantined; nil when there is none, or it can't be known.
    static func recordedVersion(
        of value: PropertyListValue,
        forKey key: String,
        in store: any DefaultsStore
    ) -> SchemaVersion? {
        guard case .data(let data) = value else {
            return nil
        }
        return (try? recordedVersion(of: data, forKey: key, in: store)) ?? nil
    }

    /// Decodes bytes with a known version, or bytes without a recorded version.
    static func read(
        _ data: Data,
        ofVersion version: SchemaVersion?,
        coder: DefaultsCoder?
    ) throws -> Reading<Self> {
        let steps = migrationSteps
        let own = coder ?? defaultCoder
        // Without a version, what the type decodes exactly is its own.
        if schemaVersion == 0, let reading = try? decodeCurrent(data, coder: own) {
            return reading
        }
        if let version {
            guard version.readableSince <= schemaVersion else {
                throw NewerVersion(version: version.number)
            }
            // The predecessor with that version or, if it no longer exists, with the next higher version.
            guard version.number < schemaVersion, let step = steps.last(where: { $0.version >= version.number }) else {
                var reading = try readCurrent(data, coder: own)
                reading.isCurrent = reading.isCurrent && version.number >= schemaVersion
                return reading
            }
            return try step.read(data, coder, true)
        }
        var reading = try readUnrecorded(data, steps: steps, coder: coder)
        reading.isCurrent = reading.isCurrent && schemaVersion == 0
        return reading
    }

    /// Decodes bytes without a recorded version.
    ///
    /// A type with a version records it at each write. So the bytes are those of a type without a version if such a type can
    /// use any part of them, and only otherwise those of a type with one.
    private static func readUnrecorded(
        _ data: Data,
        steps: [MigrationStep<Self>],
        coder: DefaultsCoder?
    ) throws -> Reading<Self> {
        let own = MigrationStep<Self>(
            version: schemaVersion,
            hasVersion: schemaVersion > 0,
            remembersDecodedValues: remembersDecodedValues,
            read: { data, coder, fillingIn in
                let coder = coder ?? defaultCoder
                return try fillingIn ? readCurrent(data, coder: coder) : decodeCurrent(data, coder: coder)
            },
            claim: { _, _ in .nothing }
        )
        let newestFirst = [own] + steps
        // The current type is filled in last: its default has all that it needs, so it reads bytes of any other type.
        let currentLast = steps + [own]
        var last: Reading<Self>?
        for hasVersion in [false, true] {
            let claim = hasVersion ? strongestClaim(to: data, by: steps, coder: coder) : nil
            let reading = try bestReading(
                of: data,
                exactlyBy: newestFirst.filter { $0.hasVersion == hasVersion && claim?.claim != .all },
                orFilledInBy: currentLast.filter { $0.hasVersion == hasVersion && claim == nil },
                coder: coder
            )
            if let reading, !reading.keepsNothing {
                return reading
            }
            if let claim, reading == nil, last == nil {
                return try claim.step.read(data, coder, true)
            }
            last = last ?? reading
        }
        return try last ?? own.read(data, coder, true)
    }

    /// The predecessor without a version that could mean the most by bytes that it can't read.
    ///
    /// - Returns: The predecessor and its claim; nil when none can use anything of the bytes.
    private static func strongestClaim(
        to data: Data,
        by steps: [MigrationStep<Self>],
        coder: DefaultsCoder?
    ) -> (step: MigrationStep<Self>, claim: KnownKeys.Claim)? {
        let claims = steps.filter { !$0.hasVersion && (try? $0.read(data, coder, true)) == nil }.map {
            step in
            (step: step, claim: step.claim(data, coder))
        }
        return claims.first { $0.claim == .all } ?? claims.first { $0.claim == .some }
    }

    /// Decodes bytes as one of several types.
    ///
    /// - Returns: The first that succeeds: an exact decoding, a filled-in one that uses all stored values, or the filled-in
    ///   one that loses the fewest.
    private static func bestReading(
        of data: Data,
        exactlyBy exact: [MigrationStep<Self>],
        orFilledInBy fillingIn: [MigrationStep<Self>],
        coder: DefaultsCoder?
    ) throws -> Reading<Self>? {
        for step in exact {
            if let reading = try attempt({ try step.read(data, coder, false) }) {
                return reading
            }
        }
        var best: Reading<Self>?
        for step in fillingIn {
            guard let reading = try attempt({ try step.read(data, coder, true) }) else {
                continue
            }
            if reading.unusedCount == 0 {
                return reading
            }
            best = best.map { reading.unusedCount < $0.unusedCount ? reading : $0 } ?? reading
        }
        return best
    }

    /// The result of an attempt; nil when the bytes don't belong to its type.
    private static func attempt(_ read: () throws -> Reading<Self>) throws -> Reading<Self>? {
        do {
            return try read()
        } catch let failure as MigrationFailure {
            // The bytes belong to that type, but its migration rejected them.
            throw failure
        } catch {
            return nil
        }
    }

    /// Decodes bytes of this type, with renamed properties, and fills them in if that fails.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - coder: Their coder.
    ///   - isOwn: Whether this type will write the value, and not a successor.
    /// - Returns: The value, with a report.
    /// - Throws: The error of the decoder.
    static func readCurrent(_ data: Data, coder: DefaultsCoder, isOwn: Bool = true) throws -> Reading<Self> {
        let renaming = Renaming(renamedProperties, in: data)
        do {
            return try decode(data, renaming, coder: coder)
        } catch {
            guard
                let filledIn = Completion.run(
                    Self.self,
                    on: renaming?.data ?? data,
                    default: defaultValue,
                    coder: coder,
                    keepsUnknownFields: isOwn && keepsUnknownFields
                )
            else {
                throw error
            }
            let unused = renaming?.unusedPaths(besides: filledIn.value, coder: coder) ?? []
            return filledIn.reporting(unused)
        }
    }

    /// Decodes bytes of this type, with renamed properties.
    static func decodeCurrent(_ data: Data, coder: DefaultsCoder) throws -> Reading<Self> {
        try decode(data, Renaming(renamedProperties, in: data), coder: coder)
    }

    private static func decode(_ data: Data, _ renaming: Renaming?, coder: DefaultsCoder) throws -> Reading<Self> {
        guard let renaming else {
            return Reading(value: try coder.decodeTopLevel(Self.self, from: data))
        }
        let value = try coder.decodeTopLevel(Self.self, from: renaming.data ?? data)
        let unused = renaming.unusedPaths(besides: value, coder: coder)
        let isCurrent = unused.isEmpty && renaming.data == nil
        return Reading(value: value, report: LoadReport(), isCurrent: isCurrent, bytes: renaming.data).reporting(unused)
    }
}
