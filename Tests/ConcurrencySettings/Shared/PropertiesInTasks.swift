// Only where declarations aren't isolated: the compiler doesn't accept `nonisolated` for wrapped properties.
import Default

struct Radio: Sendable {
    @Stored(.volume) var volume
    @Stored(.title) var title
}

let radio = Radio()

func storePropertiesInTasks() {
    Task.detached {
        radio.volume += 0.1
        radio.title = "Otto"
    }
    radio.title = radio.title.map { $0 + "!" }
}
