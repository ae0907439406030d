// Compiled in Swift 6 mode: a storage goes into tasks.
import Default

let storage = PersistentStorage(suiteName: "isolation")!

func store(in storage: PersistentStorage) {
    Task.detached {
        storage.setValue(1, forKey: "count")
    }
    storage.setValue(2, forKey: "count")
}
