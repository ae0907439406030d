internal import Default
internal import Foundation

extension StoreConformance.Check {
    static let ofExclusiveAccess: [Self] = [
        Self("Exclusive access nests, and the thread that has it reads and writes.") { trial, store in
            let found = try store.withExclusiveAccess {
                try store.withExclusiveAccess { try store.setStoredValue(.integer(1), forKey: "k") }
                try store.setStoredValue(nil, forKey: "other")
                return store.storedValue(forKey: "k")
            }
            trial.expect(found, is: .integer(1), from: "storedValue(forKey:) under exclusive access")
            try store.beginExclusiveAccess()
            try store.beginExclusiveAccess()
            try store.setStoredValue(.integer(2), forKey: "k")
            store.endExclusiveAccess()
            trial.expect("k", in: store, is: .integer(2), "between two calls of endExclusiveAccess()")
            store.endExclusiveAccess()
            try store.setStoredValue(.integer(3), forKey: "k")
            trial.expect("k", in: store, is: .integer(3), "after exclusive access has ended")
        },
        Self("Exclusive access whose body throws throws that error, and keeps what it changed.") { trial, store in
            trial.expectStop(from: "withExclusiveAccess") {
                try store.withExclusiveAccess {
                    try store.setStoredValue(.integer(1), forKey: "k")
                    throw Trial.Stop()
                }
            }
            trial.expect("k", in: store, is: .integer(1), "after exclusive access whose body threw")
            try store.setStoredValue(.integer(2), forKey: "k")
            trial.expect("k", in: store, is: .integer(2), "after exclusive access has ended")
        },
        Self("A value is changed in one step, to what the body leaves, and not at all if it throws.") { trial, store in
            func change(_ change: (inout PropertyListValue?) throws -> Void) throws -> PropertyListValue? {
                try store.updateStoredValue(forKey: "k") { value in
                    let found = value
                    try change(&value)
                    return found
                }
            }
            let call = "updateStoredValue(forKey:_:)"
            trial.expect(try change { _ in }, is: nil, from: "\(call) without a value")
            trial.expect("k", in: store, is: nil, "after a change that left nothing")
            trial.expect(try change { $0 = .integer(1) }, is: nil, from: "\(call) without a value")
            trial.expect(try change { $0 = .string("b") }, is: .integer(1), from: call)
            trial.expect("k", in: store, is: .string("b"), "after it was changed")
            trial.expectStop(from: call) {
                _ = try change { value in
                    value = nil
                    throw Trial.Stop()
                }
            }
            trial.expect("k", in: store, is: .string("b"), "after a change that threw")
            trial.expect(try change { $0 = nil }, is: .string("b"), from: call)
            trial.expect("k", in: store, is: nil, "after a change that left nil")
        },
        Self("A transaction makes its changes, and returns or throws what its body does.") { trial, store in
            try store.setStoredValue(.integer(0), forKey: "removed")
            let found = try store.transaction {
                try store.setStoredValue(.integer(1), forKey: "a")
                try store.setStoredValue(.data(Data([1])), forKey: "b")
                try store.setStoredValue(nil, forKey: "removed")
                try store.transaction { try store.setStoredValue(.integer(1), forKey: "c") }
                return [store.storedValue(forKey: "a"), store.storedValue(forKey: "removed")]
            }
            trial.expect(found[0], is: .integer(1), from: "storedValue(forKey:) in the transaction that set it")
            trial.expect(found[1], is: nil, from: "storedValue(forKey:) in the transaction that removed it")
            trial.expect("a", in: store, is: .integer(1), "after a transaction")
            trial.expect("b", in: store, is: .data(Data([1])), "after a transaction")
            trial.expect("c", in: store, is: .integer(1), "after a transaction in a transaction")
            trial.expect("removed", in: store, is: nil, "after a transaction")
            trial.expectStop(from: "transaction") { try store.transaction { throw Trial.Stop() } }
            try store.setStoredValue(.integer(2), forKey: "a")
            trial.expect("a", in: store, is: .integer(2), "of a value set after a failed transaction")
        },
        Self("A transaction whose body throws rolls back what it has changed.", requires: .rollback) { trial, store in
            try store.setStoredValue(.integer(1), forKey: "a")
            try store.setStoredValue(.integer(1), forKey: "removed")
            trial.expectStop(from: "transaction") {
                try store.transaction {
                    try store.setStoredValue(.integer(2), forKey: "a")
                    try store.setStoredValue(.data(Data([2])), forKey: "new")
                    try store.setStoredValue(nil, forKey: "removed")
                    throw Trial.Stop()
                }
            }
            trial.expect("a", in: store, is: .integer(1), "after a failed transaction replaced it")
            trial.expect("new", in: store, is: nil, "after a failed transaction set it first")
            trial.expect("removed", in: store, is: .integer(1), "after a failed transaction removed it")
        },
        Self("Changes that threads make under exclusive access are not lost.", requires: .threads) { trial, store in
            trial.onThreads(8, sharing: store) { store, _ in
                for _ in 0..<100 {
                    try store.withExclusiveAccess {
                        guard case .integer(let count) = store.storedValue(forKey: "count") ?? .integer(0) else {
                            return trial.note("The count is not a number.")
                        }
                        try store.setStoredValue(.integer(count + 1), forKey: "count")
                    }
                }
            }
            trial.expect("count", in: store, is: .integer(800), "after 8 threads counted to 100 each")
        },
        Self("Threads that change different keys don't disturb each other.", requires: .threads) { trial, store in
            trial.onThreads(8, sharing: store) { store, thread in
                for number in 0..<25 {
                    let key = "\(thread).\(number)"
                    try store.setStoredValue(.string(key), forKey: key)
                    try store.setStoredValue(.data(Data([UInt8(number)])), forKey: "\(thread)")
                    trial.expect(key, in: store, is: .string(key), "on the thread that set it")
                }
            }
            for thread in 0..<8 {
                trial.expect("\(thread)", in: store, is: .data(Data([24])), "after the threads ended")
                for number in 0..<25 {
                    let key = "\(thread).\(number)"
                    trial.expect(key, in: store, is: .string(key), "after the threads ended")
                }
            }
        },
        Self("Reads don't wait for exclusive access, writes only for its end.", requires: .threads) { trial, store in
            try store.setStoredValue(.integer(1), forKey: "k")
            trial.expectStop(from: "withExclusiveAccess") {
                try store.withExclusiveAccess {
                    trial.onThreads(2, sharing: store) { store, _ in
                        trial.expect("k", in: store, is: .integer(1), "on another thread")
                        let isListed = store.storedKeys().contains("k")
                        trial.expect(isListed, "storedKeys() on another thread doesn't list \"k\".")
                    }
                    throw Trial.Stop()
                }
            }
            trial.onThreads(2, sharing: store) { store, _ in
                try store.withExclusiveAccess { try store.setStoredValue(.integer(2), forKey: "k") }
            }
            trial.expect("k", in: store, is: .integer(2), "after other threads set the value")
        },
        Self("A plain write waits for another thread's exclusive access.", requires: .threads) { trial, store in
            let own = PropertyListValue.string("set under exclusive access")
            let foreign = PropertyListValue.string("set by another thread")
            // Several rounds, since nothing forces a store that doesn't wait to be noticed in one.
            for _ in 0..<20 {
                let hasOwnValue = DispatchSemaphore(value: 0)
                let otherIsWriting = DispatchSemaphore(value: 0)
                trial.onThreads(2, sharing: store) { store, thread in
                    guard thread == 0 else {
                        hasOwnValue.wait()
                        otherIsWriting.signal()
                        return try store.setStoredValue(foreign, forKey: "k")
                    }
                    defer { hasOwnValue.signal() }
                    try store.withExclusiveAccess {
                        try store.setStoredValue(own, forKey: "k")
                        hasOwnValue.signal()
                        otherIsWriting.wait()
                        let isDisturbed = (0..<200).contains { _ in store.storedValue(forKey: "k") != own }
                        trial.expect(!isDisturbed, "Another thread's value was there within exclusive access.")
                    }
                }
                trial.expect("k", in: store, is: foreign, "after the thread that waited has set it")
            }
        },
    ]
}
