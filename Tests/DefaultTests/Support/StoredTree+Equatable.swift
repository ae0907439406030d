@testable import Default

extension StoredTree: Equatable {
    static func == (one: StoredTree, other: StoredTree) -> Bool {
        switch (one, other) {
        case (.object(let one), .object(let other)): one == other
        case (.array(let one), .array(let other)): one == other
        case (.json(let one), .json(let other)): one == other
        case (.propertyList(let one), .propertyList(let other)): one == other
        default: false
        }
    }
}
