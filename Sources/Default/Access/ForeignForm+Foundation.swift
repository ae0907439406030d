#if Foundation
internal import Foundation

extension ForeignForm {
    /// The own form of an archived URL, or of an archived array of URLs or other objects.
    static func archived(_ data: Data, as type: Any.Type, element: Any.Type?) -> PropertyListValue? {
        guard data.starts(with: "bplist"), BinaryPropertyList.isSafe(data) else { return nil }
        if type == URL.self {
            return (try? ObjectArchive.object(of: NSURL.self, in: data)).map(string(of:))
        }
        if element == URL.self { return objects(of: NSURL.self, in: data, form: string(of:)) }
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

    private static func string(of url: NSURL) -> PropertyListValue { (url as URL).propertyListValue }
}
#else
internal import FoundationEssentials

extension ForeignForm {
    /// Nil: only Foundation reads archives of objects.
    static func archived(_ data: Data, as type: Any.Type, element: Any.Type?) -> PropertyListValue? { nil }
}
#endif
