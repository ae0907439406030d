// capture of 'store' with non-Sendable type 'any DefaultsStore' in a '@Sendable' closure
import Default

extension Defaults.Keys {
    static let volume = Key<Double>("volume")
}

func mute(_ store: any DefaultsStore) -> @Sendable () -> Void {
    { store[.volume] = 0 }
}
