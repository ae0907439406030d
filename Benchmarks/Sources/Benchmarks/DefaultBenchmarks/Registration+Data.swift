import BenchmarkSupport
import Default
import Foundation

extension Registration {
    /// Raw bytes under a string.
    func addData() {
        addReading()
        addSetting(.dataSet, value: Raw.value(_:_:))
        addPaced()
        add(.dataSetSame, .library, count: 1_000) { keys in
            let suite = try Workspace.suite(keys)
            return {
                try suite.set(Raw.value, forKey: keys[$0 % keys.count])
                return 0
            }
        }
    }

    private func addReading() {
        add(.dataGet, .library, count: 10_000) { keys in
            let suite = try Workspace.suite(keys)
            return { suite.data(forKey: keys[$0 % keys.count])?.count ?? 0 }
        }
        add(.dataGet, .userDefaults, count: 200) { keys in
            let defaults = try Workspace.foundation(keys, synchronizes: false).defaults
            return { defaults.data(forKey: keys[$0 % keys.count])?.count ?? 0 }
        }
        add(.dataGet, .sqlite, count: 200) { keys in
            let store = try Workspace.sqlite(keys)
            return { try store.data(keys[$0 % keys.count])?.count ?? 0 }
        }
        add(.dataGet, .lmdb, count: 1_000) { keys in
            let store = try Workspace.lmdb(keys)
            return { try store.data(keys[$0 % keys.count])?.count ?? 0 }
        }
        add(.dataGet, .propertyList, count: 10) { keys in
            let file = try Workspace.propertyList(keys)
            return { (try file.load()[keys[$0 % keys.count]] as? Data)?.count ?? 0 }
        }
    }

    /// An occasional set, as programs make them: the data it needs has left the processor's caches, and nothing is
    /// prepared.
    private func addPaced() {
        add(.dataSetPaced, .library, each: 5_000) { keys in
            let suite = try Workspace.suite(keys)
            return { try suite.set(Raw.value($0, keys.count), forKey: keys[$0 % keys.count]) }
        }
        add(.dataSetPaced, .sqlite, each: 5_000) { keys in
            let store = try Workspace.sqlite(keys)
            return { try store.set(Raw.value($0, keys.count), keys[$0 % keys.count]) }
        }
        add(.dataSetPaced, .lmdb, each: 5_000) { keys in
            let store = try Workspace.lmdb(keys)
            return { try store.set(Raw.value($0, keys.count), keys[$0 % keys.count]) }
        }
    }

    /// Sets among growing numbers of keys, without the combinations that take seconds.
    func addGrowth() {
        for operation in [MeasuredOperation.growth10, .growth100, .growth1000, .growth10000, .growth100000] {
            addSetting(operation, value: Raw.value(_:_:))
        }
    }

    private func addSetting(_ operation: MeasuredOperation, value: @escaping (_ index: Int, _ keys: Int) -> Data) {
        add(operation, .library, count: 1_000) { keys in
            let suite = try Workspace.suite(keys)
            return {
                try suite.set(value($0, keys.count), forKey: keys[$0 % keys.count])
                return 0
            }
        }
        add(operation, .sqlite, count: 50) { keys in
            let store = try Workspace.sqlite(keys)
            return {
                try store.set(value($0, keys.count), keys[$0 % keys.count])
                return 0
            }
        }
        add(operation, .lmdb, count: 500) { keys in
            let store = try Workspace.lmdb(keys)
            return {
                try store.set(value($0, keys.count), keys[$0 % keys.count])
                return 0
            }
        }
        guard operation.keyCount <= 10_000 else { return }
        for (contender, synchronizes) in [(Contender.userDefaults, false), (.synchronized, true)] {
            let count = synchronizes ? max(1, 1_000 / operation.keyCount / 4) : 100
            add(operation, contender, count: count) { keys in
                let defaults = try Workspace.foundation(keys, synchronizes: synchronizes)
                return {
                    defaults.set(value($0, keys.count), keys[$0 % keys.count])
                    return 0
                }
            }
        }
        add(operation, .propertyList, count: 1) { keys in
            let file = try Workspace.propertyList(keys)
            return {
                try file.set(value($0, keys.count), keys[$0 % keys.count])
                return 0
            }
        }
    }
}
