import Default
import Foundation

extension PropertyListValue {
    /// A value in one of Foundation's formats; nil when the bytes are none.
    init?(serialized data: Data) {
        if BinaryPropertyListReader.isBinary(data) {
            guard let value = BinaryPropertyListReader.value(in: data) else {
                return nil
            }
            self = value
            return
        }
        guard let object = try? PropertyListSerialization.propertyList(from: data, format: nil),
            let value = try? PropertyListValue(object: object)
        else {
            return nil
        }
        self = value
    }

    /// A value of Foundation's types, converted as each store does it.
    init(object: Any) throws {
        let store = MemoryDefaults()
        try store.set(object, forKey: "value")
        guard let value = store.storedValue(forKey: "value") else {
            throw ToolError("A \(type(of: object)) is not a property-list value.")
        }
        self = value
    }

    /// The value in Foundation's types.
    func object() throws -> Any {
        let store = MemoryDefaults()
        try store.set(self, forKey: "value")
        guard let object = store.object(forKey: "value") else {
            throw ToolError("A value could not be read back.")
        }
        return object
    }
}
