internal import Foundation

/// A value decoded from stored bytes.
struct Reading<Value> {
    let value: Value
    /// How the value differs from the stored one; nil when the bytes were decoded without changes.
    var report: LoadReport?
    /// Whether writing the value would leave the bytes unchanged, except for formatting.
    var isCurrent = true

    /// The number of stored values that the type can't use.
    var loss: Int { report?.unusable.count ?? 0 }
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
        if schemaVersion == 0, let reading = try? decodeCurrent(data, coder: coder ?? defaultCoder) {
            return reading
        }
        let version = try recordedVersion(of: data, forKey: key, in: store)
        if let version, version > schemaVersion {
            throw .newerVersion(
                version,
                key: key,
                type: Self.self,
                own: schemaVersion,
                store: store.storeDescription
            )
        }
        do {
            return try read(data, ofVersion: version, coder: coder)
        } catch let failure as MigrationFailure {
            throw .migrationFailed(
                failure.underlyingError,
                from: failure.typeName,
                key: key,
                type: Self.self,
                store: store.storeDescription
            )
        } catch {
            throw .undecodable(
                error,
                byteCount: data.count,
                key: key,
                type: Self.self,
                store: store.storeDescription
            )
        }
    }

    /// The recorded version of some bytes; nil when there is none.
    static func recordedVersion(
        of data: Data,
        forKey key: String,
        in store: any DefaultsStore
    ) throws(DefaultsError) -> Int? {
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

    /// Decodes bytes with a known version, or bytes without a recorded version.
    private static func read(_ data: Data, ofVersion version: Int?, coder: DefaultsCoder?) throws -> Reading<Self> {
        let steps = migrationSteps
        let own = coder ?? defaultCoder
        if let version {
            // The predecessor with that version or, if it no longer exists, with the next higher version.
            guard version < schemaVersion, let step = steps.last(where: { $0.version >= version }) else {
                var reading = try readCurrent(data, coder: own)
                reading.isCurrent = reading.isCurrent && version == schemaVersion
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
    /// A type with a version records it at each write, so the bytes belong to a type without a version if there is one. The
    /// first of these attempts that succeeds is used. Each tries the newest type first:
    ///
    /// 1. decode them exactly, as a type without a version;
    /// 2. fill them in from the default value, as a predecessor without a version that can use every stored value;
    /// 3. decode them exactly, as a type with a version;
    /// 4. fill them in, as the predecessor without a version, or this type, that can use the most stored values; the first
    ///    of several.
    private static func readUnrecorded(
        _ data: Data,
        steps: [MigrationStep<Self>],
        coder: DefaultsCoder?
    ) throws -> Reading<Self> {
        let unversioned = steps.filter { !$0.hasVersion }
        let own = { try decodeCurrent(data, coder: coder ?? defaultCoder) }
        let isVersioned = schemaVersion > 0
        if let reading = try attempt(own, unless: isVersioned) ?? firstReading(by: unversioned, of: data, coder: coder)
        {
            return reading
        }
        var filledIn: [Reading<Self>] = []
        for step in unversioned {
            guard let reading = try attempt({ try step.read(data, coder, true) }) else {
                continue
            }
            if reading.loss == 0 {
                return reading
            }
            filledIn.append(reading)
        }
        let versioned = steps.filter(\.hasVersion)
        if let reading = try attempt(own, unless: !isVersioned) ?? firstReading(by: versioned, of: data, coder: coder) {
            return reading
        }
        do {
            filledIn.append(try readCurrent(data, coder: coder ?? defaultCoder))
        } catch  where !filledIn.isEmpty {}
        return filledIn.dropFirst().reduce(filledIn[0]) { $1.loss < $0.loss ? $1 : $0 }
    }

    private static func firstReading(
        by steps: [MigrationStep<Self>],
        of data: Data,
        coder: DefaultsCoder?
    ) throws -> Reading<Self>? {
        for step in steps {
            if let reading = try attempt({ try step.read(data, coder, false) }) {
                return reading
            }
        }
        return nil
    }

    /// The result of an attempt; nil when the bytes don't belong to its type.
    private static func attempt(
        _ read: () throws -> Reading<Self>,
        unless isSkipped: Bool = false
    ) throws -> Reading<Self>? {
        guard !isSkipped else {
            return nil
        }
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
    static func readCurrent(_ data: Data, coder: DefaultsCoder) throws -> Reading<Self> {
        do {
            return try decodeCurrent(data, coder: coder)
        } catch {
            guard let defaultValue else {
                throw error
            }
            let renamed = Renaming.apply(renamedProperties, to: data) ?? data
            guard var completion = Completion(stored: renamed, fallback: defaultValue, coder: coder),
                let (value, report) = completion.run()
            else {
                throw error
            }
            return Reading(value: value, report: report, isCurrent: false)
        }
    }

    /// Decodes bytes of this type, with renamed properties.
    static func decodeCurrent(_ data: Data, coder: DefaultsCoder) throws -> Reading<Self> {
        guard let renamed = Renaming.apply(renamedProperties, to: data) else {
            return Reading(value: try coder.decodeTopLevel(Self.self, from: data))
        }
        return Reading(
            value: try coder.decodeTopLevel(Self.self, from: renamed),
            report: LoadReport(),
            isCurrent: false
        )
    }
}
