internal import Foundation

/// One value whose parts are decoded one by one, because it can't be decoded as it is; see ``FaultFinder``.
///
/// The value's initializer is called again after each part that it needs and that can't be used, with that part filled in or,
/// if that isn't possible, replaced. So it gets every error once, and can handle it. After many errors it gets no more that
/// can be avoided, so that the number of calls is limited.
///
/// If it rejects parts each of which can be decoded, one of them is replaced, where that is enough. Otherwise the value can't
/// be used as a whole. It can't be known which of several types a part was meant as, so such a part is not filled in.
final class RepairedValue {
    /// A part that can't be used.
    struct Fault {
        let path: StoredTree.Path
        let error: any Error
        /// What takes its place; nil when it is removed.
        let replacement: TreeEdits.Replacement?
        /// Whether there is anything to replace or to remove.
        let isReplaceable: Bool
    }

    /// What is known of a part from earlier calls.
    private final class Part {
        var outcomes: [(type: ObjectIdentifier, result: Result<any Decodable, any Error>)] = []
        /// The number of types that it could be filled in as.
        var candidateCount = 0
        var isFilledIn = false
        var replacement: Fault?
    }

    let finder: FaultFinder
    private let type: any Decodable.Type
    private let decoder: any Decoder
    private let fallback: FaultFinder.Fallback?
    private let path: StoredTree.Path

    private var parts: [StoredTree.Path: Part] = [:]
    /// The paths of the parts that are replaced, in order.
    private var replaced: [StoredTree.Path] = []
    /// The last part that failed during the current call.
    private var fault: Fault?
    private var calls = 0

    /// The number of calls after which parts are replaced without the initializer getting their errors.
    private static let callsWithErrors = 8
    /// The maximum number of calls.
    private static let maximumCalls = 64

    init(
        _ type: any Decodable.Type,
        decoder: any Decoder,
        fallback: FaultFinder.Fallback?,
        path: StoredTree.Path,
        finder: FaultFinder
    ) {
        (self.type, self.decoder, self.fallback, self.path, self.finder) = (type, decoder, fallback, path, finder)
    }

    func decode() throws -> any Decodable {
        do {
            return try callRepairing()
        } catch {
            guard let fallback, let stored = try? decoder.container(keyedBy: PathKey.self) else {
                throw error
            }
            // What is missing first: to fill it in loses nothing.
            let names = stored.allKeys.map(\.stringValue).sorted()
            let missing = (try? fallback.decoder.container(keyedBy: PathKey.self).allKeys.map(\.stringValue)) ?? []
            let known = replaced.count
            for name in missing.sorted().filter({ !names.contains($0) }) + names.reversed()
            where !isReplaced(path + [name]) {
                for path in replaced.dropFirst(known) {
                    parts[path]?.replacement = nil
                }
                replaced.removeLast(replaced.count - known)
                let replacement = finder.part(name, of: fallback.tree, at: path)
                replace(Fault(path: path + [name], error: error, replacement: replacement, isReplaceable: true))
                if calls < Self.maximumCalls, let value = try? callRepairing() {
                    return value
                }
            }
            throw error
        }
    }

    /// Calls the initializer, and again after each part that can be repaired.
    private func callRepairing() throws -> any Decodable {
        while true {
            calls += 1
            fault = nil
            do {
                let hooks = RepairingHooks(value: self, fallback: fallback, path: path)
                let value = try type.init(from: ForwardingDecoder(base: decoder, hooks: hooks))
                let faults = replaced.compactMap { parts[$0]?.replacement }
                // A case's values belong together.
                if let first = faults.first, Mirror(reflecting: value).displayStyle == .enum {
                    throw first.error
                }
                for fault in faults {
                    finder.replace(fault.path, by: fault.replacement, because: fault.error)
                }
                return value
            } catch {
                guard calls < Self.maximumCalls, let fault, repair(fault) else {
                    throw fault?.error ?? error
                }
            }
        }
    }

    /// Lets the next call get a part filled in or, if that was tried, replaced.
    private func repair(_ fault: Fault) -> Bool {
        let part = part(fault.path)
        if !part.isFilledIn, part.candidateCount == 1 {
            part.isFilledIn = true
            return true
        }
        guard fault.isReplaceable, part.replacement == nil else {
            return false
        }
        replace(fault)
        return true
    }

    private func replace(_ fault: Fault) {
        part(fault.path).replacement = fault
        replaced.append(fault.path)
    }

    private func part(_ path: StoredTree.Path) -> Part {
        let part = parts[path] ?? Part()
        parts[path] = part
        return part
    }

    fileprivate func isReplaced(_ path: StoredTree.Path) -> Bool {
        parts[path]?.replacement != nil
    }

    /// The names of the replaced parts of a container.
    fileprivate func replacedNames(in path: StoredTree.Path) -> [String] {
        replaced.filter { $0.count == path.count + 1 && $0.starts(with: path) }.compactMap(\.last)
    }

    private var isLenient: Bool { calls > Self.callsWithErrors }

    /// Records that a part can't be used.
    ///
    /// - Returns: Whether it is replaced at once.
    fileprivate func note(_ fault: Fault) -> Bool {
        self.fault = fault
        guard isLenient, fault.replacement != nil else {
            return false
        }
        replace(fault)
        return true
    }

