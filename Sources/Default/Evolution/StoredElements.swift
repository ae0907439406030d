/// A collection whose elements, keys and values are decoded one by one when it can't be decoded as a whole.
protocol StoredCollection: Decodable {
    /// The type of the elements; for dictionaries, those of key and value.
    static var partTypes: [any Decodable.Type] { get }
    /// Whether it is coded as an array of keys and values in turn.
    static var isCodedInPairs: Bool { get }
    /// Whether an element that can't be used is left out; otherwise the collection is used as a whole or not at all.
    ///
    /// It is left out where neither order nor count can have a meaning, in sets and dictionaries; and in arrays of
    /// types with a default value of their own.
    static var leavesOutUnusable: Bool { get }
    /// A type for testing a name: an object with only that name can be decoded as it if the name is a key; nil if every
    /// name is one.
    static var typeOfNames: (any Decodable.Type)? { get }
}

extension StoredCollection {
    static var isCodedInPairs: Bool { false }
    static var leavesOutUnusable: Bool { true }
    static var typeOfNames: (any Decodable.Type)? { nil }
    /// Whether it is coded as a keyed container.
    static var isKeyed: Bool { partTypes.count == 2 && !isCodedInPairs }
}

extension Array: StoredCollection where Element: Decodable {
    static var partTypes: [any Decodable.Type] { [Element.self] }
    static var leavesOutUnusable: Bool { nonOptional(Element.self) is any DefaultProviding.Type }
}

extension Set: StoredCollection where Element: Decodable {
    static var partTypes: [any Decodable.Type] { [Element.self] }
}

extension Dictionary: StoredCollection where Key: Decodable, Value: Decodable {
    static var partTypes: [any Decodable.Type] { [Key.self, Value.self] }
    static var typeOfNames: (any Decodable.Type)? { Key.self == String.self ? nil : [Key: AnyContent].self }

    static var isCodedInPairs: Bool {
        if #available(macOS 12.3, iOS 15.4, tvOS 15.4, watchOS 8.5, visionOS 1, *),
            Key.self is any CodingKeyRepresentable.Type
        {
            return false
        }
        return Key.self != String.self && Key.self != Int.self
    }
}

/// Decodes from whatever is stored.
private struct AnyContent: Decodable {
    init(from decoder: any Decoder) {}
}

/// The elements of a collection in a document: each is a document of its own.
///
/// The first round decodes all elements together, and each later one those that were edited in the round before. So the
/// cost depends on the number of elements, and on the most faults that one of them has, not on the faults of all.
final class StoredElements {
    private let collection: any StoredCollection.Type
    /// The keys of a keyed container, or the indexes.
    private let names: [String]
    private let documents: [StoredDocument]
    /// The documents that aren't known to be decodable or left out.
    private var undecided: [Int]
    /// Why documents are left out.
    private var leftOut: [Int: LeftOut] = [:]

    private struct LeftOut {
        /// Nil for what was null.
        let reason: LoadReport.UnusableValue.Reason?
        /// Why it can't be decoded; nil for what could be.
        let fault: DecodingFault?
    }

    /// Fails when a tree isn't the form of the collection.
    ///
    /// - Parameters:
    ///   - collection: The type.
    ///   - tree: The stored value.
    ///   - initial: The default value in its place.
    ///   - context: The context of all documents.
    init?(
        of collection: any StoredCollection.Type,
        in tree: StoredTree?,
        initial: StoredTree?,
        _ context: FillingContext
    ) {
        let types = collection.partTypes
        self.collection = collection
        switch tree {
        case .array(let elements)? where !collection.isKeyed:
            names = elements.indices.map { StoredTree.key(of: $0) }
            documents = elements.enumerated().map { index, element in
                StoredDocument(element, as: types[index % types.count], initial: nil, isElement: true)
            }
        case .object(let fields)? where collection.isKeyed:
            let entries = fields.keys.sorted().compactMap { name in fields[name].map { (name, $0) } }
            names = entries.map(\.0)
            documents = entries.map { name, value in
                StoredDocument(value, as: types[1], initial: initial?.fields?[name], isElement: true)
            }
        default:
            // Something else than the collection's container is a fault of the whole.
            return nil
        }
        undecided = Array(documents.indices)
        // A dictionary fails as a whole when one of its names isn't a key, so each name is tried by itself.
        if let type = collection.typeOfNames, collection.isKeyed {
            let entries = zip(names, documents).map { name, document in
                StoredDocument(.object([name: document.tree]), as: type, initial: nil, isElement: true)
            }
            for (index, fault) in context.faults(in: entries).enumerated() {
                guard let fault else { continue }
                leftOut[index] = LeftOut(reason: .invalidKey(of: "\(collection)"), fault: fault)
            }
        }
    }

