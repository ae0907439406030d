import Default
import DefaultJournal
import DefaultConformance
import Foundation
import Testing

/// A store with a fault, the promise that it breaks, and the text that the finding must contain.
struct PlantedFault: Sendable, CustomTestStringConvertible {
    let name: String
    let promise: String
    let details: String
    /// The other promises that the fault breaks; nil if other checks would not come to an end.
    let otherPromises: Set<String>?
    let makeStore: @Sendable () -> any DefaultsStore
    /// Of a fault in a store with sources, makes it with some.
    var makeLayeredStore: (@Sendable (DefaultsSources?) -> any DefaultsStore)?

    init(
        _ promise: String,
        details: String,
        alsoBreaks otherPromises: Set<String>? = [],
        in makeStore: @autoclosure @escaping @Sendable () -> any DefaultsStore
    ) {
        name = "\(type(of: makeStore()))"
        self.promise = promise
        self.details = details
        self.otherPromises = otherPromises
        self.makeStore = makeStore
    }

    var testDescription: String { name }

    /// A fault that shows in a store with sources only.
    init(
        _ promise: String,
        details: String,
        alsoBreaks otherPromises: Set<String>? = [],
        in makeStore: @escaping @Sendable (DefaultsSources?) -> any DefaultsStore
    ) {
        self.init(promise, details: details, alsoBreaks: otherPromises, in: makeStore(nil))
        makeLayeredStore = makeStore
    }

    /// The kit, for stores with the fault.
    func conformance(patience: Double = 60) -> StoreConformance {
        let conformance = StoreConformance(capabilities: .all, patience: patience, makeStore: makeStore)
        guard let makeLayeredStore else { return conformance }
        return conformance.withSources { sources, body in try body(makeLayeredStore(DefaultsSources(sources))) }
    }

    // One store for each fault, since tests run at the same time.
    private static let keptForTheNext = MemoryDefaults()
    private static let sharedByTwo = MemoryDefaults()

