package import Default
import Foundation

// How a suite's contents stand in JSON. What JSON lacks is an object whose one member begins with a dollar sign:
//
//     {"$data": "AQI="}      bytes, in Base64
//     {"$json": {"a": 1}}    bytes which are this JSON without white space; what settings types are stored as
//     {"$date": "2026-11-21T12:00:00Z"}, {"$date": 816955200.25}    seconds since 2001-01-01 where there is a fraction
//     {"$real": "nan"}       "nan", "inf" and "-inf"; other floating-point numbers have a fraction or an exponent
//     {"$dict": {"$a": 1}}   a dictionary that would look like one of these
extension JSONText {
    package init(_ contents: SuiteContents) {
        self = .object(contents.entries.map { Member(name: $0.key, value: JSONText(exact: $0.value)) })
    }

    package init(exact value: PropertyListValue) {
        switch value {
        case .string(let string): self = .string(string)
        case .boolean(let boolean): self = .boolean(boolean)
        case .integer(let integer): self = .number("\(integer)")
        case .unsigned(let unsigned): self = .number("\(unsigned)")
        case .real(let real): self = real.isFinite ? .number("\(real)") : .tagged("$real", .string("\(real)"))
        case .data(let data): self = JSONText(data)
        case .date(let date): self = JSONText(date)
        case .array(let elements): self = .array(elements.map { JSONText(exact: $0) })
        case .dictionary(let entries):
            let members = entries.sorted { $0.key < $1.key }.map {
                Member(name: $0.key, value: JSONText(exact: $0.value))
            }
            let looksTagged = members.count == 1 && members.allSatisfy { $0.name.hasPrefix("$") }
            self = looksTagged ? .tagged("$dict", .object(members)) : .object(members)
        }
    }

    private init(_ data: Data) {
        if let json = JSONText(parsing: data), json.compact.utf8.elementsEqual(data) {
            self = .tagged("$json", json)
        } else {
            self = .tagged("$data", .string(data.base64EncodedString()))
        }
    }

    private init(_ date: Date) {
        let seconds = date.timeIntervalSinceReferenceDate
        if Date(text: date.exactText)?.timeIntervalSinceReferenceDate.bitPattern == seconds.bitPattern {
            self = .tagged("$date", .string(date.exactText))
        } else {
            self = .tagged("$date", seconds.isFinite ? .number("\(seconds)") : .string("\(seconds)"))
        }
    }

    private static func tagged(_ tag: String, _ value: JSONText) -> JSONText {
        .object([Member(name: tag, value: value)])
    }
}

extension SuiteContents {
    /// How deep the JSON of a suite may nest: 256 levels of a value, each tagged, and JSON within it.
    package static let maximumJSONDepth = 1024

    package init(_ json: JSONText) throws {
        guard case .object(let members) = json else {
            throw ToolError("The input is JSON, but no object: a suite has values by their keys.")
        }
        entries = try members.map { Entry(key: $0.name, value: try PropertyListValue($0.value, at: $0.name)) }
    }
}

extension PropertyListValue {
    /// The value that JSON of an export has for a key.
    package init(exact json: JSONText) throws {
        try self.init(json, at: "the top")
    }

    fileprivate init(_ json: JSONText, at path: String) throws {
        switch json {
        case .null:
            throw ToolError("There is a null at \(path), which no suite holds.")
        case .boolean(let boolean):
            self = .boolean(boolean)
        case .number(let number):
            self = try Self.number(number, at: path)
        case .string(let string):
            self = .string(string)
        case .array(let elements):
            self = .array(try elements.enumerated().map { try Self($1, at: "\(path)[\($0)]") })
        case .object(let members):
            if members.count == 1, let member = members.first, member.name.hasPrefix("$") {
                self = try Self.tagged(member, at: path)
            } else {
                self = .dictionary(try Self.entries(of: members, at: path))
            }
        }
    }

    private static func entries(of members: [JSONText.Member], at path: String) throws -> [String: PropertyListValue] {
        var entries: [String: PropertyListValue] = [:]
        for member in members {
            entries[member.name] = try PropertyListValue(member.value, at: "\(path).\(member.name)")
        }
        return entries
    }

    private static func number(_ text: String, at path: String) throws -> PropertyListValue {
        if let integer = Int64(text), text != "-0" {
            return .integer(integer)
        }
        if let unsigned = UInt64(text) {
            return .unsigned(unsigned)
        }
        guard let real = Double(text), real.isFinite else {
            throw ToolError("The number at \(path) is out of range.")
        }
        return .real(real)
    }

    private static func tagged(_ member: JSONText.Member, at path: String) throws -> PropertyListValue {
        switch (member.name, member.value) {
        case ("$data", .string(let base64)):
            if let data = Data(base64Encoded: base64) {
                return .data(data)
            }
        case ("$json", let json):
            return .data(Data(json.compact.utf8))
        case ("$date", .string(let text)):
            if let date = Date(text: text) ?? Double(text).map(Date.init(timeIntervalSinceReferenceDate:)) {
                return .date(date)
            }
        case ("$date", .number(let number)):
            if let seconds = Double(number) {
                return .date(Date(timeIntervalSinceReferenceDate: seconds))
            }
        case ("$real", .string(let text)):
            if let real = Double(text) {
                return .real(real)
            }
        case ("$dict", .object(let members)):
            return .dictionary(try entries(of: members, at: path))
        default:
            return .dictionary(try entries(of: [member], at: path))
        }
        throw ToolError("The value of \(member.name) at \(path) can't be read.")
    }
}
