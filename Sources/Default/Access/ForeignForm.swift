#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

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
/// | JSON `Data` | a string of JSON | Defaults, AppStorage |
/// | JSON `Data` | property-list `Data` | `df` with a `PropertyListEncoder` |
/// | JSON `Data` | a number, Boolean or text, or the name of an enum's case | the type was another one |
/// | JSON `Data` of an array or a set | an array of elements in their own or a foreign form | Defaults |
/// | JSON `Data` of a dictionary | a dictionary of such elements; its keys are strings, also for numbers | Defaults |
/// | JSON `Data` of an object | a dictionary | a file of settings |
/// | raw value | a string of JSON | Defaults |
/// | raw value | JSON `Data` of an enum's case | the type had no raw values |
/// | string of a URL | a string of JSON | Defaults |
/// | string of a URL | an archived `NSURL` | `UserDefaults`, AppStorage, SwiftyUserDefaults |
/// | date | seconds since 2001, as a number or text; ISO 8601 | AppStorage |
/// | array, set or dictionary | a collection of elements in a foreign form | Defaults |
/// | array, set or dictionary | a string of JSON | AppStorage |
/// | array of URLs or objects | one archive of an array | SwiftyUserDefaults |
/// | any but `Data` | JSON or property-list `Data` | `df`, SwiftyUserDefaults, DefaultsKit; it was stored as JSON |
enum ForeignForm {
    /// Translates a value from a foreign form to the own one.
    ///
    /// - Parameters:
    ///   - stored: The stored value, which is not the own form of the type.
    ///   - bridge: How the type is stored.
    /// - Returns: What may be the own form; nil when the stored value is in no known form, or only a coder can read it.
    static func translate<Value>(_ stored: PropertyListValue, by bridge: ValueBridge<Value>) -> PropertyListValue? {
        guard !bridge.isExclusive else { return nil }
        let type = (Value.self as? any OptionalType.Type)?.wrappedType ?? Value.self
        return bridge.decodesData
            ? json(of: stored, as: type).map { .data(Data($0.utf8)) } : native(of: stored, as: type)
    }
}

// MARK: Types whose own form is JSON

extension ForeignForm {
    /// The JSON of a value in a foreign form.
    private static func json(of stored: PropertyListValue, as type: Any.Type) -> String? {
        switch stored {
        case .string(let text) where PropertyListValue.isJSON(Data(text.utf8)):
            return text
        case .string, .integer, .unsigned, .real, .boolean:
            return (type as? any Codable.Type).flatMap { json(ofScalar: stored, as: $0) }
        case .date:
            return nil
        case .data(let data):
            guard data.isPropertyList, let type = type as? any Codable.Type else { return nil }
            return decoded(type, from: data).flatMap { text(of: $0) }
        case .array(let values):
            guard let type = type as? any ForeignList.Type else { return nil }
            var elements: [String] = []
            for value in values {
                guard let element = elementJSON(of: value, as: type.element) else { return nil }
                elements.append(element)
            }
            return "[\(elements.joined(separator: ","))]"
        case .dictionary(let entries):
            guard let type = type as? any ForeignDictionary.Type else { return json(of: stored) }
            return object(of: entries, keys: type.key, elements: type.element)
        }
    }

    /// The JSON of an object in a file of settings: its strings, numbers and Booleans as they are.
    private static func json(of stored: PropertyListValue) -> String? {
        switch stored {
        case .dictionary(let entries):
            let members = entries.compactMap { name, value in json(of: value).map { "\(text(of: name) ?? ""):\($0)" } }
            return members.count == entries.count ? "{\(members.joined(separator: ","))}" : nil
        case .array(let values):
            let elements = values.compactMap { json(of: $0) }
            return elements.count == values.count ? "[\(elements.joined(separator: ","))]" : nil
        default:
            return (stored.object as? any Encodable).flatMap { text(of: $0) }
        }
    }

    /// The JSON of what the type was stored as before; nil when it can't be decoded as the type.
    private static func json<Value: Codable>(ofScalar stored: PropertyListValue, as type: Value.Type) -> String? {
        guard let scalar = (stored.object as? any Encodable).flatMap({ text(of: $0) }) else { return nil }
        if decoded(type, from: Data(scalar.utf8)) != nil { return scalar }
        // The raw value of a case that has none any more. A struct may take any object for its own.
        let enumCase = "{\(scalar):{}}"
        let value = decoded(type, from: Data(enumCase.utf8))
        return value.flatMap { Mirror(reflecting: $0).displayStyle == .enum ? enumCase : nil }
    }

    /// The JSON of an element of a collection, which may be in its own form.
    private static func elementJSON(of stored: PropertyListValue, as type: Any.Type) -> String? {
        let type = (type as? any OptionalType.Type)?.wrappedType ?? type
        guard let coded = type as? any Codable.Type else { return nil }
        return encoded(stored, as: coded) ?? json(of: stored, as: type)
    }

    /// The JSON of a value in the own form of a type that isn't stored as JSON.
    private static func encoded<Value: Codable>(_ stored: PropertyListValue, as type: Value.Type) -> String? {
        let bridge = ValueBridge<Value>.nested
        guard !bridge.decodesData, let value = try? bridge.decode(stored) else { return nil }
        return text(of: value)
    }