    static let all = [
        PlantedFault(
            "A value comes back as it was set: same case, same value.",
            details: "storedValue(forKey: \"true\") after setStoredValue gave .integer(1), not .boolean(true).",
            alsoBreaks: [
                "A value takes the place of one of any other case."
            ],
            in: BooleansAsNumbers()
        ),
        PlantedFault(
            "A value comes back as it was set: same case, same value.",
            details: "gave .real(9.223372036854776e+18), not .unsigned(9223372036854775808).",
            alsoBreaks: [
                "A value takes the place of one of any other case."
            ],
            in: LargeNumbersAsReals()
        ),
        PlantedFault(
            "A value comes back as it was set: same case, same value.",
            details:
                "storedValue(forKey: \"decomposed\") after setStoredValue gave .string(\"\\u{00E9}\"), not .string(\"e\\u{0301}\").",
            alsoBreaks: [
                "A value takes the place of one that compares equal and is not the same."
            ],
            in: ComposedStrings()
        ),
        PlantedFault(
            "A real keeps the sign of zero, and a date its fraction of a second.",
            details: "storedValue(forKey: \"negative zero\") after setStoredValue gave .real(0.0), not .real(-0.0).",
            in: ZeroWithoutSign()
        ),
        PlantedFault(
            "A value comes back as it was set: same case, same value.",
            details: "storedValue(forKey: \"no data\") after setStoredValue gave nil, not .data(0 bytes).",
            in: EmptyDataAsNothing()
        ),
        PlantedFault(
            "A real keeps the sign of zero, and a date its fraction of a second.",
            details: "storedValue(forKey: \"fraction\") after setStoredValue gave .date(",
            in: DatesOfWholeSeconds()
        ),
        PlantedFault(
            "A value may nest 256 levels.",
            details: "A call that should succeed threw DefaultsError",
            in: ShallowValuesOnly()
        ),
        PlantedFault(
            "A value takes the place of one of any other case.",
            details:
                "after the value was replaced gave .dictionary([\"a\": Default.PropertyListValue.integer(1)]), not .date(",
            in: OldCaseStays()
        ),
        PlantedFault(
            "A value takes the place of one that compares equal and is not the same.",
            details: "after an equal value was replaced gave .string(\"\\u{00E9}\"), not .string(\"e\\u{0301}\").",
            alsoBreaks: ["A real keeps the sign of zero, and a date its fraction of a second."],
            in: EqualValuesSkipped()
        ),
        PlantedFault(
            "Setting nil removes what is there, if anything is.",
            details: "storedValue(forKey: \"k\") after it was set to nil twice gave .integer(6), not nil.",
            in: SecondRemovalDropped()
        ),
        PlantedFault(
            "storedKeys() lists each key under which something is stored once, and no removed one.",
            details: "storedKeys() lists \"a\" after it was removed.",
            in: RemovedKeysListed()
        ),
        PlantedFault(
            "storedKeys() lists each key under which something is stored once, and no removed one.",
            details: "storedKeys() lists \"e\\u{0301}\" 2 times, not once.",
            in: KeysListedTwice()
        ),
        PlantedFault(
            "flush() succeeds, and what was set is there afterwards.",
            details: "storedValue(forKey: \"k\") after flush() gave nil, not .string(\"text\").",
            in: FlushThatForgets()
        ),
        PlantedFault(
            "Keys that differ in any byte are different, whatever characters they have but NUL.",
            details: "storedValue(forKey: \"\\u{00E9}\") beside keys much like it gave .integer(",
            alsoBreaks: [
                "storedKeys() lists each key under which something is stored once, and no removed one."
            ],
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
                "setStoredValue(.integer(1), forKey: \"a\\0b\") threw nothing; it should throw a DefaultsError with the code invalidKey.",
            in: InvalidKeysSwallowed()
        ),
        PlantedFault(
            "A value that nests more than 256 levels is refused, and what was there stays.",
            details: "setStoredValue with 257 levels of arrays threw nothing; it should throw",
            alsoBreaks: [
                "A refusal names a key and a store."
            ],
            in: DeepValuesCut()
        ),
        PlantedFault(
            "A value that nests more than 256 levels is refused, and what was there stays.",
            details: "storedValue(forKey: \"k\") after a value was refused gave nil, not .string(\"before\").",
            in: RefusedValueRemoves()
        ),
        PlantedFault(
            "A refusal names a key and a store.",
            details: "threw an error whose store is nil.",
            in: SpeechlessRefusals()
        ),
        PlantedFault(
            "df stores settings types and other Codable values as Data, loads and replaces them.",
            details: "A call that should succeed threw DefaultsError",
            alsoBreaks: [
                "Typed keys store native values as they are, change them in place, and can be reset.",
                "value(forKey:), setValue(_:forKey:) and containers share the store's values.",
            ],
            in: LongJSONCut()
        ),
        PlantedFault(
            "Typed keys store native values as they are, change them in place, and can be reset.",
            details: "storedValue(forKey: \"count\") after a typed key was counted up gave nil, not .integer(6).",
            alsoBreaks: nil,
            in: AccessThatDoesNotBegin()
        ),
        PlantedFault(
            "value(forKey:), setValue(_:forKey:) and containers share the store's values.",
            details: "storedValue(forKey: \"number\") after setValue with an Int gave nil, not .integer(5).",
            in: ForgetfulStorage()
        ),
        PlantedFault(
            "Exclusive access whose body throws throws that error, and keeps what it changed.",
            details: "storedValue(forKey: \"k\") after exclusive access whose body threw gave nil, not .integer(1).",
            in: AccessThatUndoes()
        ),
        PlantedFault(
            "A value is changed in one step, to what the body leaves, and not at all if it throws.",
            details: "storedValue(forKey: \"k\") after a change that threw gave nil, not .string(\"b\").",
            in: StepsThatThrowAreMade()
        ),
        PlantedFault(
            "A transaction makes its changes, and returns or throws what its body does.",
            details: "transaction threw DefaultsError (The transaction failed.), not what its body threw.",
            alsoBreaks: [
                "A transaction whose body throws rolls back what it has changed."
            ],
            in: TransactionThatWrapsErrors()
        ),
        PlantedFault(
            "A transaction whose body throws rolls back what it has changed.",
            details:
                "storedValue(forKey: \"a\") after a failed transaction replaced it gave .integer(2), not .integer(1).",
            alsoBreaks: [
                "No observer is notified of a rolled-back change."
            ],
            in: TransactionThatKeepsAll()
        ),
        PlantedFault(
            "Changes that threads make under exclusive access are not lost.",
            details: "not .integer(800).",
            alsoBreaks: nil,
            in: AccessForAll()
        ),
        PlantedFault(
            "Threads that change different keys don't disturb each other.",
            details: "after the threads ended gave .string(",
            alsoBreaks: ["storedKeys() lists each key under which something is stored once, and no removed one."],
            in: KeysHashedBadly()
        ),
        PlantedFault(
            "A plain write waits for another thread's exclusive access.",
            details: "Another thread's value was there within exclusive access.",
            alsoBreaks: nil,
            in: WritesThatDoNotWait()
        ),
        PlantedFault(
            "Observers are notified of a change once, with its key, when the new value can be read.",
            details: "An observer was called 2 times, not once, with \"count\" after save(_:for:).",
            alsoBreaks: [
                "Observers are notified of a change made under exclusive access when that has ended.",
                "Observers are notified of what the store's own methods change.",
            ],
            in: ChangesNotifiedTwice()
        ),
        PlantedFault(
            "Observers are notified of a change once, with its key, when the new value can be read.",
            details:
                "storedValue(forKey: \"count\") in an observer called after save(_:for:) gave nil, not .integer(1).",
            alsoBreaks: nil,
            in: ChangesNotifiedBefore()
        ),
        PlantedFault(
            "An observer that is cancelled is not notified any more, and the others still are.",
            details: "An observer was called with \"k\" after it was cancelled.",
            in: CancellationIgnored()
        ),
        PlantedFault(
            "Observers are notified of a change made under exclusive access when that has ended.",
            details: "An observer was called by a thread that had exclusive access.",
            alsoBreaks: nil,
            in: ChangesNotifiedInside()
        ),
        PlantedFault(
            "No observer is notified of a rolled-back change.",
            details: "An observer was called with \"k\" after a transaction that was rolled back.",
            in: TransactionUndoneByWrites()
        ),
        PlantedFault(
            "A fresh store has nothing of what another store held before.",
            details: "storedValue(forKey: \"k\") of a fresh store gave .string(\"left over\"), not nil.",
            alsoBreaks: nil,
            in: SharedByAll(base: keptForTheNext)
        ),
        PlantedFault(
            "Two stores keep their values apart.",
            details: "storedValue(forKey: \"k\") for a key set in another store gave",
            alsoBreaks: nil,
            in: SharedByAll(base: sharedByTwo)
        ),
        PlantedFault(
            "A store has one description, whatever it holds, and it is not empty.",
            details: "storeDescription is empty.",
            alsoBreaks: [
                "Two stores have different descriptions."
            ],
            in: NamelessWhenEmpty()
        ),
        PlantedFault(
            "Two stores have different descriptions.",
            details: "Both stores are described as “Faulty”.",
            in: OneNameForAll()
        ),
        PlantedFault(
            "A value is that of the highest that has one: mandatory, override, stored, fallback.",
            details: "storedValue(forKey: \"b\") with sources gave .integer(3), not .integer(2).",
            in: StoredBeforeSources.init
        ),
        PlantedFault(
            "Only what is stored is listed, and given as the store's own value.",
            details: "updateStoredValue of a fallback's key gave .integer(4), not nil.",
            alsoBreaks: [
                "A value is that of the highest that has one: mandatory, override, stored, fallback.",
                "A write of settings stores what the caller has changed, and nothing of the sources.",
            ],
            in: SourcesAsOwnValues.init
        ),
        PlantedFault(
            "A mandatory value can be neither replaced nor removed.",
            details: "setStoredValue(nil) of a mandatory key threw nothing; it should throw",
            in: MandatoryValuesRemoved.init
        ),
        PlantedFault(
            "A transaction that writes a mandatory value stores nothing.",
            details: "storedValue(forKey: \"other\") after a transaction that was refused gave .integer(2), not nil.",
            alsoBreaks: [
                "A transaction whose body throws rolls back what it has changed.",
                "No observer is notified of a rolled-back change.",
            ],
            in: LayeredTransactionThatKeepsAll.init
        ),
        PlantedFault(
            "While a mandatory source can't be used, nothing can be written.",
            details: "setStoredValue, forKey: \"new\", while a mandatory source can't be used threw nothing;",
            in: WritesPastUnusableSources.init
        ),
        PlantedFault(
            "A write of settings stores what the caller has changed, and nothing of the sources.",
            details: "A call that should succeed threw DefaultsError",
            alsoBreaks: ["A value is that of the highest that has one: mandatory, override, stored, fallback."],
            in: SourcesKeptSecret.init
        ),
    ]