    /// Decodes a part, once for all calls.
    ///
    /// - Parameters:
    ///   - type: The type to decode it as.
    ///   - path: Where it is.
    ///   - decode: Decodes it as it is.
    ///   - isFillable: Whether it may be filled in.
    ///   - fillIn: Fills it in after an error.
    /// - Returns: The part.
    /// - Throws: The error of the first attempt to decode it.
    fileprivate func part(
        _ type: any Decodable.Type,
        at path: StoredTree.Path,
        exactly decode: () throws -> any Decodable,
        isFillable: () -> Bool,
        fillingIn fillIn: (any Error) throws -> any Decodable
    ) throws -> any Decodable {
        let (part, id) = (part(path), ObjectIdentifier(type))
        let index = part.outcomes.firstIndex { $0.type == id } ?? part.outcomes.endIndex
        if index == part.outcomes.endIndex {
            part.outcomes.append((id, Result { try decode() }))
            if case .failure = part.outcomes[index].result, isFillable() {
                part.candidateCount += 1
            }
        }
        guard case .failure(let error) = part.outcomes[index].result else {
            return try part.outcomes[index].result.get()
        }
        guard part.isFilledIn || isLenient, part.candidateCount == 1, isFillable(),
            let value = try? finder.attempt({ try fillIn(error) })
        else {
            throw error
        }
        part.outcomes[index].result = .success(value)
        return value
    }
}

/// Lets an initializer get the parts of a stored value, and those of the default value in place of what can't be used.
private final class RepairingHooks: DecodingHooks {
    private let value: RepairedValue
    private let fallback: FaultFinder.Fallback?
    private let path: StoredTree.Path
    /// Elements are decoded by their container's type, or not replaced.
    private var isUnkeyed = false
    private lazy var defaults = try? fallback?.decoder.container(keyedBy: PathKey.self)

    init(value: RepairedValue, fallback: FaultFinder.Fallback?, path: StoredTree.Path) {
        (self.value, self.fallback, self.path) = (value, fallback, path)
    }

    override func opened(_ container: Container) {
        isUnkeyed = container == .unkeyed
    }

    override func names(among stored: [String]) -> [String]? {
        let replaced = value.replacedNames(in: path)
        guard !replaced.isEmpty else {
            return nil
        }
        return stored.filter { !replaced.contains($0) } + replaced.filter { replacement($0) != nil }.sorted()
    }

    override func contains(_ name: String, isStored: () -> Bool) -> Bool {
        value.isReplaced(path + [name]) ? replacement(name) != nil : isStored()
    }

    override func substitute(
        for name: String,
        because error: (any Error)?,
        isStored: () -> Bool
    ) throws -> (any Decoder)? {
        if value.isReplaced(path + [name]) || error.map({ note(name, $0, isStored: isStored) }) ?? false {
            return try defaultPart(name)
        }
        return nil
    }

    override func inside(_ name: String) -> DecodingHooks {
        RepairingHooks(value: value, fallback: innerFallback(name), path: path + [name])
    }

    override func decode(
        _ type: any Decodable.Type,
        named name: String?,
        isStored: () -> Bool,
        exactly: () throws -> any Decodable,
        decoder: () throws -> any Decoder
    ) throws -> any Decodable {
        let place = name.map { path + [$0] } ?? path
        func replaced() throws -> any Decodable {
            try defaultPart(name ?? "").singleValueContainer().decode(type)
        }
        guard name == nil || !value.isReplaced(place) else {
            return try replaced()
        }
        do {
            return try value.part(
                type,
                at: place,
                exactly: exactly,
                isFillable: { !ValueSemantics.isLeaf(type) && isStored() },
                fillingIn: { error in
                    let fallback = name.map(innerFallback) ?? fallback
                    let decoder = try decoder()
                    return try value.finder.decodeParts(
                        type,
                        from: decoder,
                        fallback: fallback,
                        at: place,
                        because: error
                    )
                }
            )
        } catch {
            guard note(name, error, isStored: isStored) else {
                throw error
            }
            return try replaced()
        }
    }

    private func note(_ name: String?, _ error: any Error, isStored: () -> Bool) -> Bool {
        let replacement = name.flatMap { self.replacement($0) }
        return value.note(
            .init(
                path: name.map { path + [$0] } ?? path,
                error: error,
                replacement: replacement,
                isReplaceable: name != nil && !isUnkeyed && (replacement != nil || isStored())
            )
        )
    }

    private func replacement(_ name: String) -> TreeEdits.Replacement? {
        value.finder.part(name, of: fallback?.tree, at: path)
    }

    private func innerFallback(_ name: String) -> FaultFinder.Fallback? {
        .init(decoder: try? defaultPart(name), tree: replacement(name)?.tree)
    }

    private func defaultPart(_ name: String) throws -> any Decoder {
        let key = PathKey(stringValue: name)
        guard let defaults, defaults.contains(key) else {
            throw DecodingError.keyNotFound(key, .init(codingPath: [], debugDescription: "It was removed."))
        }
        return try defaults.superDecoder(forKey: key)
    }
}
