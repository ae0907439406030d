import Default
import Foundation
import SettingsValues

/// A key of a suite, as the list shows it.
struct Row: Codable, Equatable, Sendable {
    let key: String
    let form: ValueForm
    let size: Int
    let preview: String
    /// Whether the preview is only a part.
    let isCut: Bool
    /// Whether nothing of the value, or not all, may be shown.
    let isHidden: Bool
    /// What the value is compared by, before it is replaced; nil for a value that isn't stored.
    let version: String?
    /// Who has set the value, if not the user: "mandatory", or "for all users".
    let origin: String?

    init(
        key: String,
        value: PropertyListValue,
        own: PropertyListValue?,
        origin: DefaultsOrigin? = nil,
        hiding hidden: KeyPatterns
    ) {
        self.key = key
        version = own?.version
        self.origin =
            switch origin?.kind {
            case .mandatory?: "mandatory"
            case .fallback?: "for all users"
            default: nil
            }
        let visible = hidden.visiblePart(of: value, forKey: key)
        isHidden = visible.isReduced
        guard let value = visible.value else {
            (form, size, preview, isCut) = (.data, 0, KeyPatterns.placeholder, false)
            return
        }
        let shown = ShownValue(.value(value), decodingLimit: ShownValue.listDecodingLimit)
        let beginning = Preview(shown)
        (form, size, preview, isCut) = (shown.form, shown.size, beginning.text, beginning.isCut)
    }
}

extension KeyPatterns {
    /// What may be shown of a value; nil for nothing.
    func visiblePart(
        of value: PropertyListValue,
        forKey key: String
    ) -> (value: PropertyListValue?, isReduced: Bool) {
        guard !patterns.isEmpty else { return (value, false) }
        // What is too large to be searched for what is hidden in it, is hidden.
        guard !matches(key), value.byteCount <= ShownValue.decodingLimit else { return (nil, true) }
        let visible = visiblePart(of: value, .replaced)
        return if case .all = visible { (value, false) } else { (visible.value(of: value), true) }
    }
}

extension PropertyListValue {
    /// A digest, which equal values have in common as long as this process runs, and nobody else can calculate.
    var version: String {
        let bytes = binaryForm
        var hasher = Hasher()
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        return "\(UInt(bitPattern: hasher.finalize()))"
    }
}
