#if Foundation
internal import Foundation

extension ValueBridge where Value: NSObject & NSSecureCoding {
    /// Stores Foundation's property-list classes as property-list values, and objects of other classes as keyed
    /// archives.
    static var object: ValueBridge { propertyListObject ?? archive }

    /// The bridge for a class of property-list objects; nil for other classes, mutable ones included.
    private static var propertyListObject: ValueBridge? {
        let make: (PropertyListValue) -> NSObject?
        switch ObjectIdentifier(Value.self) {
        case ObjectIdentifier(NSString.self):
            make = { if case .string(let string) = $0 { string as NSString } else { nil } }
        case ObjectIdentifier(NSNumber.self):
            make = \.asNumber
        case ObjectIdentifier(NSData.self):
            make = { if case .data(let data) = $0 { data as NSData } else { nil } }
        case ObjectIdentifier(NSDate.self):
            make = { if case .date(let date) = $0 { date as NSDate } else { nil } }
        case ObjectIdentifier(NSArray.self):
            make = { if case .array(let values) = $0 { values.map(\.object) as NSArray } else { nil } }
        case ObjectIdentifier(NSDictionary.self):
            make = {
                if case .dictionary(let entries) = $0 { entries.mapValues(\.object) as NSDictionary } else { nil }
            }
        default:
            return nil
        }
        return ValueBridge(
            encode: { try PropertyListValue(object: $0) },
            decode: { try require(make($0) as? Value) }
        )
    }

    /// Stores a value as a keyed archive; only this class and its subclasses are unarchived.
    private static var archive: ValueBridge {
        ValueBridge(
            encode: { .data(try ObjectArchive.data(of: $0)) },
            decode: { try ObjectArchive.object(of: Value.self, in: require(Data(propertyListValue: $0))) }
        )
    }
}

/// Keyed archives of objects.
enum ObjectArchive {
    /// Archives an object.
    ///
    /// - Throws: `EncodingError` if an object in the graph is of a class that Foundation can't name, or does not
    ///   support secure coding. Foundation would end the process.
    static func data(of object: NSObject) throws -> Data {
        #if canImport(Darwin)
        return try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
        #else
        let inspector = Inspector()
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.delegate = inspector
        let data = withExtendedLifetime(inspector) {
            archiver.encode(object, forKey: NSKeyedArchiveRootObjectKey)
            archiver.finishEncoding()
            return archiver.encodedData
        }
        if let type = inspector.unsupported {
            let context = EncodingError.Context(
                codingPath: [],
                debugDescription:
                    "Foundation can't archive a \(type): it has to be a top-level class that isn't private."
            )
            throw EncodingError.invalidValue(object, context)
        }
        return data
        #endif
    }

    /// Unarchives an object of a class or one of its subclasses.
    ///
    /// - Throws: An error of Foundation; `CocoaError` when the archive is of another class.
    static func object<Object: NSObject & NSSecureCoding>(of type: Object.Type, in data: Data) throws -> Object {
        #if !canImport(Darwin)
        // Foundation ends the process when it finds an object of another class.
        if try !canName(type) || rootClass(of: data).map({ !($0 is Object.Type) }) ?? false {
            throw CocoaError(.coderReadCorrupt)
        }
        #endif
        guard let object = try NSKeyedUnarchiver.unarchivedObject(ofClass: type, from: data) else {
            throw CocoaError(.coderValueNotFound)
        }
        return object
    }

    /// Unarchives an array of objects of a class or its subclasses.
    ///
    /// - Throws: An error of Foundation; `CocoaError` when the archive is of anything else.
    static func objects<Object: NSObject & NSSecureCoding>(of type: Object.Type, in data: Data) throws -> [Object] {
        #if !canImport(Darwin)
        let elements = try archivedClasses(in: data).filter { !($0 is NSArray.Type) }
        guard canName(type), try rootClass(of: data) is NSArray.Type,
            elements.allSatisfy({ $0 is Object.Type || $0 is NSString.Type })
        else { throw CocoaError(.coderReadCorrupt) }
        #endif
        let array = try NSKeyedUnarchiver.unarchivedObject(ofClasses: [NSArray.self, type], from: data)
        guard let array = array as? [Any] else { throw CocoaError(.coderReadCorrupt) }
        return try array.map { object in
            guard let object = object as? Object else { throw CocoaError(.coderReadCorrupt) }
            return object
        }
    }

    #if !canImport(Darwin)
    /// Whether Foundation has a name for a class; private, nested and generic classes have none.
    fileprivate static func canName(_ type: AnyClass) -> Bool {
        String(reflecting: type).split(separator: ".", omittingEmptySubsequences: false).count == 2
    }

    /// The classes of all archived objects.
    private static func archivedClasses(in data: Data) throws -> [AnyClass] {
        let archive = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
        let names = (archive?["$objects"] as? [Any] ?? []).compactMap {
            ($0 as? [String: Any])?["$classname"] as? String
        }
        return names.compactMap { NSClassFromString($0) }
    }

    /// The class of the archived object; nil for a string or a number, and when it can't be found out.
    ///
    /// - Throws: `CocoaError` when an object refers to a class that isn't there. Foundation would end the process.
    private static func rootClass(of data: Data) throws -> AnyClass? {
        guard let archive = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any],
            let objects = archive["$objects"] as? [Any]
        else { return nil }
        let classes = objects.compactMap { ($0 as? [String: Any])?["$class"] }
        guard classes.allSatisfy({ object($0, in: objects) != nil }) else { throw CocoaError(.coderReadCorrupt) }
        guard let top = archive["$top"] as? [String: Any],
            let root = object(top[NSKeyedArchiveRootObjectKey], in: objects),
            let name = object(root["$class"], in: objects)?["$classname"] as? String
        else { return nil }
        return NSClassFromString(name)
    }

    /// The object that a reference in an archive refers to.
    private static func object(_ reference: Any?, in objects: [Any]) -> [String: Any]? {
        // Foundation's type of references is not public.
        guard let reference, let value = Mirror(reflecting: reference).children.first(where: { $0.label == "value" }),
            let index = (value.value as? UInt32).map(Int.init), objects.indices.contains(index)
        else { return nil }
        return objects[index] as? [String: Any]
    }
    #endif
}

#if !canImport(Darwin)
/// Replaces the objects that Foundation would end the process for.
private final class Inspector: NSObject, NSKeyedArchiverDelegate {
    /// The class of such an object.
    private(set) var unsupported: Any.Type?

    func archiver(_ archiver: NSKeyedArchiver, didEncode object: Any?) {}
    func archiver(_ archiver: NSKeyedArchiver, willReplace object: Any?, withObject newObject: Any?) {}
    func archiverWillFinish(_ archiver: NSKeyedArchiver) {}
    func archiverDidFinish(_ archiver: NSKeyedArchiver) {}

    func archiver(_ archiver: NSKeyedArchiver, willEncode object: Any) -> Any? {
        guard let object = object as? NSObject else { return object }
        let isSecure = ((object as? any NSSecureCoding).map { type(of: $0).supportsSecureCoding }) ?? false
        if isSecure, ObjectArchive.canName(object.classForKeyedArchiver ?? type(of: object)),
            Self.superclasses(of: object).allSatisfy(ObjectArchive.canName)
        {
            return object
        }
        unsupported = type(of: object)
        return NSString()
    }

    private static func superclasses(of object: NSObject) -> [AnyClass] {
        sequence(first: Mirror(reflecting: object), next: \.superclassMirror).compactMap { $0.subjectType as? AnyClass }
    }
}
#endif
#endif
