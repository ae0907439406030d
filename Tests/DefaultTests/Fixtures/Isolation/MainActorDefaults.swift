// Compiled where declarations are isolated to the main actor unless they say otherwise.
import Default

struct Item: Codable {
    var name = "a"
}

var changingItem = Item()
var changingCount = 3

extension Defaults.Keys {
    static let item = Key<Item>("item", default: changingItem)
    static let optionalItem = Key<Item?>("optionalItem", default: changingItem)
    static let count = Key<Int>("count", default: changingCount)
}
