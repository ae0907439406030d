internal import Foundation

/// A value made of stored bytes.
struct Reading<Value> {
    let value: Value
    /// What is not as stored in the value; nil when the bytes were of the type as they are.
    var report: LoadReport?
    /// Whether writing the value would leave the bytes as they are, but for their formatting.
    var isCurrent = true

    /// How many of the stored values are of no use to the type.
    var loss: Int { report?.unusable.count ?? 0 }
}

extension DefaultStorable {
    /// Makes a value of stored bytes, of whatever version of the type they are.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - key: The key they are stored under.
    ///   - store: The store they are stored in.
    ///   - coder: What decodes them; nil for the coder of the type, and of each of its predecessors.
    /// - Returns: The value, with what is to be said about it.
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

    /// The version that bytes were written by, nil when that isn't recorded.
    static func recordedVersion(
        of data: Data,
        forKey key: String,
        in store: any DefaultsStore
    ) throws(DefaultsError) -> Int? {
        do {
            return try SchemaRecord.stored(beside: key, of: Self.self, in: store)?.version(of: data)
        } catch {
            // Whatever is stored there does not concern a type that has no versions.
            if schemaVersion == 0 {
                return nil
            }
            throw error
        }
    }

    /// Makes a value of bytes whose version is known, or known not to be recorded.
    private static func read(_ data: Data, ofVersion version: Int?, coder: DefaultsCoder?) throws -> Reading<Self> {
        let steps = migrationSteps
        let own = coder ?? defaultCoder
        if let version {
            // The predecessor of that version or, where that one is gone, of the next one after it.
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

    /// Makes a value of bytes without a recorded version.
    ///
    /// A type that states a version records it with each write, so the bytes are of a type that states none, if there is one.
    /// The first of these readings that succeeds is taken, each among several types newest first:
    ///
    /// 1. by the types that state no version, exactly;
    /// 2. by the predecessors that state none, filled in from their default values, if every stored value is of use to them;
    /// 3. by the types that state a version, exactly;
    /// 4. filled in, by whichever of the predecessors that state none and this type can use most; of equals, the first.
    private static func readUnrecorded(
        _ data: Data,
        steps: [MigrationStep<Self>],
        coder: DefaultsCoder?
    ) throws -> Reading<Self> {
        let unversioned = steps.filter { !$0.statesVersion }
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
        let versioned = steps.filter(\.statesVersion)
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

    /// The outcome of a reading; nil when the bytes are not of its type.
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
            // The bytes are of that type, and it refuses them.
            throw failure
        } catch {
            return nil
        }
    }

    /// Decodes bytes of this type, with renamed properties, and completes them if they can't be.
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
