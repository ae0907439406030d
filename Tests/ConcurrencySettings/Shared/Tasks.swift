// Compiled where declarations aren't isolated: what goes into tasks.
import Default

extension Defaults.Keys {
    static let volume = Key<Double>("volume")
    static let title = Key<String?>("title")
}

struct Radio: Sendable {
    @Stored(.volume) var volume
    @Stored(.title) var title
}

let suite = MemoryDefaults()
let radio = Radio()
let title = Stored(.title)

var settings: Defaults { Defaults(suite: suite) }

func storeInTasks() {
    Task.detached {
        storage.setValue(1, forKey: "count")
        storage.counter.value = 1
        settings[.volume] = 0.5
        radio.volume += 0.1
        title.wrappedValue = radio.title
    }
    storage.setValue(2, forKey: "count")
    storage.counter.value? += 1
    settings[.volume] -= 0.1
    radio.title = "Otto"
}

/// A property in a given store stays where it is.
func use(_ store: any DefaultsStore) {
    let volume: Stored<Double, any DefaultsStore> = Stored(.volume, suite: store)
    volume.wrappedValue += volume.projectedValue.storedValue(forKey: "volume") == nil ? 0.1 : 0
}