    /// Stores whose observers miss something, which takes a check some time to notice.
    static let silent = [
        PlantedFault(
            "Observers are notified of a change once, with its key, when the new value can be read.",
            details: "An observer was not called with \"count\" after reset.",
            in: RemovalsNotNotified()
        ),
        PlantedFault(
            "An observer that is cancelled is not notified any more, and the others still are.",
            details: "An observer was not called with \"k\" after another observer was cancelled.",
            in: CancellationOfAll()
        ),
        PlantedFault(
            "Observers are notified of what the store's own methods change.",
            details: "An observer was not called with \"k\" after setStoredValue.",
            in: PlainStore(base: MemoryDefaults())
        ),
        PlantedFault(
            "Observers are notified of a change of a source.",
            details: "An observer was not called with \"k\" after a change of a source.",
            in: SourcesThatChangeUnnoticed.init
        ),
    ]

    /// Stores that would wait forever, by the promise that they break.
    static let endless: [String: @Sendable (Breakables) -> any DefaultsStore] = [
        "Exclusive access nests, and the thread that has it reads and writes.": {
            AccessThatDoesNotNest(lock: $0.lock())
        },
        "Reads don't wait for exclusive access, writes only for its end.": {
            AccessThatStopsReads(lock: $0.lock())
        },
        "An observer may change the key that it observes.": { ObserversOneAtATime(lock: $0.lock()) },
        "An observer may wait for another thread's write.": {
            ObserversUnderLock(lock: $0.lock(isRecursive: true), writers: Meeting(of: 1))
        },
        "Two stores that mirror each other come to rest.": {
            ObserversUnderLock(lock: $0.lock(isRecursive: true), writers: $0.meetingOfTwo)
        },
    ]
}

