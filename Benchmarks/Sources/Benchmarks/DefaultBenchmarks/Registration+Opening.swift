import Benchmark
import BenchmarkSupport
import Default
import Foundation

extension Registration {
    /// Opening something that this process has not seen before, and reading one value.
    func addOpening() {
        addOpening(.open100000, .library, name: "suite") { keys in
            _ = try Workspace.suite(keys)
        } open: { url in
            let suite = try FileDefaults(url: url)
            return (suite, suite.data(forKey: "setting.1"))
        }
        for operation in [MeasuredOperation.open10, .open1000, .open10000] {
            addOpening(operation, .library, name: "suite") { keys in
                _ = try Workspace.suite(keys)
            } open: { url in
                let suite = try FileDefaults(url: url)
                return (suite, suite.data(forKey: "setting.1"))
            }
            addOpening(operation, .userDefaults, name: "foundation.plist", folder: ".config/") { keys in
                _ = try Workspace.foundation(keys, synchronizes: true)
            } open: { url in
                let defaults = UserDefaults(suiteName: url.deletingPathExtension().lastPathComponent)
                return (defaults as Any, defaults?.data(forKey: "setting.1"))
            }
            addOpening(operation, .sqlite, name: "settings.sqlite") { keys in
                try Workspace.sqlite(keys).close()
            } open: { url in
                let store = try SQLiteStore(path: url.path(percentEncoded: false))
                return (store, try store.data("setting.1"))
            }
            addOpening(operation, .lmdb, name: "settings.lmdb") { keys in
                _ = try Workspace.lmdb(keys)
            } open: { url in
                let store = try LMDBStore(path: url.path(percentEncoded: false))
                return (store, try store.data("setting.1"))
            }
            addOpening(operation, .propertyList, name: "settings.plist") { keys in
                _ = try Workspace.propertyList(keys)
            } open: { url in
                let values = try PropertyListFile(url: url).load()
                return (values, values["setting.1"] as? Data)
            }
        }
    }

    private func addOpening(
        _ operation: MeasuredOperation,
        _ contender: Contender,
        name: String,
        folder: String = "",
        make: @escaping (_ keys: [String]) throws -> Void,
        open: @escaping (_ url: URL) throws -> (store: Any, value: Data?)
    ) {
        addBatches(operation, contender, count: 1) { keys in
            try make(keys)
            let original = Workspace.url(folder + name)
            return { benchmark, indices in
                let copy = Workspace.url("\(folder)\(indices.lowerBound)-\(name)")
                try FileManager.default.copyItem(at: original, to: copy)
                defer { try? FileManager.default.removeItem(at: copy) }
                benchmark.startMeasurement()
                // The opened object is released only after the measurement, since a program keeps it.
                let opened = try open(copy)
                withExtendedLifetime(opened.store) { benchmark.stopMeasurement() }
                guard opened.value == Raw.value else { throw CocoaError(.fileReadCorruptFile) }
                return 1
            }
        }
    }
}