    /// The JSON of a dictionary; JSON has keys for strings and integers, and for other keys an array of keys and
    /// values.
    private static func object(
        of entries: [String: PropertyListValue],
        keys: any Codable.Type,
        elements: Any.Type
    ) -> String? {
        let isObject = isName(keys)
        var members: [String] = []
        for (key, stored) in entries {
            guard let value = elementJSON(of: stored, as: elements), let own = encoded(.string(key), as: keys) else {
                return nil
            }
            members.append(isObject ? "\(text(of: key) ?? ""):\(value)" : "\(own),\(value)")
        }
        let list = members.joined(separator: ",")
        return isObject ? "{\(list)}" : "[\(list)]"
    }

    /// Whether dictionaries with keys of a type are coded as objects.
    private static func isName<Key: Codable>(_ type: Key.Type) -> Bool {
        func isName<Name: Hashable & Codable>(_ type: Name.Type) -> Bool { ![Name: Int].isCodedInPairs }
        return (type as? any (Hashable & Codable).Type).map { isName($0) } ?? false
    }

    private static func text(of value: any Encodable) -> String? {
        (try? DefaultsCoder.json.encode(value)).flatMap { String(data: $0, encoding: .utf8) }
    }
}

// MARK: Types whose own form is a property-list value

extension ForeignForm {
    /// The own form of a value in a foreign form; nil when it is in no known form.
    private static func native(of stored: PropertyListValue, as type: Any.Type) -> PropertyListValue? {
        switch stored {
        case .array(let values):
            guard let type = type as? any ForeignList.Type else { return nil }
            return .array(values.map { element($0, as: type.element) })
        case .dictionary(let entries):
            guard let type = type as? any ForeignDictionary.Type else { return nil }
            return .dictionary(entries.mapValues { element($0, as: type.element) })
        case .data(let data):
            let element = (type as? any ForeignList.Type)?.element
            return archived(data, as: type, element: element)
                ?? (type as? any Codable.Type).flatMap { coded(data, as: $0) }
        case .string, .integer, .real:
            if type == Date.self { return date(of: stored) }
            if type == String.self { return stored.asString.map { .string($0) } }
            // No library stores strings, numbers and UUIDs as JSON in a string, so their text is not taken for it.
            guard case .string(let text) = stored, type == URL.self || !ValueSemantics.isLeaf(type),
                let type = type as? any Codable.Type
            else { return nil }
            return coded(Data(text.utf8), as: type)
        default:
            return nil
        }
    }

    /// An element in its own form, which it may have already.
    private static func element(_ stored: PropertyListValue, as type: Any.Type) -> PropertyListValue {
        func isOwn<Value: Codable>(_ type: Value.Type) -> Bool {
            (try? ValueBridge<Value>.nested.decode(stored)) != nil
        }
        if let type = type as? any Codable.Type, isOwn(type) { return stored }
        return native(of: stored, as: type) ?? stored
    }

    /// The own form of bytes that a built-in coder encoded.
    private static func coded<Value: Codable>(_ data: Data, as type: Value.Type) -> PropertyListValue? {
        if let value = decoded(type, from: data) {
            return try? ValueBridge<Value>.nested.encode(value)
        }
        // A case of an enum that had no raw values.
        guard type is any RawRepresentable.Type, let fields = StoredTree.parse(data)?.tree.fields,
            let (name, value) = fields.first, fields.count == 1, value.fields?.isEmpty == true
        else { return nil }
        return .string(name)
    }

    private static func decoded<Value: Decodable>(_ type: Value.Type, from data: Data) -> Value? {
        guard data.isPropertyList else { return try? DefaultsCoder.json.decodeTopLevel(type, from: data) }
        // An archive is a property list, but not of a type's properties.
        let isArchive = data.contains("$archiver")
        return isArchive ? nil : try? DefaultsCoder.propertyList.decodeTopLevel(type, from: data)
    }

    /// A date in seconds since 2001, or in ISO 8601.
    private static func date(of stored: PropertyListValue) -> PropertyListValue? {
        if case .string(let text) = stored, let date = try? Date.ISO8601FormatStyle().parse(text) {
            return .date(date)
        }
        // From 2032 on it is more likely to be a number of seconds since 1970, which nothing distinguishes from the
        // others.
        guard let seconds = Double(propertyListValue: stored), seconds.isFinite,
            seconds < Date.timeIntervalBetween1970AndReferenceDate
        else { return nil }
        return .date(Date(timeIntervalSinceReferenceDate: seconds))
    }
}

// MARK: Kinds of types

/// A collection that is stored as an array.
private protocol ForeignList {
    static var element: Any.Type { get }
}

private protocol ForeignDictionary {
    static var element: Any.Type { get }
    static var key: any Codable.Type { get }
}

extension Array: ForeignList {
    fileprivate static var element: Any.Type { Element.self }
}

extension Set: ForeignList {
    fileprivate static var element: Any.Type { Element.self }
}

extension Range: ForeignList {
    fileprivate static var element: Any.Type { Bound.self }
}

extension ClosedRange: ForeignList {
    fileprivate static var element: Any.Type { Bound.self }
}

extension Dictionary: ForeignDictionary where Key: Codable {
    fileprivate static var element: Any.Type { Value.self }
    fileprivate static var key: any Codable.Type { Key.self }
}