    /// Edits the elements until each can be decoded, or is left out.
    ///
    /// - Parameters:
    ///   - fault: Why the collection can't be decoded.
    ///   - context: The context of all documents.
    /// - Returns: The fault of the collection, because of an element that it can't do without; nil if it can be decoded
    ///   now.
    func edit(because fault: DecodingFault, in context: FillingContext) -> DecodingFault? {
        while true {
            // An entry without a usable name is not edited.
            undecided.removeAll { leftOut[$0] != nil }
            let faults = context.faults(in: undecided.map { documents[$0] })
            undecided = zip(undecided, faults).compactMap { index, fault in
                guard let fault else { return nil }
                let document = documents[index]
                if document.edit(because: fault, in: context) { return index }
                // Nothing is left to change in it. The first value that had to be removed is the cause; what failed
                // last may only follow from that.
                let first = document.firstRemoval ?? fault
                let reason = document.tree.isNull ? nil : document.reason(of: first, at: [])
                leftOut[index] = LeftOut(reason: reason, fault: first)
                return nil
            }
            if undecided.isEmpty { break }
        }
        leaveOutEqualKeys()
        // Where the number or the order of the elements may matter, one that can't be used makes the whole unusable.
        guard !collection.leavesOutUnusable, let first = leftOut.keys.min() else { return nil }
        return leftOut[first]?.fault.map { DecodingFault(of: fault, because: $0, at: first) }
    }

    /// Whether anything was changed.
    var isChanged: Bool { !leftOut.isEmpty || edits > 0 }

    /// The number of edits in elements, and how many of them were because of an initializer's own error.
    var edits: Int { documents.reduce(0) { $0 + $1.edits } }
    var ownErrors: Int { documents.reduce(0) { $0 + $1.ownErrors } }

    /// Keys may be equal once they are filled in.
    private func leaveOutEqualKeys() {
        guard collection.isCodedInPairs else { return }
        var seen: Set<String> = []
        for index in stride(from: 0, to: documents.count - 1, by: 2) where !isLeftOut(index) {
            if !seen.insert(documents[index].tree.identity).inserted {
                leftOut[index] = LeftOut(reason: .duplicateKey, fault: nil)
            }
        }
    }

    /// The documents of the element that this one belongs to: a key and its value, or itself.
    private func element(of index: Int) -> Range<Int> {
        let size = collection.isCodedInPairs ? 2 : 1
        return index - index % size..<index - index % size + size
    }

    private func isLeftOut(_ index: Int) -> Bool { element(of: index).contains { leftOut[$0] != nil } }

    /// The collection as it is now.
    var tree: StoredTree {
        guard collection.isKeyed else {
            return .array(documents.indices.filter { !isLeftOut($0) }.map { documents[$0].tree })
        }
        var fields: [String: StoredTree] = [:]
        for (index, name) in names.enumerated() {
            // An entry that the default has too is replaced like a property.
            fields[name] = leftOut[index] == nil ? documents[index].tree : documents[index].initial
        }
        return .object(fields)
    }

    /// The changes of the elements.
    func changes(below path: StoredTree.Path) -> [StoredDocument.Change] {
        var changes: [StoredDocument.Change] = []
        var count = 0
        for (index, document) in documents.enumerated() {
            let name = path.appending(names[index])
            if isLeftOut(index) {
                let reason = element(of: index).lazy.compactMap { self.leftOut[$0] }.first?.reason
                changes.append(.init(path: name, place: collection.isKeyed ? name : nil, reason: reason))
                continue
            }
            // The elements behind one that is left out have moved up.
            let place = collection.isKeyed ? name : path.appending(StoredTree.key(of: count))
            count += 1
            for change in document.changes {
                let innerPlace = change.place.map { place + $0 }
                changes.append(.init(path: name + change.path, place: innerPlace, reason: change.reason))
            }
        }
        return changes
    }
}
