// The default belongs to the key
import Default

extension Defaults.Keys { static let volume = Key<Double>("volume") }

print(Defaults[.volume, default: 0.5])
