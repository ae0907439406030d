import DefaultJournal
import Foundation
import Testing

@testable import Default

@Suite("The observers of a store")
struct ChangeHubTests {
    @Test("are called although another one's handler blocks, which is called later for what it missed")
    func blockedHandler() {
        let hub = ChangeHub()
        let isBlocked = DispatchSemaphore(value: 0)
        let mayGoOn = DispatchSemaphore(value: 0)
        let blockedKeys = Locked<[Set<String>?]>([])
        let otherKeys = Locked<[Set<String>?]>([])
        let blocked = hub.add { keys in
            blockedKeys.withLock { $0.append(keys) }
            if keys == ["first"] {
                isBlocked.signal()
                mayGoOn.wait()
            }
        }
        let other = hub.add { keys in otherKeys.withLock { $0.append(keys) } }
        let ended = DispatchSemaphore(value: 0)
        Thread {
            hub.notify(["first"])
            ended.signal()
        }.start()
        isBlocked.wait()
        hub.notify(["second"])
        hub.notify(["third"])
        #expect(otherKeys.withLock { $0 } == [["first"], ["second"], ["third"]])
        #expect(blockedKeys.withLock { $0 } == [["first"]])
        mayGoOn.signal()
        ended.wait()
        #expect(blockedKeys.withLock { $0 } == [["first"], ["second"], ["third"]])
        #expect(otherKeys.withLock { $0 } == [["first"], ["second"], ["third"]])
        blocked.cancel()
        other.cancel()
        #expect(!hub.isActive)
    }

    @Test("that block get a limited number of changes one by one, and one call for all that came after those")
    func limit() {
        let hub = ChangeHub()
        let calls = Locked<[Set<String>?]>([])
        // The handler's call is in progress while the hub is notified of many changes, and again during the call that
        // combines them.
        let observation = hub.add { keys in
            let count = calls.withLock { calls in
                calls.append(keys)
                return calls.count
            }
            if count == 1 {
                for number in 1...1_000 { hub.notify(["\(number)"]) }
            } else if keys == ["256"] {
                // The waiting call absorbs this change, since it is reported later.
                hub.notify(["absorbed"])
            } else if keys == nil, count == 258 {
                hub.notify(["next"])
            }
        }
        hub.notify(["first"])
        let waiting = (1...256).map { Set(["\($0)"]) as Set<String>? }
        #expect(calls.withLock { $0 } == [["first"]] + waiting + [nil, ["next"]])
        hub.notify(["last"])
        #expect(calls.withLock { $0.last } == ["last"])
        observation.cancel()
    }

    @Test("may change what they observe, and are called again after they have returned")
    func reentrance() {
        let store = MemoryDefaults()
        let calls = Locked<[String]>([])
        let observation = store.observeChanges { _ in
            let value = store.integer(forKey: "n")
            calls.withLock { $0.append("begin \(value)") }
            if value < 3 {
                try? store.set(value + 1, forKey: "n")
            }
            calls.withLock { $0.append("end \(value)") }
        }
        try? store.set(1, forKey: "n")
        #expect(calls.withLock { $0 } == ["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"])
        observation.cancel()
        try? store.set(4, forKey: "n")
        #expect(calls.withLock { $0.count } == 6)
    }

    @Test("are not called any more once they have ended, even for a change that waits for them")
    func ended() {
        let hub = ChangeHub()
        let calls = Locked(0)
        let own = Locked<StoreObservation?>(nil)
        let observation = hub.add { keys in
            calls.withLock { $0 += 1 }
            hub.notify(["nested"])
            own.withLock { $0 }?.cancel()
        }
        own.withLock { $0 = observation }
        hub.notify(["first"])
        #expect(calls.withLock { $0 } == 1)
        own.withLock { $0 = nil }
    }
}
