// cannot assign value of type 'String' to type 'Int'
import Default

extension PersistentStorage {
    var count: KeyValueContainer<Int> { makeContainer() }
}

func misuse(storage: PersistentStorage) {
    storage.count.value = "ten"
}
