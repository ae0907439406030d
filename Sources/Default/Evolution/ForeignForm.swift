internal import Foundation

/// The forms in which other libraries store values, read by typed keys and containers whose own form isn't there.
///
/// A value in a foreign form is translated to this library's own form, which is then decoded as usual; so what can't be
/// decoded as the type is never used. It stays stored until the next write replaces it with the own form, and is not
/// quarantined then, because nothing is lost.
///
/// Nothing here runs unless the stored value could not be decoded as the own form. So an own form is never taken for a
/// foreign one. <doc:ComingFromOtherLibraries> says for each form why it can't be mistaken for another. The forms:
///
/// | own form | foreign form | stored by |
/// | --- | --- | --- |
/// | JSON `Data` | a string of JSON | Defaults |
/// | JSON `Data` of an array or a set | an array of elements in their own or a foreign form | Defaults |
/// | JSON `Data` of a dictionary | a dictionary of such elements; its keys are strings, also for number keys | Defaults |
/// | raw value | a string of JSON | Defaults |
/// | string of a URL | a string of JSON | Defaults |
/// | string of a URL | an archived `NSURL` | `UserDefaults`, AppStorage, SwiftyUserDefaults |
/// | array, set or dictionary | a collection of elements in a foreign form | Defaults |
/// | array, set or dictionary | JSON `Data` | SwiftyUserDefaults |
/// | array of URLs or objects | one archive of an array | SwiftyUserDefaults |
enum ForeignForm {
    /// Translates a value from a foreign form to the own one.
    ///
    /// - Parameters:
    ///   - stored: The stored value, which is not the own form of the type.
    ///   - bridge: How the type is stored.
    /// - Returns: What may be the own form; nil when the stored value is in no known form, or only a coder can read it.
    static func translate<Value>(_ stored: PropertyListValue, by bridge: ValueBridge<Value>) -> PropertyListValue? {
        guard !bridge.isExclusive else { return nil }
        let type = (Value.self as? any ForeignOptional.Type)?.wrapped ?? Value.self
        return bridge.decodesData
            ? json(of: stored, as: type).map { .data(Data($0.utf8)) } : native(of: stored, as: type)
    }
}

// MARK: Types whose own form is JSON

extension ForeignForm {
    /// The JSON of a value in a foreign form.
    private static func json(of stored: PropertyListValue, as type: Any.Type) -> String? {
        switch stored {
        case .string(let text):
            return isJSON(text) ? text : nil
        case .array(let values):
            guard let type = type as? any ForeignList.Type else { return nil }
            return array(of: values.map { elementJSON(of: $0, as: type.element) })
        case .dictionary(let entries):
            guard let type = type as? any ForeignDictionary.Type else { return nil }
            let values = entries.map { (key: $0.key, value: elementJSON(of: $0.value, as: type.element)) }
            return object(of: values, keys: type.key)
        default:
            return nil
        }
    }

    /// The JSON of an element of a collection, which may be in its own form.
    private static func elementJSON(of stored: PropertyListValue, as type: Any.Type) -> String? {
        let type = (type as? any ForeignOptional.Type)?.wrapped ?? type
        guard let coded = type as? any Codable.Type else { return nil }
        return encoded(stored, as: coded) ?? json(of: stored, as: type)
    }

    /// The JSON of a value in the own form of a type that isn't stored as JSON.
    private static func encoded<Value: Codable>(_ stored: PropertyListValue, as type: Value.Type) -> String? {
        let bridge = ValueBridge<Value>.storedInside()
        guard !bridge.decodesData, let value = try? bridge.decode(stored) else { return nil }
        return text(of: value)
    }

    private static func array(of elements: [String?]) -> String? {
        let known = elements.compactMap(\.self)
        return known.count == elements.count ? "[\(known.joined(separator: ","))]" : nil
    }

    /// The JSON of a dictionary; JSON has keys for strings and integers, and for other keys an array of keys and values.
    private static func object(of entries: [(key: String, value: String?)], keys: any Codable.Type) -> String? {
        var members: [String?] = []
        let isObject = keys == String.self || keys == Int.self
        for (key, value) in entries {
            guard let value, let known = encoded(.string(key), as: keys) else { return nil }
            members += isObject ? ["\(text(of: key) ?? ""):\(value)"] : [known, value]
        }
        return isObject ? "{\(members.compactMap(\.self).joined(separator: ","))}" : array(of: members)
    }

