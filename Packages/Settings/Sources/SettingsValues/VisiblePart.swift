package import Default
import Foundation

/// The part of a value that may be shown.
package enum VisiblePart<Value> {
    case all
    /// The value without what is hidden in it.
    case rest(Value)
    case nothing

    func map<Other>(_ transform: (Value) -> Other) -> VisiblePart<Other> {
        switch self {
        case .all: .all
        case .rest(let value): .rest(transform(value))
        case .nothing: .nothing
        }
    }

    /// What may be shown of the whole value; nil for nothing.
    package func value(of whole: Value) -> Value? {
        switch self {
        case .all: whole
        case .rest(let value): value
        case .nothing: nil
        }
    }

    /// What is shown instead of the value; nil if that is the value itself.
    package func replacement(for nothing: Value) -> Value? {
        switch self {
        case .all: nil
        case .rest(let value): value
        case .nothing: nothing
        }
    }
}

/// What happens to hidden values within a value.
package enum HiddenTreatment {
    /// A string takes their place.
    case replaced
    /// They are left out.
    case omitted
}

extension KeyPatterns {
    /// The value without what is hidden in it, or a string in its place; nil if nothing is hidden.
    package func redacted(_ value: PropertyListValue) -> PropertyListValue? {
        visiblePart(of: value, .replaced).replacement(for: .string(Self.placeholder))
    }

    /// The same for JSON.
    package func redacted(_ json: JSONText) -> JSONText? {
        visiblePart(of: json, .replaced).replacement(for: .string(Self.placeholder))
    }

    /// The same for a string, which may hold JSON as well.
    package func redacted(_ string: String) -> String? {
        visiblePart(of: string, .replaced).replacement(for: Self.placeholder)
    }

    /// What is not hidden of the value for a key; see ``visiblePart(of:_:level:)``.
    package func visiblePart(
        of value: PropertyListValue,
        forKey key: String,
        _ treatment: HiddenTreatment
    ) -> VisiblePart<PropertyListValue> {
        matches(key) ? .nothing : visiblePart(of: value, treatment)
    }

    /// What is not hidden of a value, within whatever bytes and strings it has.
    ///
    /// This looks into all that is shown as more than bytes; see ``DataContents``. What it can't look into is hidden.
    package func visiblePart(
        of value: PropertyListValue,
        _ treatment: HiddenTreatment,
        level: Int = 0
    ) -> VisiblePart<PropertyListValue> {
        guard !patterns.isEmpty else { return .all }
        func part(of value: PropertyListValue) -> VisiblePart<PropertyListValue> {
            visiblePart(of: value, treatment, level: level)
        }
        let placeholder = treatment == .replaced ? PropertyListValue.string(Self.placeholder) : nil
        switch value {
        case .array(let elements):
            let unnamed = elements.map { (key: String?.none, value: $0) }
            return visibleEntries(unnamed, placeholder, part).map { .array($0.map(\.value)) }
        case .dictionary(let entries):
            return visibleEntries(Array(entries), placeholder, part).map { rest in
                .dictionary(Dictionary(uniqueKeysWithValues: rest))
            }
        case .data(let data):
            switch DataContents(data, level: level) {
            case .json(let json):
                return visiblePart(of: json, treatment, level: level + 1).map { .data(Data($0.compact.utf8)) }
            case .propertyList(let value):
                return visiblePart(of: value, treatment, level: level + 1).map {
                    .data(BinaryPropertyListWriter.data($0))
                }
            case .unreadable: return .nothing
            case .bytes: return .all
            }
        case .string(let string):
            return visiblePart(of: string, treatment, level: level).map { .string($0) }
        case .boolean, .integer, .unsigned, .real, .date:
            return .all
        }
    }

    /// What is not hidden of JSON.
    package func visiblePart(of json: JSONText, _ treatment: HiddenTreatment, level: Int = 0) -> VisiblePart<JSONText> {
        guard !patterns.isEmpty else { return .all }
        func part(of json: JSONText) -> VisiblePart<JSONText> { visiblePart(of: json, treatment, level: level) }
        let placeholder = treatment == .replaced ? JSONText.string(Self.placeholder) : nil
        switch json {
        case .array(let elements):
            let unnamed = elements.map { (key: String?.none, value: $0) }
            return visibleEntries(unnamed, placeholder, part).map { .array($0.map(\.value)) }
        case .object(let members):
            return visibleEntries(members.map { ($0.name, $0.value) }, placeholder, part).map { rest in
                .object(rest.map { JSONText.Member(name: $0, value: $1) })
            }
        case .string(let string):
            return visiblePart(of: string, treatment, level: level).map { .string($0) }
        case .null, .boolean, .number:
            return .all
        }
    }

    private func visiblePart(of string: String, _ treatment: HiddenTreatment, level: Int = 0) -> VisiblePart<String> {
        guard !patterns.isEmpty else { return .all }
        switch DataContents(Data(string.utf8), level: level) {
        case .json(let json):
            return visiblePart(of: json, treatment, level: level + 1).map(\.compact)
        case .propertyList(let value):
            // As a string it would have to be in XML again, which may not hold all that it holds now.
            return if case .all = visiblePart(of: value, treatment, level: level + 1) { .all } else { .nothing }
        case .unreadable:
            // Other texts begin with a bracket as well, but they name nothing in it.
            return string.contains(/"\s*:|<key/) ? .nothing : .all
        case .bytes:
            return .all
        }
    }

    /// The visible parts of the entries of a dictionary, or of the elements of an array, which have no names.
    private func visibleEntries<Name, Value>(
        _ entries: [(key: Name, value: Value)],
        _ placeholder: Value?,
        _ part: (Value) -> VisiblePart<Value>
    ) -> VisiblePart<[(key: Name, value: Value)]> {
        var isReduced = false
        let rest = entries.compactMap { entry -> (key: Name, value: Value)? in
            let isHidden = (entry.key as? String).map(matches) == true
            switch isHidden ? .nothing : part(entry.value) {
            case .all: return entry
            case .rest(let value):
                isReduced = true
                return (entry.key, value)
            case .nothing:
                isReduced = true
                return placeholder.map { (entry.key, $0) }
            }
        }
        return isReduced ? .rest(rest) : .all
    }
}
