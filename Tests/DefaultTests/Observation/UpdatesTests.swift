import Default
import DefaultJournal
import Foundation
import Testing

extension DefaultsKeys {
    fileprivate static let count = DefaultsKey<Int>("count")
    fileprivate static let title = DefaultsKey<String?>("title")
    fileprivate static let level = DefaultsKey<Double>("level", default: 0.5)
}

private struct Theme: DefaultStorable, Equatable {
    var name = "bright"
    static var defaults: CurrentStore { CurrentStore() }
    static var defaultValue: Theme? { Theme() }
}

/// A settings type whose values can't be compared.
private struct Plain: DefaultStorable {
    var name = "bright"
}

@Suite("Updates", .waits)
struct UpdatesTests {
    @Test("begin with the current value, and continue with each new one", arguments: StoreKind.allCases)
    func values(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let defaults = Defaults(suite: store)
            defaults[.count] = 1
            var values = defaults.updates(.count).makeAsyncIterator()
            #expect(await values.next(isolation: nil) == 1)
            defaults[.count] = 2
            #expect(await values.next(isolation: nil) == 2)
            defaults[.title] = "other"
            defaults[.count] = 2
            defaults[.count] = 3
            defaults["count"] += 1
            #expect(await values.next(isolation: nil) == 4)
            defaults.reset(.count)
            #expect(await values.next(isolation: nil) == 0)
        }
    }

    @Test("are available for settings types, containers and several keys", arguments: StoreKind.allCases)
    func sources(kind: StoreKind) async throws {
        try await kind.withStore { store in
            await CurrentStore.with(store) {
                var themes = Theme.updates().makeAsyncIterator()
                #expect(await themes.next(isolation: nil) == Theme())
                Theme(name: "dark").write()
                #expect(await themes.next(isolation: nil) == Theme(name: "dark"))
                Theme.clear()
                #expect(await themes.next(isolation: nil) == Theme())
            }
            let container: KeyValueContainer<Int> = store.makeContainer(default: 7, key: "number")
            var numbers = container.updates.makeAsyncIterator()
            #expect(await numbers.next(isolation: nil) == 7)
            container.value = 8
            #expect(await numbers.next(isolation: nil) == 8)
            container.remove()
            #expect(await numbers.next(isolation: nil) == 7)

            let defaults = Defaults(suite: store)
            var all = defaults.updates(.count, .title, .level).makeAsyncIterator()
            var latest = await all.next(isolation: nil)
            #expect(latest?.0 == 0 && latest?.1 == nil && latest?.2 == 0.5)
            defaults[.title] = "new"
            latest = await all.next(isolation: nil)
            #expect(latest?.0 == 0 && latest?.1 == "new")
            defaults[.level] = 0.75
            latest = await all.next(isolation: nil)
            #expect(latest?.2 == 0.75)
        }
    }

    @Test("include changes through other handles on the store and its own methods")
    func handles() async throws {
        try await withTemporaryDirectory { directory in
            let url = directory.appending(path: "suite.defaults")
            let watched = try FileDefaults(url: url)
            let other = try FileDefaults(url: url)
            var values = Defaults(suite: watched).updates(.count).makeAsyncIterator()
            #expect(await values.next(isolation: nil) == 0)
            try other.set(5, forKey: "count")
            #expect(await values.next(isolation: nil) == 5)
            try other.transaction {
                try other.set(6, forKey: "count")
                try other.set(7, forKey: "count")
            }
            #expect(await values.next(isolation: nil) == 7)
        }
    }

    #if Foundation
    @Test("include those through other objects for the same UserDefaults")
    func userDefaults() async throws {
        try await withTemporarySuite { name in
            let watched = UserDefaults(suiteName: name)!
            let other = UserDefaults(suiteName: name)!
            var values = Defaults(suite: watched).updates(.count).makeAsyncIterator()
            #expect(await values.next(isolation: nil) == 0)
            Defaults(suite: other)[.count] = 5
            #expect(await values.next(isolation: nil) == 5)
        }
    }
    #endif

    @Test("show only the result of a failed transaction")
    func transactions() async throws {
        struct Stop: Error {}
        let store = MemoryDefaults()
        var values = Defaults(suite: store).updates(.count).makeAsyncIterator()
        #expect(await values.next(isolation: nil) == 0)
        #expect(throws: Stop.self) {
            try store.transaction {
                try store.set(1, forKey: "count")
                throw Stop()
            }
        }
        try store.set(2, forKey: "count")
        #expect(await values.next(isolation: nil) == 2)
    }

    @Test("name the keys of a store that changed", arguments: StoreKind.allCases)
    func changedKeys(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var changes = store.changes().makeAsyncIterator()
            Defaults(suite: store)[.count] = 1
            Defaults(suite: store)[.title] = "new"
            #expect(await changes.next(isolation: nil) == ["count", "title"])
            Defaults(suite: store).reset(.count)
            #expect(await changes.next(isolation: nil) == ["count"])

            try await withDefaults(store) {
                let storage = try #require(PersistentStorage(keyPrefix: "a."))
                var parts = storage.changes().makeAsyncIterator()
                storage.setValue(1, forKey: "k")
                #expect(await parts.next(isolation: nil) == ["k"])
            }
        }
    }

    @Test("of a store call a handler with the keys of each change, and not before one", arguments: StoreKind.allCases)
    func observedKeys(kind: StoreKind) throws {
        try kind.withStore { store in
            let defaults = Defaults(suite: store)
            defaults[.count] = 1
            let heard = Locked<[Set<String>]>([])
            let observation = store.changes().observe { keys in heard.withLock { $0.append(keys) } }
            #expect(heard.withLock { $0 } == [])
            defaults[.count] = 2
            defaults[.title] = "new"
            #expect(heard.withLock { $0 } == [["count"], ["title"]])
            try store.withExclusiveAccess {
                defaults[.count] = 3
                defaults.reset(.title)
            }
            #expect(heard.withLock { $0.reduce(into: Set()) { $0.formUnion($1) } } == ["count", "title"])
            let calls = heard.withLock { $0.count }
            observation.cancel()
            defaults[.count] = 4
            #expect(heard.withLock { $0.count } == calls)
        }
    }

    @Test("are those of one iterator, whichever of its two methods is called")
    func nextMethods() async {
        let defaults = Defaults(suite: MemoryDefaults())
        var values = defaults.updates(.count).makeAsyncIterator()
        #expect(await values.next() == 0)
        defaults[.count] = 1
        #expect(await values.next(isolation: nil) == 1)
        defaults[.count] = 2
        #expect(await values.next() == 2)
        // Each iterator begins with the current value.
        let updates = defaults.updates(.count)
        defaults[.count] = 3
        for _ in 0..<2 {
            var own = updates.makeAsyncIterator()
            #expect(await own.next() == 3)
        }
    }

    @Test(
        "end with the stored value, after two writers and three thousand rounds",
        arguments: [StoreKind.memory, .file]
    )
    func twoWriters(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let shared = UnsafeStore(store)
            var values = Defaults(suite: store).updates(.count).makeAsyncIterator()
            var latest = await values.next(isolation: nil)
            for round in 1...3_000 {
                await withTaskGroup { group in
                    group.addTask { Defaults(suite: shared.store)[.count] = round }
                    group.addTask { Defaults(suite: shared.store)[.count] = -round }
                }
                let stored = Defaults(suite: store)[.count]
                while latest != stored {
                    latest = await values.next(isolation: nil)
                }
            }
            #expect(latest.map(abs) == 3_000)
        }
    }

    @Test("see the last of a thousand writes of another process, with compactions in between")
    func anotherProcess() async throws {
        try await withTemporaryDirectory { directory in
            let url = directory.appending(path: "suite.defaults")
            let suite = try FileDefaults(url: url)
            let key = DefaultsKey<Int>("a.999", default: -1)
            var values = Defaults(suite: suite).updates(key).makeAsyncIterator()
            #expect(await values.next(isolation: nil) == -1)
            let helper = try TestHelper.start(["keys", url.path, "a", "1000"])
            #expect(await values.next(isolation: nil) == 999)
            helper.waitUntilExit()
            #expect(helper.status == 0)
            // Another process writes again, after the last compaction.
            let second = try TestHelper.run(["keys", url.path, "b", "101"])
            #expect(second.status == 0)
            var others = Defaults(suite: suite).updates(DefaultsKey<Int>("b.100")).makeAsyncIterator()
            #expect(await others.next(isolation: nil) == 100)
        }
    }

    @Test("may be written back while they are read")
    func writingReader() async throws {
        try await withDefaults(MemoryDefaults()) {
            var themes = Plain.updates().makeAsyncIterator()
            let first = try #require(await themes.next(isolation: nil))
            #expect(first?.name == nil)
            Plain(name: "dark").write()
            let dark = try #require(await themes.next(isolation: nil))
            dark?.write()
            dark?.write()
            Plain(name: "last").write()
            // Equal values are not delivered, although this type is not Equatable.
            let last = try #require(await themes.next(isolation: nil))
            #expect(last?.name == "last")

            var counts = Defaults.updates(.count).makeAsyncIterator()
            for expected in 0..<100 {
                let count = try #require(await counts.next(isolation: nil))
                #expect(count == expected)
                Defaults[.count] = count + 1
            }
        }
    }

    @Test("end when the reading task is cancelled", arguments: StoreKind.allCases)
    func cancellation(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let shared = UnsafeStore(store)
            let task = Task(executorPreference: TestThreads.waiting) {
                var count = 0
                for await _ in Defaults(suite: shared.store).updates(.count) {
                    count += 1
                }
                for await _ in shared.store.changes() {
                    count += 1
                }
                return count
            }
            task.cancel()
            #expect(await task.value <= 1)
        }
    }

    @Test("leave no resources behind after a thousand subscriptions, cancelled in any order")
    func manySubscriptions() async throws {
        try await withTemporaryDirectory { directory in
            let suite = try FileDefaults(url: directory.appending(path: "suite.defaults"))
            let observation = suite.observeChanges { _ in }
            #expect(try watches(of: suite) == 1)
            observation.cancel()
            weak var retained: MemoryDefaults?
            do {
                let memory = MemoryDefaults()
                retained = memory
                await withTaskGroup { group in
                    for number in 0..<1_000 {
                        group.addTask {
                            let task = Task(executorPreference: TestThreads.waiting) {
                                let store: any DefaultsStore = number.isMultiple(of: 2) ? suite : memory
                                for await _ in Defaults(suite: store).updates(.count) {}
                            }
                            if number.isMultiple(of: 3) {
                                await Task.yield()
                            }
                            Defaults(suite: suite)[.count] += 1
                            task.cancel()
                            await task.value
                        }
                    }
                }
            }
            #expect(retained == nil)
            // The watching thread closes its descriptors before it exits.
            try wait(for: "the end of the watch") { try watches(of: suite) == 0 }
            #expect(Defaults(suite: suite)[.count] == 1_000)
        }
    }

    /// The number of this process's descriptors that watch a suite's directory; other tests watch other ones.
    private func watches(of suite: FileDefaults) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: suite.url.path)
        let inode = try #require(attributes[.systemFileNumber] as? UInt64)
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo")
        return descriptors.filter { descriptor in
            // A descriptor may have been closed in the meantime.
            let info = try? String(contentsOfFile: "/proc/self/fdinfo/\(descriptor)", encoding: .utf8)
            return info?.contains("ino:\(String(inode, radix: 16)) ") ?? false
        }.count
    }

    @Test("cost a comparison a second while nothing changes")
    func idle() throws {
        try withTemporaryDirectory { directory in
            // Runs in its own process, where no other test starts threads.
            let outcome = try TestHelper.run(["idle-watcher", directory.appending(path: "suite.defaults").path])
            #expect(outcome.output == "seldom woke up, then saw 1\n", "\(outcome.errors)")
        }
    }
}