/// The locks and meetings of a check's threads, which would otherwise wait forever.
final class Breakables: Sendable {
    let meetingOfTwo = Meeting(of: 2)
    private let locks = Locked<[BreakableLock]>([])

    func lock(isRecursive: Bool = false) -> BreakableLock {
        let lock = BreakableLock(isRecursive: isRecursive)
        locks.withLock { $0.append(lock) }
        return lock
    }

    /// A lock that no thread gets.
    func heldLock() -> BreakableLock {
        let lock = lock()
        lock.lock()
        return lock
    }

    func breakOpen() {
        meetingOfTwo.breakOpen()
        for lock in locks.withLock({ $0 }) {
            lock.breakOpen()
        }
    }
}

extension StoreConformance.Capabilities {
    static let all: Self = [.rollback, .threads, .severalStores, .ownChanges]
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

    @Test("finds nothing in a store with sources that keeps all promises")
    func noFaultWithSources() {
        let conformance = StoreConformance(capabilities: .all, makeStore: { FaultlessLayeredStore(layers: nil) })
            .withSources { sources, body in try body(FaultlessLayeredStore(layers: DefaultsSources(sources))) }
        #expect(conformance.capabilities == [.all, .sources])
        #expect(conformance.findings() == [])
    }

    @Test("finds nothing in a store that does not say which keys have changed")
    func namelessNotifications() {
        let conformance = StoreConformance(capabilities: .all, makeStore: { NotifiesWithoutKeys() })
        #expect(conformance.findings() == [])
    }

    @Test("names the promise that a faulty store breaks, and says what came back", arguments: PlantedFault.all)
    func plantedFault(fault: PlantedFault) throws {
        let conformance = fault.conformance()
        let findings = conformance.findings(of: try check(named: fault.promise))
        #expect(findings.contains { $0.details.contains(fault.details) }, "\(findings)")
        #expect(findings.allSatisfy { $0.promise == fault.promise })
    }

    @Test(
        "finds no other promise broken than the fault breaks",
        arguments: PlantedFault.all.filter { $0.otherPromises != nil }
    )
    func noOtherFault(fault: PlantedFault) throws {
        let findings = fault.conformance().findings()
        #expect(Set(findings.map(\.promise)) == fault.otherPromises?.union([fault.promise]), "\(findings)")
    }

