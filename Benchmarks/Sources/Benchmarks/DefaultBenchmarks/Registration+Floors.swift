import BenchmarkSupport
import Foundation

extension Registration {
    func addFloors() {
        add(.lookUp, .floor, count: 10_000) { keys in
            let table = LockedTable(keys)
            return { table.data(keys[$0 % keys.count])?.count ?? 0 }
        }
        add(.encode, .floor, count: 200) { _ in
            let encoder = JSONEncoder()
            return { try encoder.encode(VisualSettings($0)).count }
        }
        add(.decode, .floor, count: 200) { _ in
            let data = try JSONEncoder().encode(VisualSettings())
            let decoder = JSONDecoder()
            return { _ in try decoder.decode(VisualSettings.self, from: data).recentCount }
        }
        add(.lockedWrite, .floor, count: 1_000) { _ in
            let file = try LockedFile(path: Workspace.path("floor"))
            return { _ in
                file.append()
                return 0
            }
        }
        add(.lockedWritePaced, .floor, each: 5_000) { _ in
            let file = try LockedFile(path: Workspace.path("floor"))
            return { _ in file.append() }
        }
        add(.encodeAndLockedWrite, .floor, count: 200) { _ in
            let file = try LockedFile(path: Workspace.path("floor"))
            // The form in which settings are stored.
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return {
                let data = try encoder.encode(VisualSettings($0))
                file.append(data)
                return data.count
            }
        }
    }
}
