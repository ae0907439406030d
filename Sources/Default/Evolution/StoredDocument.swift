/// Stored bytes, or one element of a collection in them, as a tree that is edited place by place until it decodes.
final class StoredDocument {
    /// A change of the document or of one of its elements.
    struct Change {
        /// Where it was in the stored bytes.
        let path: StoredTree.Path
        /// Where it is now; nil when it was removed from an array.
        let place: StoredTree.Path?
        /// Why; nil for what was missing, or null.
        let reason: LoadReport.UnusableValue.Reason?
    }

    private(set) var tree: StoredTree
    let type: any Decodable.Type
    /// Its counterpart in the default value.
    let initial: StoredTree?
    /// Whether it is an element, which is decoded in an array with others.
    let isElement: Bool
    /// The number of edits, and how many of them were because of an initializer's own error.
    private(set) var edits = 0
    private(set) var ownErrors = 0

    /// A change of the document itself.
    private struct OwnChange {
        let path: StoredTree.Path
        let fault: DecodingFault
        /// Whether nothing was there, or null.
        let wasMissing: Bool
    }

    private var ownChanges: [OwnChange] = []
    /// The number of calls of `edit`; `edits` also counts those of the elements.
    private var rounds = 0
    /// The collections in it that had a fault.
    private var collections: [StoredTree.Path: StoredElements] = [:]
    /// What was tried in each place: a value is replaced, then removed; after that, its container is changed.
    private var attempts: [StoredTree.Path: Attempt] = [:]

    private enum Attempt { case replaced, removed }

    /// The most calls of `edit`: hand-written coding may lead to a fault in every part of a container.
    private static let maximumRounds = 400
    /// The most fields that an object may have for them to be tried one by one.
    private static let maximumFields = 128

    init(_ tree: StoredTree, as type: any Decodable.Type, initial: StoredTree?, isElement: Bool = false) {
        (self.tree, self.type, self.initial, self.isElement) = (tree, type, initial, isElement)
    }

    /// All changes, including those in elements.
    var changes: [Change] {
        let own = ownChanges.map { change in
            let reason = change.wasMissing ? nil : reason(of: change.fault, at: change.path)
            return Change(path: change.path, place: change.path, reason: reason)
        }
        return own + collections.flatMap { path, elements in elements.changes(below: path) }
    }

    /// A place in the document, by the names that are stored, and by those of the encoder, which the default value has.
    private struct Place {
        var stored: StoredTree.Path = []
        var encoded: StoredTree.Path = []

        func appending(_ stored: String, _ encoded: String) -> Place {
            Place(stored: self.stored.appending(stored), encoded: self.encoded.appending(encoded))
        }

        var container: Place { Place(stored: stored.dropLast(), encoded: encoded.dropLast()) }
    }

    /// Makes one change, to the value that failed or to the nearest container that can be changed.
    ///
    /// - Returns: Whether anything was changed; otherwise the document can't be used.
    func edit(because fault: DecodingFault, in context: FillingContext) -> Bool {
        guard rounds < Self.maximumRounds else { return false }
        rounds += 1
        edits += 1
        ownErrors += fault.isOwnError ? 1 : 0
        var fault = fault
        var place = place(of: fault, in: context)
        // A collection is repaired element by element first. An object whose initializer rejects fields that can be
        // decoded is repaired by the replacement of one of them.
        if let collection = fault.type as? any StoredCollection.Type {
            if editElements(of: collection, at: place, &fault, context) { return true }
        } else if let part = missingSuper(in: fault, at: place, context) {
            place = part
        } else if replaceOneField(of: place, fault.names, because: fault, context, addsMissing: fault.isOwnError) {
            return true
        }
        // From the smallest change to the largest, so that as much as possible of what is stored is used. The last
        // resort is any field of the whole: an initializer may have rejected it far from where it failed.
        return moveFromEncodersName(to: place)
            || replaceOrRemove(place, because: fault, context)
            || replaceOneField(of: Place(), [], because: fault, context, addsMissing: true)
    }

    private func place(of fault: DecodingFault, in context: FillingContext) -> Place {
        var place = Place()
        for (depth, name) in fault.names.enumerated() {
            let container = tree[place.stored]
            // The fault names coding keys, while the tree has stored keys, which a coder may convert.
            if case .array? = container {
                let key = StoredTree.key(of: Int(name) ?? 0)
                place = place.appending(key, key)
            } else {
                let encoded = context.keys.encodedKey(for: name, below: Array(fault.names.prefix(depth)))
                let stored = context.keys.storedKey(for: name, among: container?.fields ?? [:], below: place.stored)
                let new = stored ?? context.keys.newKey(for: name, encoded: encoded, below: place.stored)
                place = place.appending(new, encoded)
            }
        }
        return place
    }

