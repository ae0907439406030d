import Default
import DefaultTesting
import Foundation
import Testing

/// A store with a fault, the promise that it breaks, and what the finding has to say.
struct PlantedFault: Sendable, CustomTestStringConvertible {
    let name: String
    let promise: String
    let details: String
    let makeStore: @Sendable () -> any DefaultsStore

    init(
        _ promise: String,
        details: String,
        in makeStore: @autoclosure @escaping @Sendable () -> any DefaultsStore
    ) {
        name = "\(type(of: makeStore()))"
        self.promise = promise
        self.details = details
        self.makeStore = makeStore
    }

    var testDescription: String { name }

    private static let sharedByAll = MemoryDefaults()

    static let all = [
        PlantedFault(
            "A property-list value comes back as it was set, with its type.",
            details: "object(forKey: \"true\") after set(_:forKey:) gave Int 1, not Bool true.",
            in: BooleansAsNumbers()
        ),
        PlantedFault(
            "A property-list value comes back as it was set, with its type.",
            details: "gave Double 1.8446744073709552e+19, not UInt 18446744073709551615.",
            in: LargeNumbersAsReals()
        ),
        PlantedFault(
            "A property-list value comes back as it was set, with its type.",
            details: "object(forKey: \"emoji\") after set(_:forKey:) gave String",
            in: ComposedStrings()
        ),
        PlantedFault(
            "Numbers of any width and objects of Foundation's come back as the types that stores give.",
            details: "gave Int 1, not Bool true.",
            in: BooleansAsNumbers()
        ),
        PlantedFault(
            "data(forKey:) gives Data, and nothing else as Data.",
            details: "data(forKey:) for a string gave Data 4 bytes, not nil.",
            in: StringsAsData()
        ),
        PlantedFault(
            "Data set with set(_: Data, forKey:) is what every other call reads and replaces.",
            details: "after set(_: Data, forKey:) gave String \"text\", not Data 1 bytes.",
            in: DataElsewhere()
        ),
        PlantedFault(
            "propertyListValue(forKey:) and set with a PropertyListValue agree with the calls of Any.",
            details: "propertyListValue(forKey:) gave a value after removeObject(forKey:).",
            in: StaleFastPath()
        ),
        PlantedFault(
            "A mutable object is copied as it is set.",
            details: "object(forKey: \"array\") after the object that was set has been changed gave Array<Any> [1, 2]",
            in: ReferencesKept()
        ),
        PlantedFault(
            "A value takes the place of one of any other type.",
            details: "after the value was replaced gave Dictionary<String, Any> [\"a\": 1], not Date",
            in: OldTypeStays()
        ),
        PlantedFault(
            "set with nil and removeObject(forKey:) remove what is there, if anything is.",
            details: "object(forKey: \"k\") after removeObject(forKey:) gave Int 6, not nil.",
            in: RemovalsDropped()
        ),
        PlantedFault(
            "synchronize() returns true, and what was set is there afterwards.",
            details: "synchronize() gave Bool false, not Bool true.",
            in: SynchronizesFalse()
        ),
        PlantedFault(
            "Keys that differ in any byte are different keys, whatever characters they have but NUL.",
            details: "object(forKey: \"\\u{00E9}\") beside keys much like it gave Int",
            in: ComposedKeys()
        ),
        PlantedFault(
            "A key may have up to 65,535 bytes.",
            details: "A call that should succeed threw DefaultsError: The key is too long.",
            in: ShortKeysOnly()
        ),
        PlantedFault(
            "A key that is empty, holds NUL or has over 65,535 bytes is refused, and has no value.",
            details:
                "set(1, forKey: \"a\\0b\") threw nothing; it should throw a DefaultsError with the code invalidKey.",
            in: InvalidKeysSwallowed()
        ),
        PlantedFault(
            "What no property list can hold is refused, and what was there stays.",
            details: "object(forKey: \"k\") after set with NSNull gave String \"NSNull\", not String \"before\".",
            in: UnsupportedValuesDescribed()
        ),
        PlantedFault(
            "What no property list can hold is refused, and what was there stays.",
            details: "object(forKey: \"k\") after set with a tuple gave nil, not String \"before\".",
            in: FailedSetRemoves()
        ),
        PlantedFault(
            "A refusal names the offending part of a value, a key and a store.",
            details: "threw “That can't be stored.”, which does not say .a[1].",
            in: SpeechlessRefusals()
        ),
        PlantedFault(
            "dictionaryRepresentation() has what object(forKey:) gives, under the same keys.",
            details: "dictionaryRepresentation() for \"e\\u{0301}\" gave nil, not Dictionary<String, Array<Any>>",
            in: NothingListed()
        ),
        PlantedFault(
            "storedKeys() lists each key under which something is stored once, and no removed one.",
            details: "storedKeys() lists \"a\" after it was removed.",
            in: RemovedKeysListed()
        ),
        PlantedFault(
            "df stores settings types and other Codable values as Data, loads and replaces them.",
            details: "A call that should succeed threw DefaultsError",
            in: TruncatedData()
        ),
        PlantedFault(
            "Typed keys store native values as they are, change them in place, and can be reset.",
            details: "object(forKey: \"count\") after a typed key was counted up gave nil, not Int 6.",
            in: TypedWritesLost()
        ),
        PlantedFault(
            "value(forKey:), setValue(_:forKey:) and containers share values with the store's calls.",
            details: "object(forKey: \"number\") after setValue with an Int gave nil, not Int 5.",
            in: ForgetfulStorage()
        ),
        PlantedFault(
            "Exclusive access whose body throws throws that error, and keeps what the body has changed.",
            details: "object(forKey: \"k\") after exclusive access whose body threw gave nil, not Int 1.",
            in: AccessThatUndoes()
        ),
        PlantedFault(
            "A transaction makes its changes, and returns or throws what its body does.",
            details: "transaction threw DefaultsError (The transaction failed.), not what its body threw.",
            in: TransactionThatWrapsErrors()
        ),
        PlantedFault(
            "A transaction whose body throws takes back what the body has changed.",
            details: "object(forKey: \"a\") after a failed transaction set it anew gave Int 2, not Int 1.",
            in: TransactionThatKeepsAll()
        ),
        PlantedFault(
            "Changes that threads make under exclusive access are not lost.",
            details: "not Int 1600.",
            in: AccessForAll()
        ),
        PlantedFault(
            "Threads that change different keys at once don't disturb each other.",
            details: "after the threads ended gave Int",
            in: KeysHashedBadly()
        ),
        PlantedFault(
            "A fresh store has nothing of what another store held before.",
            details: "object(forKey: \"k\") of a fresh store gave String \"left over\", not nil.",
            in: SharedByAll(base: sharedByAll)
        ),
        PlantedFault(
            "Two stores keep their values apart.",
            details: "object(forKey: \"k\") for a key set in another store gave",
            in: SharedByAll(base: sharedByAll)
        ),
        PlantedFault(
            "A store has one description, whatever it holds, and it is not empty.",
            details: "storeDescription is empty.",
            in: NamelessStore()
        ),
        PlantedFault(
            "Two stores have different descriptions.",
            details: "Both stores are described as “”.",
            in: NamelessStore()
        ),
    ]

