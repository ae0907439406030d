internal import Foundation

/// A value made of stored bytes.
struct Reading<Value> {
    let value: Value
    /// What is not as stored in the value; nil when the bytes were of the type as they are.
    var report: LoadReport?
    /// Whether writing the value would leave the bytes as they are, but for their formatting.
    var isCurrent = true
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
        in store: some DefaultsStore,
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
        in store: some DefaultsStore
    ) throws(DefaultsError) -> Int? {
        do {
            return try store.schemaRecord(forKey: key, type: Self.self)?.version(of: data)
        } catch {
            // What stands there is nothing to a type that has no versions.
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
        // Nobody recorded a version. Whoever states one does so with each write, so the bytes are of a type that states
        // none, if there is one; among several, the newest that they can be decoded as.
        let unversioned = steps.filter { !$0.statesVersion }
        let versioned = steps.filter(\.statesVersion)
        var attempts: [() throws -> Reading<Self>] = unversioned.map { step in { try step.read(data, coder, false) } }
        let current: () throws -> Reading<Self> = { try decodeCurrent(data, coder: own) }
        attempts.insert(current, at: schemaVersion == 0 ? 0 : attempts.count)
        attempts += versioned.map { step in { try step.read(data, coder, false) } }
        for attempt in attempts {
            do {
                var reading = try attempt()
                reading.isCurrent = reading.isCurrent && schemaVersion == 0
                return reading
            } catch let failure as MigrationFailure {
                throw failure
            } catch {}
        }
        var reading = try readCurrent(data, coder: own)
        reading.isCurrent = false
        return reading
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