    private static func text(of value: some Encodable) -> String? {
        (try? DefaultsCoder.json.encode(value)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether a text is one value in JSON, so that it may become a part of another.
    private static func isJSON(_ text: String) -> Bool {
        (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) != nil
    }
}

// MARK: Types whose own form is a property-list value

extension ForeignForm {
    /// The own form of a value in a foreign form; nil when it is in no known form.
    private static func native(of stored: PropertyListValue, as type: Any.Type) -> PropertyListValue? {
        if case .data(let data) = stored, let value = archived(data, as: type) {
            return value
        }
        switch stored {
        case .array(let values):
            guard let type = type as? any ForeignList.Type else { return nil }
            return .array(values.map { element($0, as: type.element) })
        case .dictionary(let entries):
            guard let type = type as? any ForeignDictionary.Type else { return nil }
            return .dictionary(entries.mapValues { element($0, as: type.element) })
        case .data(let data):
            guard type is any ForeignCollection.Type, let type = type as? any Codable.Type else { return nil }
            return fromJSON(data, as: type)
        case .string(let text):
            // No library stores strings, numbers, dates and UUIDs in JSON, so their text is not taken for it.
            guard type == URL.self || !ValueSemantics.isLeaf(type), !(type is any ForeignCollection.Type),
                let type = type as? any Codable.Type
            else { return nil }
            return fromJSON(Data(text.utf8), as: type)
        default:
            return nil
        }
    }

    /// An element in its own form, which it may have already.
    private static func element(_ stored: PropertyListValue, as type: Any.Type) -> PropertyListValue {
        func isOwn<Value: Codable>(_ type: Value.Type) -> Bool {
            (try? ValueBridge<Value>.storedInside().decode(stored)) != nil
        }
        if let type = type as? any Codable.Type, isOwn(type) {
            return stored
        }
        return native(of: stored, as: type) ?? stored
    }

    private static func fromJSON<Value: Codable>(_ data: Data, as type: Value.Type) -> PropertyListValue? {
        guard let value = try? DefaultsCoder.json.decode(type, from: data) else { return nil }
        return try? ValueBridge<Value>.storedInside().encode(value)
    }

    /// The own form of an archived URL, or of an archived array of URLs or other objects.
    private static func archived(_ data: Data, as type: Any.Type) -> PropertyListValue? {
        guard data.starts(with: Data("bplist".utf8)), BinaryPropertyList.isSafe(data) else { return nil }
        if type == URL.self {
            return (try? ObjectArchive.object(of: NSURL.self, in: data)).map(string(of:))
        }
        guard let element = (type as? any ForeignList.Type)?.element else { return nil }
        if element == URL.self {
            return objects(of: NSURL.self, in: data, form: string(of:))
        }
        return (element as? any (NSObject & NSSecureCoding).Type).flatMap { list(of: $0, in: data) }
    }

    private static func list<Object: NSObject & NSSecureCoding>(
        of type: Object.Type,
        in data: Data
    ) -> PropertyListValue? {
        objects(of: type, in: data, form: ValueBridge<Object>.object.encode)
    }

    private static func objects<Object: NSObject & NSSecureCoding>(
        of type: Object.Type,
        in data: Data,
        form: (Object) throws -> PropertyListValue?
    ) -> PropertyListValue? {
        (try? ObjectArchive.objects(of: type, in: data).compactMap(form)).map { .array($0) }
    }

    private static func string(of url: NSURL) -> PropertyListValue {
        (url as URL).propertyListValue
    }
}

// MARK: Kinds of types

private protocol ForeignOptional {
    static var wrapped: Any.Type { get }
}

private protocol ForeignCollection {
    static var element: Any.Type { get }
}

/// A collection that is stored as an array.
private protocol ForeignList: ForeignCollection {}

private protocol ForeignDictionary: ForeignCollection {
    static var key: any Codable.Type { get }
}

extension Optional: ForeignOptional {
    fileprivate static var wrapped: Any.Type { Wrapped.self }
}

extension Array: ForeignCollection, ForeignList {
    fileprivate static var element: Any.Type { Element.self }
}

extension Set: ForeignCollection, ForeignList {
    fileprivate static var element: Any.Type { Element.self }
}

extension Range: ForeignCollection, ForeignList {
    fileprivate static var element: Any.Type { Bound.self }
}

extension ClosedRange: ForeignCollection, ForeignList {
    fileprivate static var element: Any.Type { Bound.self }
}

extension Dictionary: ForeignCollection, ForeignDictionary where Key: Codable {
    fileprivate static var element: Any.Type { Value.self }
    fileprivate static var key: any Codable.Type { Key.self }
}