    /// Stores that would wait for ever, by the promise that they break.
    static let endless: [String: @Sendable (PlainLock) -> any DefaultsStore] = [
        "Exclusive access nests, and the thread that has it reads and writes.": { AccessThatDoesNotNest(lock: $0) },
        "Reads don't wait for exclusive access, and writes wait for its end only.": { AccessThatStopsReads(lock: $0) },
    ]
}

extension StoreConformance.Capabilities {
    fileprivate static let all: Self = [.rollback, .threads, .severalStores]
}

@Suite("The conformance kit")
struct StoreConformanceKitTests {
    private func check(named name: String) throws -> StoreConformance.Check {
        try #require(StoreConformance.checks.first { $0.name == name })
    }

    @Test("finds nothing in a store that keeps all promises")
    func noFault() {
        #expect(StoreConformance(capabilities: .all, makeStore: { FaultlessStore() }).findings() == [])
    }

    @Test("names the promise that a faulty store breaks, and says what came back", arguments: PlantedFault.all)
    func plantedFault(fault: PlantedFault) throws {
        let conformance = StoreConformance(capabilities: .all, makeStore: fault.makeStore)
        let findings = conformance.findings(of: try check(named: fault.promise))
        #expect(findings.contains { $0.details.contains(fault.details) }, "\(findings)")
        #expect(findings.allSatisfy { $0.promise == fault.promise })
    }

