// type 'any DefaultsStore' does not conform to the 'Sendable' protocol
import Default

func share(_ store: any DefaultsStore) -> Defaults {
    Defaults(suite: store)
}
