internal import Foundation

extension StoredTree {
    init?(propertyList data: Data) {
        guard let object = try? PropertyListSerialization.propertyList(from: data, options: [], format: nil),
            let value = try? PropertyListValue(object)
        else {
            return nil
        }
        self.init(value)
    }

    init(_ value: PropertyListValue) {
        if case .dictionary(let entries) = value {
            self = .object(entries.mapValues { StoredTree($0) })
        } else {
            self = .propertyList(value)
        }
    }

    var propertyListData: Data? {
        guard let value = propertyListValue else {
            return nil
        }
        return try? PropertyListSerialization.data(fromPropertyList: value.object, format: .binary, options: 0)
    }

    private var propertyListValue: PropertyListValue? {
        switch self {
        case .json:
            return nil
        case .propertyList(let value):
            return value
        case .object(let fields):
            let entries = fields.compactMapValues(\.propertyListValue)
            return entries.count == fields.count ? .dictionary(entries) : nil
        }
    }
}
