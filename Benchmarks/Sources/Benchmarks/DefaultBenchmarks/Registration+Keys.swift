import BenchmarkSupport
import Default
import Foundation

extension Registration {
    /// A counter under a typed key.
    func addKeys() {
        addLibraryKeys()
        for (contender, synchronizes) in [(Contender.userDefaults, false), (.synchronized, true)] {
            addFoundationKeys(contender, synchronizes: synchronizes)
        }
        addSQLiteKeys()
        addPropertyListKeys()
    }

    private func addLibraryKeys() {
        add(.keyGet, .library, count: 1_000) { keys in
            try Workspace.fillStandardStore(keys)
            Defaults[.launchCount] = 7
            return { _ in Defaults[.launchCount] }
        }
        add(.keySet, .library, count: 1_000) { keys in
            try Workspace.fillStandardStore(keys)
            return {
                Defaults[.launchCount] = $0
                return 0
            }
        }
        add(.keyIncrement, .library, count: 1_000) { keys in
            try Workspace.fillStandardStore(keys)
            return { _ in
                Defaults[.launchCount] += 1
                return 0
            }
        }
    }

    private func addFoundationKeys(_ contender: Contender, synchronizes: Bool) {
        if !synchronizes {
            add(.keyGet, contender, count: 200) { keys in
                let defaults = try Workspace.foundation(keys, synchronizes: false).defaults
                defaults.set(7, forKey: "launchCount")
                return { _ in defaults.integer(forKey: "launchCount") }
            }
        }
        add(.keySet, contender, count: synchronizes ? 4 : 100) { keys in
            let defaults = try Workspace.foundation(keys, synchronizes: synchronizes)
            return {
                defaults.set($0, "launchCount")
                return 0
            }
        }
        add(.keyIncrement, contender, count: synchronizes ? 4 : 100) { keys in
            let defaults = try Workspace.foundation(keys, synchronizes: synchronizes)
            return { _ in
                defaults.set(defaults.defaults.integer(forKey: "launchCount") + 1, "launchCount")
                return 0
            }
        }
    }

    private func addSQLiteKeys() {
        add(.keyGet, .sqlite, count: 200) { keys in
            let store = try Workspace.sqlite(keys)
            try store.set(7, "launchCount")
            return { _ in try store.integer("launchCount") ?? 0 }
        }
        add(.keySet, .sqlite, count: 50) { keys in
            let store = try Workspace.sqlite(keys)
            return {
                try store.set($0, "launchCount")
                return 0
            }
        }
        add(.keyIncrement, .sqlite, count: 50) { keys in
            let store = try Workspace.sqlite(keys)
            return { _ in
                try store.increment("launchCount")
                return 0
            }
        }
    }

    private func addPropertyListKeys() {
        add(.keyGet, .propertyList, count: 10) { keys in
            let file = try Workspace.propertyList(keys)
            try file.set(7, "launchCount")
            return { _ in try file.load()["launchCount"] as? Int ?? 0 }
        }
        add(.keySet, .propertyList, count: 2) { keys in
            let file = try Workspace.propertyList(keys)
            return {
                try file.set($0, "launchCount")
                return 0
            }
        }
    }
}
