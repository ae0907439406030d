import BenchmarkSupport
import Default
import Foundation

extension Registration {
    /// A settings type: in the standard store here, with a `JSONEncoder` by hand in the others.
    func addSettings() {
        addLibrarySettings()
        for (contender, synchronizes) in [(Contender.userDefaults, false), (.synchronized, true)] {
            addFoundationSettings(contender, synchronizes: synchronizes)
        }
        addSQLiteSettings()
        addPropertyListSettings()
    }

    private func addLibrarySettings() {
        add(.settingsRead, .library, count: 1_000) { keys in
            try Workspace.fillStandardStore(keys)
            try VisualSettings().save()
            return { _ in VisualSettings.read()?.recentCount ?? 0 }
        }
        add(.settingsWrite, .library, count: 200) { keys in
            try Workspace.fillStandardStore(keys)
            return {
                VisualSettings($0).write()
                return 0
            }
        }
        add(.settingsUpdate, .library, count: 100) { keys in
            try Workspace.fillStandardStore(keys)
            try VisualSettings().save()
            return { index in
                try VisualSettings.update { $0.recentCount = index % 64 }
                return 0
            }
        }
        add(.settingsReadAfterChange, .library, count: 200) { keys in
            try Workspace.fillStandardStore(keys)
            let store = StandardDefaults.standard
            let values = try Self.encodedSettings()
            return { index in
                try store.set(values[index % values.count], forKey: VisualSettings.defaultIdentifier)
                return VisualSettings.read()?.recentCount ?? 0
            }
        }
    }

    /// The values that the change before a read stores, encoded in advance.
    private static func encodedSettings() throws -> [Data] {
        try (0..<64).map { try JSONEncoder().encode(VisualSettings($0)) }
    }

    private func addFoundationSettings(_ contender: Contender, synchronizes: Bool) {
        add(.settingsWrite, contender, count: synchronizes ? 4 : 100) { keys in
            let defaults = try Workspace.foundation(keys, synchronizes: synchronizes)
            return {
                defaults.write(VisualSettings($0))
                return 0
            }
        }
        add(.settingsUpdate, contender, count: synchronizes ? 4 : 50) { keys in
            let defaults = try Workspace.foundation(keys, synchronizes: synchronizes)
            return { index in
                var settings = defaults.read() ?? VisualSettings()
                settings.recentCount = index % 64
                defaults.write(settings)
                return 0
            }
        }
        add(.settingsReadAfterChange, contender, count: synchronizes ? 4 : 50) { keys in
            let defaults = try Workspace.foundation(keys, synchronizes: synchronizes)
            let values = try Self.encodedSettings()
            return { index in
                defaults.set(values[index % values.count], "VisualSettings")
                return defaults.read()?.recentCount ?? 0
            }
        }
        if !synchronizes {
            add(.settingsRead, contender, count: 100) { keys in
                let defaults = try Workspace.foundation(keys, synchronizes: false)
                defaults.write(VisualSettings())
                return { _ in defaults.read()?.recentCount ?? 0 }
            }
        }
    }

    private func addSQLiteSettings() {
        add(.settingsRead, .sqlite, count: 100) { keys in
            let store = try Workspace.sqlite(keys)
            try store.write(VisualSettings())
            return { _ in try store.read()?.recentCount ?? 0 }
        }
        add(.settingsWrite, .sqlite, count: 50) { keys in
            let store = try Workspace.sqlite(keys)
            return {
                try store.write(VisualSettings($0))
                return 0
            }
        }
        add(.settingsUpdate, .sqlite, count: 50) { keys in
            let store = try Workspace.sqlite(keys)
            return { index in
                try store.update { $0.recentCount = index % 64 }
                return 0
            }
        }
        add(.settingsReadAfterChange, .sqlite, count: 50) { keys in
            let store = try Workspace.sqlite(keys)
            let values = try Self.encodedSettings()
            return { index in
                try store.set(values[index % values.count], "VisualSettings")
                return try store.read()?.recentCount ?? 0
            }
        }
    }

    private func addPropertyListSettings() {
        add(.settingsRead, .propertyList, count: 10) { keys in
            let file = try Workspace.propertyList(keys)
            try file.write(VisualSettings())
            return { _ in try file.read()?.recentCount ?? 0 }
        }
        add(.settingsWrite, .propertyList, count: 2) { keys in
            let file = try Workspace.propertyList(keys)
            return {
                try file.write(VisualSettings($0))
                return 0
            }
        }
    }
}
