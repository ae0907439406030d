import BenchmarkSupport
import Default
import Foundation

extension Registration {
    /// The same operations by one thread and by two that share the store.
    func addThreads() {
        let reads = 1_000_000
        let pairs = [
            (1, MeasuredOperation.dataGetThreads1, MeasuredOperation.settingsReadThreads1),
            (2, MeasuredOperation.dataGetThreads2, MeasuredOperation.settingsReadThreads2),
        ]
        for (threads, dataGet, settingsRead) in pairs {
            addShared(threads, dataGet, .library, count: reads) { keys in
                let suite = try Workspace.suite(keys)
                return { suite.data(forKey: keys[$0 % keys.count])?.count ?? 0 }
            }
            addShared(threads, dataGet, .floor, count: reads) { keys in
                let table = LockedTable(keys)
                return { table.data(keys[$0 % keys.count])?.count ?? 0 }
            }
            addShared(threads, dataGet, .userDefaults, count: reads / 40) { keys in
                let defaults = try Workspace.foundation(keys, synchronizes: false)
                return { defaults.defaults.data(forKey: keys[$0 % keys.count])?.count ?? 0 }
            }
            addShared(threads, settingsRead, .library, count: reads / 20) { keys in
                try Workspace.fillStandardStore(keys)
                try VisualSettings().save()
                return { _ in VisualSettings.read()?.recentCount ?? 0 }
            }
            addShared(threads, settingsRead, .userDefaults, count: reads / 40) { keys in
                let defaults = try Workspace.foundation(keys, synchronizes: false)
                defaults.write(VisualSettings())
                return { _ in defaults.read()?.recentCount ?? 0 }
            }
        }
        addShared(2, .dataSetThreads2, .library, count: 20_000) { keys in
            let suite = try Workspace.suite(keys)
            return {
                try? suite.set(Raw.value($0, keys.count), forKey: keys[$0 % keys.count])
                return 0
            }
        }
    }

    private func addShared(
        _ threads: Int,
        _ operation: MeasuredOperation,
        _ contender: Contender,
        count: Int,
        _ prepare: @escaping (_ keys: [String]) throws -> @Sendable (_ index: Int) -> Int
    ) {
        addBatches(operation, contender, count: count) { keys in
            let step = try prepare(keys)
            return { _, indices in
                DispatchQueue.concurrentPerform(iterations: threads) { thread in
                    var sum = 0
                    for index in stride(from: indices.lowerBound + thread, to: indices.upperBound, by: threads) {
                        sum &+= step(index)
                    }
                    precondition(sum >= 0)
                }
                return 0
            }
        }
    }
}
