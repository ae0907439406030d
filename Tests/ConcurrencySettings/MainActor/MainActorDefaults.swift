// Compiled where declarations are isolated to the main actor unless they say otherwise.
import Default

struct ChangingItem: Codable {
    var name = "a"
}

var changingItem = ChangingItem()
var changingCount = 3

extension Defaults.Keys {
    static let otherItem = Key<ChangingItem>("otherItem", default: changingItem)
    static let optionalOtherItem = Key<ChangingItem?>("optionalOtherItem", default: changingItem)
    static let otherCount = Key<Int>("otherCount", default: changingCount)
}