    /// The default value in a place.
    ///
    /// That of the type in the place is used where the document's own has none: in elements and optional values.
    ///
    /// - Parameters:
    ///   - place: The place.
    ///   - types: The types of the values on the way to the fault, which may be below the place.
    ///   - context: The context of all documents.
    ///   - isObject: Whether fields of the value are needed. If the default is nil there, those of its type's default
    ///     are returned; otherwise nil stays nil.
    /// - Returns: The value; nil if there is none.
    private func defaultValue(
        at place: Place,
        _ types: [[any Decodable.Type]],
        _ context: FillingContext,
        isObject: Bool = false
    ) -> StoredTree? {
        func ownDefault(at depth: Int) -> StoredTree? {
            guard types.indices.contains(depth) else { return nil }
            return types[depth].lazy.compactMap { context.defaultTree(of: $0) }.first
        }
        // An optional that is nil in the default has no fields, so those are taken from the default of its type.
        var current = initial?.mayBeNull == false ? initial : ownDefault(at: 0)
        for (depth, name) in place.encoded.enumerated() {
            let part = current?.fields?[name]
            let isInner = isObject || depth < place.encoded.count - 1
            let isMissing = part?.mayBeNull ?? true
            current = isInner && isMissing ? ownDefault(at: depth + 1) : part
        }
        return current
    }

    // MARK: Edits

    /// Edits the elements of a collection.
    ///
    /// - Parameters:
    ///   - collection: The type.
    ///   - place: The place.
    ///   - fault: Why it can't be decoded; becomes that of an element if the collection can't do without it.
    ///   - context: The context of all documents.
    /// - Returns: Whether anything was changed; not when the tree has no such collection in this place.
    private func editElements(
        of collection: any StoredCollection.Type,
        at place: Place,
        _ fault: inout DecodingFault,
        _ context: FillingContext
    ) -> Bool {
        let initial = defaultValue(at: place, fault.types, context)
        guard collections[place.stored] == nil,
            let elements = StoredElements(of: collection, in: tree[place.stored], initial: initial, context)
        else { return false }
        if let element = elements.edit(because: fault, in: context) {
            fault = element
            return false
        }
        guard elements.isChanged else { return false }
        collections[place.stored] = elements
        tree[place.stored] = elements.tree
        // The caller counts this call as one edit; the elements' own count instead.
        if elements.edits > 0 {
            edits += elements.edits - 1
            ownErrors += elements.ownErrors - (fault.isOwnError ? 1 : 0)
        }
        return true
    }

    /// The place of a superclass's missing container; only the error's coding path names it.
    private func missingSuper(in fault: DecodingFault, at place: Place, _ context: FillingContext) -> Place? {
        guard fault.path.dropFirst(fault.names.count).first == "super" else { return nil }
        let part = place.appending("super", "super")
        return tree[part.stored] != nil || defaultValue(at: part, fault.types, context) != nil ? part : nil
    }

    /// Finds the first field of an object whose replacement ends an error, and replaces it.
    ///
    /// An initializer may reject a combination of values each of which can be decoded.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - names: The coding keys that lead to it.
    ///   - fault: Why the document can't be decoded.
    ///   - context: The context of all documents.
    ///   - addsMissing: Whether a field that is missing may be the cause; to fill it in loses nothing.
    /// - Returns: Whether there is such a field.
    private func replaceOneField(
        of object: Place,
        _ names: [String],
        because fault: DecodingFault,
        _ context: FillingContext,
        addsMissing: Bool
    ) -> Bool {
        guard let fields = tree[object.stored]?.fields, fields.count <= Self.maximumFields, !fault.isOfKeys,
            let others = defaultValue(at: object, fault.types, context, isObject: true)?.fields
        else { return false }
        let missing = addsMissing ? others.keys.sorted().filter { fields[$0] == nil } : []
        let before = tree
        // Missing fields first: filling one in loses nothing. Then each stored field in turn, tried and taken back, in
        // an order that is the same each time.
        for name in missing + fields.keys.sorted().reversed() {
            let path = object.stored.appending(name)
            tree[path] = others[name]
            let next = context.fault(in: self)
            // It helped if the next fault is somewhere else: not in what failed or around it, nor in this field.
            let isMended =
                next.map { !fault.names.starts(with: $0.names) && !$0.names.starts(with: names + [name]) } ?? true
            tree = before
            if isMended {
                replace(path, by: others[name], because: fault)
                return true
            }
        }
        return false
    }

