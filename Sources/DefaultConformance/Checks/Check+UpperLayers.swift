internal import Default
internal import Foundation

extension Trial {
    enum Shade: String, Codable {
        case bright, dark
    }

    struct Window: DefaultStorable, Hashable {
        var title = "Main"
        var width = 800.5
        var shades: [Shade] = [.dark, .bright]
        var opened: Date? = Date(timeIntervalSinceReferenceDate: 5)
    }
}

// The layers above a store work on one that brings requirements of its own as on one that leaves them to their
// defaults.
extension StoreConformance.Check {
    static let ofUpperLayers: [Self] = [
        Self("df stores settings types and other Codable values as Data, loads and replaces them.") { trial, store in
            let key = Trial.Window.defaultIdentifier
            try store.df.save(Trial.Window(), forKey: key)
            let loaded = try store.df.load(forKey: key, type: Trial.Window.self)
            trial.expect(loaded, is: Trial.Window(), from: "df.load(forKey:type:) after df.save")
            let stored = store.storedValue(forKey: key)
            if case .data = stored {
            } else {
                trial.note("df.save stored \(Trial.describe(stored)), not .data.")
            }
            try store.df.save([1, 2], forKey: key, encoder: DefaultsCoder.propertyList)
            let numbers = try store.df.load(forKey: key, type: [Int].self, decoder: DefaultsCoder.propertyList)
            trial.expect(numbers, is: [1, 2], from: "df.load(forKey:type:) after another type was saved")
            try store.setStoredValue(nil, forKey: key)
            let removed = try store.df.load(forKey: key, type: [Int].self)
            trial.expect(removed, is: nil, from: "df.load(forKey:type:) after setStoredValue with nil")
            try store.setStoredValue(.string("text"), forKey: key)
            trial.expect(.typeMismatch, from: "df.load(forKey:type:) of a string that was set") {
                _ = try store.df.load(forKey: key, type: Trial.Window.self)
            }
        },
        Self("Typed keys store native values as they are, change them in place, and can be reset.") { trial, store in
            let count = Defaults.Key<Int>("count", default: 5)
            let shade = Defaults.Key<Trial.Shade>("shade", default: .bright)
            let names = Defaults.Key<[String]>("names", default: [])
            let window = Defaults.Key<Trial.Window?>("window")
            let defaults = Defaults(suite: store)
            trial.expect(try defaults.load(count), is: 5, from: "load(_:) of a key never set")
            defaults[count] += 1
            defaults[names].append("first")
            defaults[names].append("second")
            try defaults.save(.dark, for: shade)
            try defaults.save(Trial.Window(), for: window)
            trial.expect("count", in: store, is: .integer(6), "after a typed key was counted up")
            let both = PropertyListValue.array([.string("first"), .string("second")])
            trial.expect("names", in: store, is: both, "after a typed key was appended to")
            trial.expect("shade", in: store, is: .string("dark"), "after an enum was saved")
            trial.expect(try defaults.load(shade), is: Trial.Shade.dark, from: "load(_:) of an enum")
            trial.expect(try defaults.load(window), is: Trial.Window(), from: "load(_:) of a Codable type")
            try store.setStoredValue(.integer(41), forKey: "count")
            try defaults.update(count) { $0 += 1 }
            trial.expect(try defaults.load(count), is: 42, from: "load(_:) after setStoredValue and update")
            try defaults.save(nil, for: window)
            trial.expect("window", in: store, is: nil, "after a typed key was set to nil")
            trial.expect(defaults.exists(key: count), is: true, from: "exists(key:)")
            defaults.reset(count, names)
            trial.expect(defaults.exists(key: count), is: false, from: "exists(key:) after reset")
            trial.expect(try defaults.load(count), is: 5, from: "load(_:) after reset")
            trial.expect(try defaults.load(names), is: [String](), from: "load(_:) after reset")
        },
        Self("value(forKey:), setValue(_:forKey:) and containers share the store's values.") { trial, store in
            store.setValue(5, forKey: "number")
            store.setValue(Trial.Shade.dark, forKey: "shade")
            store.setValue(Trial.Window(), forKey: "window")
            trial.expect("number", in: store, is: .integer(5), "after setValue with an Int")
            trial.expect("shade", in: store, is: .string("dark"), "after setValue with an enum")
            let shade: Trial.Shade? = store.value(forKey: "shade")
            trial.expect(shade, is: Trial.Shade.dark, from: "value(forKey:) for an enum")
            let window: Trial.Window? = store.value(forKey: "window")
            trial.expect(window, is: Trial.Window(), from: "value(forKey:) for a Codable type")
            try store.setStoredValue(.string("text"), forKey: "string")
            let string: String? = store.value(forKey: "string")
            trial.expect(string, is: "text", from: "value(forKey:) after setStoredValue")

            let container = KeyValueContainer<Int>(storage: store, key: "number")
            container.value? += 1
            try container.update { $0 = $0.map { $0 * 2 } }
            trial.expect(container.value, is: 12, from: "A container's value after two changes")
            trial.expect("number", in: store, is: .integer(12), "after a container's changes")
            container.remove()
            trial.expect("number", in: store, is: nil, "after a container's removal")
            store.setValue(nil as String?, forKey: "string")
            trial.expect("string", in: store, is: nil, "after setValue with nil")
        },
    ]
}