    @Test("notices that observers are not called", .waits, arguments: PlantedFault.silent)
    func silentFault(fault: PlantedFault) throws {
        let conformance = fault.conformance(patience: 20)
        let findings = conformance.findings(of: try check(named: fault.promise))
        #expect(findings.contains { $0.details.contains(fault.details) }, "\(findings)")
    }

    @Test("ends although a store waits for itself, and says so", arguments: PlantedFault.endless.keys)
    func endlessFault(promise: String) throws {
        let makeStore = try #require(PlantedFault.endless[promise])
        let breakables = Breakables()
        defer { breakables.breakOpen() }
        let conformance = StoreConformance(capabilities: .all, patience: 0.1) { body in
            try body(makeStore(breakables))
        }
        let findings = conformance.findings(of: try check(named: promise))
        #expect(Set(findings.map(\.promise)) == [promise])
        #expect(findings.first?.details.hasPrefix("The check had not ended after 0.1 seconds: the store waits") == true)
    }

    @Test("says of a store that never notifies its observers what it doesn't do, and not that it doesn't end")
    func neverNotifying() {
        let conformance = StoreConformance(capabilities: .all, patience: 4, makeStore: { NeverNotifies() })
        let findings = conformance.findings()
        #expect(findings.allSatisfy { !$0.details.contains("had not ended") }, "\(findings)")
        #expect(Set(findings.map(\.promise)).count >= 5)
    }

    @Test("ends for a store that never returns from a call")
    func neverReturning() {
        let breakables = Breakables()
        defer { breakables.breakOpen() }
        let conformance = StoreConformance(capabilities: .all, patience: 0.05) { body in
            try body(NeverReturns(lock: breakables.heldLock()))
        }
        let findings = conformance.findings()
        #expect(findings.count == StoreConformance.checks.count { !$0.requirements.contains(.sources) })
        #expect(findings.allSatisfy { $0.details.contains("had not ended") })
    }

    @Test("ends for a store that takes no change of a value, and notifies of each attempt")
    func neverChanging() throws {
        let conformance = StoreConformance(capabilities: .all, patience: 20, makeStore: { FirstValueStays() })
        let findings = conformance.findings(of: try check(named: "An observer may change the key that it observes."))
        #expect(
            findings.map(\.details) == [
                "What an observer does when it is called had not been done after the first change."
            ]
        )
    }

    @Test("says each finding once, in some lines at most")
    func shortFindings() {
        let findings = StoreConformance(capabilities: .all, patience: 1, makeStore: { Verbose() }).findings()
        #expect(!findings.isEmpty && Set(findings).count == findings.count)
        #expect(findings.allSatisfy { $0.details.count <= 600 })
        #expect(findings.contains { $0.details.hasSuffix("…") })
    }

    @Test("has a planted fault for each of its checks, which have names of their own")
    func coverage() {
        let names = StoreConformance.checks.map(\.name)
        #expect(Set(names).count == names.count)
        let faults = PlantedFault.all + PlantedFault.silent
        #expect(Set(faults.map(\.promise)).union(PlantedFault.endless.keys) == Set(names))
    }

    @Test("leaves out what a store does not claim to do")
    func capabilities() throws {
        let conformance = StoreConformance(makeStore: { TransactionThatKeepsAll() })
        #expect(conformance.findings() == [])
        let name = "A transaction whose body throws rolls back what it has changed."
        #expect(try check(named: name).requirements == .rollback)
        for check in StoreConformance.checks where !check.requirements.isEmpty {
            let unused = StoreConformance { _ in Issue.record("A store was made for “\(check)”.") }
            #expect(unused.findings(of: check) == [])
        }
    }

    @Test("takes a closure that hands over no store, two or none but an error for a finding")
    func closures() throws {
        let check = try check(named: "A value takes the place of one of any other case.")
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
        let check = try check(named: "flush() succeeds, and what was set is there afterwards.")
        let finding = try #require(
            StoreConformance(makeStore: { FlushThatForgets() }).findings(of: check).last
        )
        #expect(
            finding.description == """
                Promised: flush() succeeds, and what was set is there afterwards. \
                Found: storedValue(forKey: "k") after flush() gave nil, not .string("text").
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
                try body(DeepValuesCut())
            }
            #expect(conformance.findings() != [])
            return try FileManager.default.contentsOfDirectory(atPath: parent.path)
        }
        #expect(directories == [])
    }
}