    /// Moves a value to the name that the decoder asks for, where the encoder writes another one for it.
    private func moveFromEncodersName(to place: Place) -> Bool {
        guard let encoded = place.encoded.last, encoded != place.stored.last, tree[place.stored] == nil
        else { return false }
        let old = place.container.stored.appending(encoded)
        guard let value = tree[old] else { return false }
        tree[old] = nil
        tree[place.stored] = value
        return true
    }

    /// Replaces a value by the default's, else removes it, else does the same with its container.
    private func replaceOrRemove(_ place: Place, because fault: DecodingFault, _ context: FillingContext) -> Bool {
        var place = place
        while !place.stored.isEmpty {
            let container = place.container
            defer { place = container }
            // An array that hand-written coding decodes is used as a whole or not at all.
            if case .array? = tree[container.stored] { continue }
            let fallback = defaultValue(at: place, fault.types, context)
            // Each place is replaced once, and then removed once, so that this ends.
            if let fallback, attempts[place.stored] == nil {
                attempts[place.stored] = .replaced
                replace(place.stored, by: fallback, because: fault)
                return true
            }
            let isStored = tree[place.stored] != nil
            if isStored, attempts[place.stored] != .removed, !isOnlyChoice(place, fault, context) {
                attempts[place.stored] = .removed
                replace(place.stored, by: nil, because: fault)
                return true
            }
        }
        return false
    }

    /// Whether the place is an object's only field, and the default value has only another one there.
    ///
    /// Then they are two cases of an enum. The values of a case belong together, so the object is replaced as a whole.
    private func isOnlyChoice(_ place: Place, _ fault: DecodingFault, _ context: FillingContext) -> Bool {
        guard tree[place.container.stored]?.fields?.count == 1,
            let others = defaultValue(at: place.container, fault.types, context, isObject: true)?.fields
        else { return false }
        return others.count == 1 && others[place.encoded.last ?? ""] == nil
    }

    private func replace(_ path: StoredTree.Path, by value: StoredTree?, because fault: DecodingFault) {
        note(path, because: fault)
        // The repaired collections in it are gone with it.
        collections = collections.filter { !$0.key.starts(with: path) }
        tree[path] = value
    }

    /// Why the first of the removed values was removed; nil if none was.
    var firstRemoval: DecodingFault? {
        ownChanges.first { !$0.wasMissing && attempts[$0.path] == .removed }?.fault
    }

    // MARK: Reasons

    /// Notes a change of the value in a place; it takes precedence over changes of the value's parts.
    private func note(_ path: StoredTree.Path, because fault: DecodingFault) {
        guard !ownChanges.contains(where: { path.starts(with: $0.path) }) else { return }
        // The first part that couldn't be used is why the whole can't be.
        let first = ownChanges.first { $0.path.starts(with: path) && !$0.wasMissing }?.fault
        ownChanges.removeAll { $0.path.starts(with: path) }
        let wasMissing = tree[path]?.mayBeNull ?? true
        ownChanges.append(OwnChange(path: path, fault: first ?? fault, wasMissing: wasMissing))
    }

    /// Why the value in a place can't be used.
    ///
    /// - Parameters:
    ///   - fault: Why it, or a part of it, can't be decoded.
    ///   - path: The place.
    /// - Returns: The reason.
    func reason(of fault: DecodingFault, at path: StoredTree.Path) -> LoadReport.UnusableValue.Reason {
        let inner = Array(fault.path.dropFirst(path.count))
        guard !inner.isEmpty, fault.isPartOfError else { return fault.reason }
        return .part(inner, fault.reason)
    }
}

extension DecodingFault {
    /// Whether the error is about the place that its coding path names; otherwise only the value that failed is known.
    fileprivate var isPartOfError: Bool { error is DecodingError }

    /// Why the innermost value can't be decoded.
    fileprivate var reason: LoadReport.UnusableValue.Reason {
        let own = type.map { nonOptional($0) }
        switch error {
        case DecodingError.keyNotFound: return .missing
        case DecodingError.valueNotFound(let type, _): return .null(neededType: "\(type)")
        case DecodingError.typeMismatch(let type, _):
            if isOfKeys { return .unknownCase(of: "\(type)") }
            // Foundation's decoders name the kind of container that the type asked for.
            let isContainer = type == [String: Any].self || type == [Any].self
            return .wrongType(needed: "\(isContainer ? own ?? type : type)")
        case DecodingError.dataCorrupted where own is any RawRepresentable.Type:
            return .unknownCase(of: own.map { "\($0)" } ?? "")
        case DecodingError.dataCorrupted: return .malformed
        default: return .rejected(error: "\(Swift.type(of: error))")
        }
    }
}
