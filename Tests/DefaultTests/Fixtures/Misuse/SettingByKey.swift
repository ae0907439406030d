// renamed to 'save(_:for:)'
import Default

extension Defaults.Keys { static let volume = Key<Double>("volume") }

Defaults.set(0.3, for: .volume)
