// no exact matches in call to initializer
import Default

struct Unstorable: Sendable {}

let key = DefaultsKey<[[Unstorable]]>("key", default: [])
