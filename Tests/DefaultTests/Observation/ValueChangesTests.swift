import DefaultJournal
import Foundation
import Testing

@testable import Default

extension DefaultsKeys {
    fileprivate static let count = DefaultsKey<Int>("count", default: 7)
    fileprivate static let title = DefaultsKey<String?>("title")
}

@Suite("Changes of a key", .waits)
struct ValueChangesTests {
    private struct Change: Equatable {
        let old: Int
        let new: Int

        init(_ old: Int, _ new: Int) {
            self.old = old
            self.new = new
        }

        init?(_ change: ValueChange<Int>?) {
            guard let change else { return nil }
            self.init(change.old, change.new)
        }
    }

    @Test("are delivered one after the other, with the value before and after each", arguments: StoreKind.allCases)
    func each(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let defaults = Defaults(suite: store)
            var changes = withDefaults(store) { Defaults.changes(.count).makeAsyncIterator() }
            defaults[.title] = "other"
            defaults[.count] = 1
            defaults[.count] = 1
            defaults[.count] += 1
            defaults.reset(.count)
            defaults[.count] = 3
            #expect(Change(await changes.next(isolation: nil)) == Change(7, 1))
            #expect(Change(await changes.next(isolation: nil)) == Change(1, 2))
            #expect(Change(await changes.next(isolation: nil)) == Change(2, 7))
            #expect(Change(await changes.next(isolation: nil)) == Change(7, 3))
            defaults.removeAll()
            #expect(Change(await changes.next(isolation: nil)) == Change(3, 7))
        }
    }

    @Test("are combined into one when there are more than the limit", arguments: StoreKind.allCases)
    func limit(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let defaults = Defaults(suite: store)
            var changes = defaults.changes(.count, limit: 2).makeAsyncIterator()
            let others = withDefaults(store) {
                (
                    Defaults.changes(.count, limit: 2), Defaults.changes(.count, .title, limit: 2),
                    defaults.changes(.count, .title, limit: 2)
                )
            }
            var standard = others.0.makeAsyncIterator()
            var pairs = [others.1.makeAsyncIterator(), others.2.makeAsyncIterator()]
            for number in 1...5 {
                defaults[.count] = number
            }
            for change in [Change(7, 1), Change(1, 5)] {
                #expect(Change(await standard.next(isolation: nil)) == change)
                for index in pairs.indices {
                    let pair = await pairs[index].next(isolation: nil)
                    #expect(pair?.old.0 == change.old && pair?.new.0 == change.new)
                }
            }
            #expect(Change(await changes.next(isolation: nil)) == Change(7, 1))
            #expect(Change(await changes.next(isolation: nil)) == Change(1, 5))
            defaults[.count] = 6
            #expect(Change(await changes.next(isolation: nil)) == Change(5, 6))
        }
    }

    @Test("are combined into one when there are more than a hundred, if no limit is given")
    func defaultLimit() async throws {
        let store = MemoryDefaults()
        let defaults = Defaults(suite: store)
        let all = withDefaults(store) {
            (Defaults.changes(.count), Defaults.changes(.count, .title), defaults.changes(.count, .title))
        }
        var single = all.0.makeAsyncIterator()
        var pairs = [all.1.makeAsyncIterator(), all.2.makeAsyncIterator()]
        var own = defaults.changes(.count).makeAsyncIterator()
        for number in 1...150 { defaults[.count] = number }
        for number in 1...100 {
            let change = number == 100 ? Change(99, 150) : Change(number == 1 ? 7 : number - 1, number)
            #expect(Change(await single.next(isolation: nil)) == change)
            #expect(Change(await own.next(isolation: nil)) == change)
            for index in pairs.indices {
                let pair = await pairs[index].next(isolation: nil)
                #expect(pair?.old.0 == change.old && pair?.new.0 == change.new)
            }
        }
    }

    @Test("are left out when they are combined and cancel each other out")
    func combinedToNothing() {
        let log = ChangeLog(after: [.integer(0)], limit: 2)
        for number: Int64 in [1, 2, 1] {
            #expect(log.record { [.integer(number)] })
        }
        #expect(log.removeFirst()?.new == [.integer(1)])
        #expect(log.removeFirst() == nil)
        #expect(log.record { [.integer(3)] })
        let change = log.removeFirst()
        #expect(change?.old == [.integer(1)] && change?.new == [.integer(3)])
    }

    @Test("wait one at a time, and as none when they cancel each other out, if the limit is one or less")
    func smallLimits() {
        for limit in [1, 0, -1] {
            let log = ChangeLog(after: [.integer(0)], limit: limit)
            for number: Int64 in [1, 2, 3] {
                #expect(log.record { [.integer(number)] })
            }
            let change = log.removeFirst()
            #expect(change?.old == [.integer(0)] && change?.new == [.integer(3)], "limit \(limit)")
            #expect(log.removeFirst() == nil)
            // The last of these is the value that the reader knows, and no read comes in between.
            for value in [PropertyListValue.integer(4), nil, .integer(3)] {
                #expect(log.record { [value] })
            }
            #expect(log.removeFirst() == nil, "limit \(limit)")
        }
    }

    @Test("form a chain that ends with the stored value, whoever makes them")
    func threads() async throws {
        let store = MemoryDefaults()
        let defaults = Defaults(suite: store)
        var changes = defaults.changes(.count, limit: 10_000).makeAsyncIterator()
        try onEightThreads {
            for _ in 0..<100 {
                Defaults(suite: store)[.count] += 1
            }
        }
        var latest = 7
        while latest != 807 {
            let change = try #require(await changes.next(isolation: nil))
            #expect(change.old == latest)
            latest = change.new
        }
        #expect(defaults[.count] == 807)
    }

    @Test("are not recorded out of order when another thread records one during a read")
    func olderRead() throws {
        let log = ChangeLog(after: [.integer(0)], limit: 100)
        var reads = 0
        let isChange = log.record {
            reads += 1
            guard reads == 1 else { return [.integer(2)] }
            #expect(log.record { [.integer(2)] })
            return [.integer(1)]
        }
        #expect(!isChange && reads == 2)
        let change = try #require(log.removeFirst())
        #expect(change.old == [.integer(0)] && change.new == [.integer(2)])
        #expect(log.removeFirst() == nil)
    }

    @Test("end when their task is cancelled")
    func cancellation() async {
        let store = MemoryDefaults()
        let task = Task(executorPreference: TestThreads.waiting) {
            for await _ in Defaults(suite: store).changes(.count) {}
            return true
        }
        task.cancel()
        #expect(await task.value)
    }

    @Test("leave out the current value if it is not asked for", arguments: StoreKind.allCases)
    func withoutInitial(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let defaults = Defaults(suite: store)
            defaults[.count] = 1
            var values = defaults.updates(.count, initial: false).makeAsyncIterator()
            var pairs = defaults.updates(.count, .title, initial: false).makeAsyncIterator()
            defaults[.count] = 2
            #expect(await values.next(isolation: nil) == 2)
            #expect(await pairs.next(isolation: nil).map { $0.0 } == 2)
        }
    }
}

