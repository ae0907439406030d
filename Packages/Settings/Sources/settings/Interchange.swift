import ArgumentParser
import Default
import Foundation
import SettingsValues

/// A format in which a suite's contents leave one suite and enter another.
enum InterchangeFormat: String, ExpressibleByArgument, CaseIterable {
    /// Foundation's binary property lists, which lose no value.
    case binary
    /// Foundation's XML property lists, which lose fractions of seconds and the sign of zero.
    case xml
    /// JSON, with tags for what JSON lacks; loses nothing.
    case json

    /// The format that a file's name asks for.
    init?(fileName: String) {
        switch URL(filePath: fileName).pathExtension.lowercased() {
        case "json": self = .json
        case "xml": self = .xml
        case "plist": self = .binary
        default: return nil
        }
    }

    func encode(_ contents: SuiteContents) throws -> Data {
        switch self {
        case .binary:
            BinaryPropertyListWriter.data(try Self.distinct(contents).entries.map { ($0.key, $0.value) })
        case .xml:
            try Self.xml(contents)
        case .json: try contents.exactJSON
        }
    }

    /// The contents, unless two keys are equal as strings, which Foundation's property lists can't hold.
    private static func distinct(_ contents: SuiteContents) throws -> SuiteContents {
        var keys: Set<String> = []
        for entry in contents.entries where !keys.insert(entry.key).inserted {
            throw ToolError(
                """
                Two keys of this suite look the same, \(entry.key.debugDescription), and differ in their bytes only, which \
                property lists can't hold. Use --format json.
                """
            )
        }
        return contents
    }

    private static func xml(_ contents: SuiteContents) throws -> Data {
        var objects: [String: Any] = [:]
        for entry in try distinct(contents).entries {
            objects[entry.key] = entry.value.object
        }
        return try PropertyListSerialization.data(fromPropertyList: objects, format: .xml, options: 0)
    }
}

extension SuiteContents {
    /// Reads contents in whichever format they are.
    init(decoding data: Data) throws {
        if JSONText(parsing: data, maximumDepth: Self.maximumJSONDepth) != nil {
            self = try SuiteContents(exactJSON: data)
            return
        }
        guard !data.isEmpty else {
            throw ToolError("There is nothing to import: the input is empty.")
        }
        if BinaryPropertyListReader.isBinary(data) {
            guard let value = BinaryPropertyListReader.value(in: data) else {
                throw ToolError("The input is a property list that is damaged, or holds what no suite does.")
            }
            guard case .dictionary(let values) = value else { throw Self.noDictionary }
            self.init(entries: values.map { Entry(key: $0, value: $1) })
        } else {
            guard let object = PropertyListValue.object(serialized: data) else {
                let begin = data.first { !" \t\r\n".utf8.contains($0) }
                guard begin == UInt8(ascii: "{") || begin == UInt8(ascii: "[") else {
                    throw ToolError("The input is neither a property list nor JSON.")
                }
                let place = JSONText.placeOfFault(in: data, maximumDepth: Self.maximumJSONDepth)
                throw ToolError("The input is not JSON: look at \(place).")
            }
            guard let objects = object as? [String: Any] else { throw Self.noDictionary }
            self.init(entries: try objects.map { Entry(key: $0, value: try Self.value(of: $1, forKey: $0)) })
        }
    }

    private static func value(of object: Any, forKey key: String) throws -> PropertyListValue {
        do {
            return try PropertyListValue(object: object)
        } catch {
            throw ToolError("The value for \(key.debugDescription) can't be stored. \(error.reason).")
        }
    }

    private static var noDictionary: ToolError {
        ToolError("The input is a property list, but not a dictionary: a suite has values by their keys.")
    }
}