    @Test("ends although a store waits for itself, and says so", arguments: PlantedFault.endless.keys)
    func endlessFault(promise: String) throws {
        let makeStore = try #require(PlantedFault.endless[promise])
        let lock = PlainLock()
        defer { lock.breakOpen() }
        let conformance = StoreConformance(capabilities: .all, patience: .milliseconds(100)) { body in
            try body(makeStore(lock))
        }
        let findings = conformance.findings(of: try check(named: promise))
        #expect(findings.map(\.promise) == [promise])
        #expect(findings.first?.details.hasPrefix("The check had not ended after 0.1 seconds: the store waits") == true)
    }

    @Test("has a planted fault for each of its checks, which have names of their own")
    func coverage() {
        let names = StoreConformance.checks.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(Set(PlantedFault.all.map(\.promise)).union(PlantedFault.endless.keys) == Set(names))
    }

    @Test("leaves out what a store does not claim to do")
    func capabilities() throws {
        let conformance = StoreConformance(makeStore: { TransactionThatKeepsAll() })
        #expect(conformance.findings() == [])
        let name = "A transaction whose body throws takes back what the body has changed."
        #expect(try check(named: name).requirements == .rollback)
        for check in StoreConformance.checks where !check.requirements.isEmpty {
            let unused = StoreConformance { _ in Issue.record("A store was made for “\(check)”.") }
            #expect(unused.findings(of: check) == [])
        }
    }

    @Test("takes a closure that hands over no store, two or none but an error for a finding")
    func closures() throws {
        let check = try check(named: "A value takes the place of one of any other type.")
        let none = StoreConformance { _ in }
        let two = StoreConformance { body in
            try body(MemoryDefaults())
            try body(MemoryDefaults())
        }
        let failing = StoreConformance(makeStore: { throw CocoaError(.fileNoSuchFile) })
        for (conformance, details) in [(none, "0 times"), (two, "2 times"), (failing, "threw CocoaError")] {
            let findings = conformance.findings(of: check)
            #expect(findings.count == 1)
            #expect(findings.first?.details.contains(details) == true, "\(findings)")
        }
    }

    @Test("describes a finding by the promise and the details")
    func findings() throws {
        let check = try check(named: "synchronize() returns true, and what was set is there afterwards.")
        let finding = try #require(
            StoreConformance(makeStore: { SynchronizesFalse() }).findings(of: check).last
        )
        #expect(
            finding.description == """
                Promised: synchronize() returns true, and what was set is there afterwards. \
                Found: synchronize() gave Bool false, not Bool true.
                """
        )
        #expect(check.description == finding.promise)
    }

    @Test("has a fresh store for each check, and lets its closure clean up, whatever happens")
    func cleaningUp() throws {
        let directories = try withTemporaryDirectory { parent in
            let conformance = StoreConformance(capabilities: .all) { body in
                let directory = parent.appending(path: UUID().uuidString)
                try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
                defer { try? FileManager.default.removeItem(at: directory) }
                try body(UnsupportedValuesDescribed())
            }
            #expect(conformance.findings() != [])
            return try FileManager.default.contentsOfDirectory(atPath: parent.path)
        }
        #expect(directories == [])
    }
}