@Suite("Updates without the current value")
struct LaterUpdatesTests {
    @Test("begin with the first value that differs from the one they started at", arguments: StoreKind.allCases)
    func start(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            defaults[.count] = 1
            let counts = Locked<[[Int]]>([[], [], [], []])
            @Sendable func note(_ count: Int, _ form: Int) { counts.withLock { $0[form].append(count) } }
            let observations = withDefaults(store) {
                [
                    defaults.updates(.count, initial: false).observe { note($0, 0) },
                    defaults.updates(.count, .title, initial: false).observe { note($0.0, 1) },
                    Defaults.updates(.count, initial: false).observe { note($0, 2) },
                    Defaults.updates(.count, .title, initial: false).observe { note($0.0, 3) },
                ]
            }
            defer { observations.forEach { $0.cancel() } }
            #expect(counts.withLock { $0 } == [[], [], [], []])
            for count in [1, 2, 2, 1] { defaults[.count] = count }
            #expect(counts.withLock { $0 } == [[2, 1], [2, 1], [2, 1], [2, 1]])
        }
    }
}

@Suite("A key and a store")
struct ResettingTests {
    @Test("are reset by their own methods", arguments: StoreKind.allCases)
    func reset(kind: StoreKind) throws {
        try kind.withStandardStore { store in
            Defaults[.count] = 1
            Defaults.Keys.count.reset()
            #expect(!Defaults.exists(key: .count))
            let other = MemoryDefaults()
            Defaults(suite: other)[.count] = 2
            Defaults[.count] = 1
            Defaults.Keys.count.reset(in: other)
            #expect(Defaults(suite: other)[.count] == 7)
            #expect(Defaults[.count] == 1)
            Defaults.removeAll()
            #expect(!Defaults.exists(key: .count))
            try other.register(defaults: ["count": 5])
            try other.set(1, forKey: "title")
            try other.removeAll()
            #expect(other.storedKeys() == [])
            #expect(Defaults(suite: other)[.count] == 5)
        }
    }

    @Test("of a storage say the name of the suite")
    func suiteName() throws {
        #expect(PersistentStorage()?.suiteName == nil)
        let name = "suite-\(UUID().uuidString)"
        #expect(PersistentStorage(suiteName: name)?.suiteName == name)
        #if !canImport(Darwin)
        // `UserDefaults` creates nothing before the first write.
        try FileManager.default.removeItem(at: FileDefaults(suiteName: name).url)
        #endif
    }
}
