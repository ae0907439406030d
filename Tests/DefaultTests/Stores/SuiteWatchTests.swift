import DefaultJournal
import Foundation
import Testing

@testable import Default

@Suite("A watch of a suite whose signals name no change")
struct SuiteWatchTests {
    /// A watched store, with the notices of its observer.
    private final class Watched {
        let store = MemoryDefaults()
        let hub = ChangeHub()
        let heard = Locked<[Set<String>?]>([])
        let watch: SuiteWatch
        private var observation: StoreObservation?

        init() {
            watch = SuiteWatch(of: store, reportingTo: hub)
            observation = hub.add { [heard] keys in heard.withLock { $0.append(keys) } }
        }

        /// Returns the notices since the last call.
        func takeHeard() -> [Set<String>?] {
            heard.withLock { heard in
                defer { heard = [] }
                return heard
            }
        }
    }

    @Test("reports each change once, with its key, however many signals there are")
    func once() throws {
        let watched = Watched()
        try watched.store.set(1, forKey: "a")
        #expect(watched.watch.add(["a", "b"]) == ["a", "b"])
        #expect(watched.watch.add(["b", "c"]) == ["c"])
        watched.watch.check()
        #expect(watched.takeHeard() == [])
        try watched.store.set(2, forKey: "a")
        for _ in 0..<3 {
            watched.watch.check(["a"])
            watched.watch.check()
        }
        #expect(watched.takeHeard() == [["a"]])
        try watched.store.set(3, forKey: "b")
        try watched.store.removeObject(forKey: "a")
        watched.watch.check()
        watched.watch.check()
        #expect(watched.takeHeard() == [["a", "b"]])
        try watched.store.set(3, forKey: "a")
        watched.watch.check(["a"])
        #expect(watched.takeHeard() == [["a"]])
    }

    @Test("compares only the keys that it was given, until it is to watch all")
    func keys() throws {
        let watched = Watched()
        #expect(watched.watch.add(["a"]) == ["a"])
        try watched.store.set(1, forKey: "other")
        watched.watch.check()
        watched.watch.check(["other"])
        #expect(watched.takeHeard() == [])
        #expect(watched.watch.add(nil) == ["other"])
        watched.watch.check()
        #expect(watched.takeHeard() == [])
        try watched.store.set(1, forKey: "new")
        watched.watch.check()
        try watched.store.set(2, forKey: "newer")
        watched.watch.check(["newer"])
        #expect(watched.takeHeard() == [["new"], ["newer"]])
        try watched.store.removeObject(forKey: "new")
        watched.watch.check()
        #expect(watched.takeHeard() == [["new"]])
    }

    @Test("reports what it finds during exclusive access at its end")
    func exclusiveAccess() throws {
        let watched = Watched()
        _ = watched.watch.add(["a"])
        try ExclusiveAccess.ofProcess {
            try watched.store.set(1, forKey: "a")
            watched.watch.check(["a"])
            watched.watch.check()
            #expect(watched.takeHeard() == [])
        }
        #expect(watched.takeHeard() == [["a"]])
    }

    @Test("knows the last value when several threads have compared at once")
    func threads() throws {
        let watched = Watched()
        _ = watched.watch.add(["a"])
        let watch = watched.watch
        let store = watched.store
        try onEightThreads {
            for number in 0..<500 {
                try store.set(number, forKey: "a")
                watch.check(["a"])
            }
        }
        #expect(watched.takeHeard().isEmpty == false)
        watch.check()
        #expect(watched.takeHeard() == [])
        try store.set(-1, forKey: "a")
        watch.check()
        #expect(watched.takeHeard() == [["a"]])
    }
}
