import Benchmark
import BenchmarkSupport
import Default
import Foundation

extension Registration {
    /// Opening something that this process has not seen before, and reading one value.
    func addOpening() {
        for operation in [MeasuredOperation.open10, .open1000, .open10000] {
            addOpening(operation, .library, name: "suite") { keys in
                _ = try Workspace.suite(keys)
            } open: { url in
                try FileDefaults(url: url).data(forKey: "setting.1")
            }
            addOpening(operation, .userDefaults, name: "foundation.plist", folder: ".config/") { keys in
                _ = try Workspace.foundation(keys, synchronizes: true)
            } open: { url in
                UserDefaults(suiteName: url.deletingPathExtension().lastPathComponent)?.data(forKey: "setting.1")
            }
            addOpening(operation, .sqlite, name: "settings.sqlite") { keys in
                try Workspace.sqlite(keys).close()
            } open: { url in
                try SQLiteStore(path: url.path(percentEncoded: false)).data("setting.1")
            }
            addOpening(operation, .propertyList, name: "settings.plist") { keys in
                _ = try Workspace.propertyList(keys)
            } open: { url in
                try PropertyListFile(url: url).load()["setting.1"] as? Data
            }
        }
    }

    private func addOpening(
        _ operation: MeasuredOperation,
        _ contender: Contender,
        name: String,
        folder: String = "",
        make: @escaping (_ keys: [String]) throws -> Void,
        open: @escaping (_ url: URL) throws -> Data?
    ) {
        addBatches(operation, contender, count: 1) { keys in
            try make(keys)
            let original = Workspace.url(folder + name)
            return { benchmark, indices in
                let copy = Workspace.url("\(folder)\(indices.lowerBound)-\(name)")
                try FileManager.default.copyItem(at: original, to: copy)
                defer { try? FileManager.default.removeItem(at: copy) }
                benchmark.startMeasurement()
                let value = try open(copy)
                benchmark.stopMeasurement()
                guard value == Raw.value else { throw CocoaError(.fileReadCorruptFile) }
                return 1
            }
        }
    }
}
