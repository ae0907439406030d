internal import Foundation

/// One value whose parts are decoded one by one; see ``Probe``.
///
/// The value's initializer is called again after each part that it needs and that can't be used, with that part filled in or,
/// if that isn't possible, replaced. So it gets every error once, and can handle it. After many replacements it gets no more
/// errors, so that the number of calls is limited.
///
/// An initializer may try to decode one part as several types. If the part is none of them as it is, it is filled in as the
/// only one as which that is possible. If there are several, it can't be known which one is meant, so it is replaced.
final class ProbedLevel {
    /// Where a part is.
    struct Place: Hashable {
        let path: StoredTree.Path
        /// Whether the value consists of nothing but this part.
        let isWhole: Bool
    }

    /// A part that can't be used.
    struct Failure {
        let place: Place
        let error: any Error
        /// What takes its place; nil when it is removed.
        let replacement: TreeEdits.Replacement?
        /// Whether there is anything to replace or to remove.
        let isReplaceable: Bool
    }

    let probe: Probe
    private let fallback: Probe.Fallback?
    private let path: StoredTree.Path

    /// The parts that are replaced.
    private var replaced: [StoredTree.Path: Failure] = [:]
    /// Parts of which only parts are replaced.
    private var opened: Set<StoredTree.Path> = []
    /// The last part that failed during the current call.
    private var failure: Failure?
    /// What was decoded in earlier calls, by the types as which it was.
    private var outcomes: [Place: [ObjectIdentifier: Outcome]] = [:]
    /// Parts that were replaced although the initializer has not asked for them, with the type that they can't be decoded as.
    private var guesses: [StoredTree.Path: ObjectIdentifier] = [:]
    /// How often a call failed because of a part that the initializer can't do without.
    private var needs: [Place: Int] = [:]
    private var calls = 0

    private enum Outcome {
        case exact(any Decodable)
        case inexact(any Error)
        case filledIn(any Decodable, TreeEdits, because: any Error)
        case unusable(any Error)
    }

    /// The number of calls after which parts are replaced without the initializer getting their errors.
    private static let patience = 16
    /// The maximum number of calls.
    private static let maximumCalls = 300

    init(_ probe: Probe, fallback: Probe.Fallback?, path: StoredTree.Path) {
        self.probe = probe
        self.fallback = fallback
        self.path = path
    }

    func decode(_ type: any Decodable.Type, from decoder: any Decoder) throws -> any Decodable {
        var first: (any Error)?
        while calls < Self.maximumCalls {
            do {
                return try finish(call(type, from: decoder))
            } catch {
                if let failure, fillIn(failure.place) {
                    continue
                }
                first = first ?? failure?.error ?? error
                guard let failure, replace(failure) else {
                    break
                }
            }
        }
        let reason = first ?? CocoaError(.coderInvalidValue)
        // The initializer rejects parts each of which can be decoded, or needs one that neither value has.
        return try finish(search(type, from: decoder, because: reason))
    }

    private func call(_ type: any Decodable.Type, from decoder: any Decoder) throws -> any Decodable {
        calls += 1
        failure = nil
        let value = try type.init(from: ProbingDecoder(base: decoder, level: self, fallback: fallback, path: path))
        // A case's values belong together.
        if !replaced.isEmpty, Mirror(reflecting: value).displayStyle == .enum {
            throw replaced.values.first?.error ?? CocoaError(.coderInvalidValue)
        }
        return value
    }

    private func finish(_ value: any Decodable) -> any Decodable {
        for failure in replaced.values {
            probe.replace(failure.place.path, by: failure.replacement, because: failure.error)
        }
        return value
    }

    // MARK: Parts

    func isReplaced(_ path: StoredTree.Path) -> Bool {
        replaced[path] != nil
    }

    func isOpened(_ path: StoredTree.Path) -> Bool {
        opened.contains(path)
    }

    /// Decodes a part, once for all calls.
    ///
    /// - Parameters:
    ///   - type: The type to decode it as.
    ///   - place: Where it is.
    ///   - decode: Decodes it as it is.
    ///   - fillIn: Fills it in after an error, possibly as one of several types; nil when there is nothing to fill in.
    /// - Returns: The part.
    /// - Throws: The error of the first attempt to decode it.
    func part(
        _ type: any Decodable.Type,
        at place: Place,
        exactly decode: () throws -> any Decodable,
        fillingIn fillIn: ((_ error: any Error, _ isTrial: Bool) throws -> any Decodable)?
    ) throws -> any Decodable {
        let id = ObjectIdentifier(type)
        var outcome: Outcome
        if let known = outcomes[place]?[id] {
            outcome = known
        } else {
            do {
                outcome = .exact(try decode())
            } catch {
                outcome = fillIn == nil ? .unusable(error) : .inexact(error)
            }
            outcomes[place, default: [:]][id] = outcome
        }
        if case .inexact(let error) = outcome, let fillIn, needs[place] != nil || isImpatient {
            do {
                let isTrial = candidates(at: place).count > 1
                let (part, edits) = try probe.collectingEdits(isTrial: isTrial) { try fillIn(error, isTrial) }
                outcome = .filledIn(part, edits, because: error)
            } catch {
                outcome = .unusable(error)
            }
            outcomes[place]?[id] = outcome
        }
        switch outcome {
        case .exact(let part):
            return part
        case .filledIn(let part, let edits, _) where candidates(at: place).count == 1:
            probe.insert(edits)
            return part
        case .inexact(let error), .unusable(let error), .filledIn(_, _, let error):
            if place.isWhole {
                _ = note(Failure(place: place, error: error, replacement: nil, isReplaceable: false))
            }
            throw error
        }
    }

    /// The outcomes for the types that a part may be filled in as.
    private func candidates(at place: Place) -> [Outcome] {
        (outcomes[place] ?? [:]).values.filter {
            switch $0 {
            case .inexact, .filledIn: true
            case .exact, .unusable: false
            }
        }
    }

    /// Lets the next call fill a part in.
    ///
    /// - Returns: False when that is not possible.
    private func fillIn(_ place: Place) -> Bool {
        let candidates = candidates(at: place)
        // Of several types, the next call finds out which are possible, and the one after it uses the only one.
        let calls = needs[place, default: 0]
        let isOpen = calls == 0 && !candidates.isEmpty && !probe.isTrial
        guard calls < 2, isOpen || candidates.count == 1 else {
            return false
        }
        needs[place] = calls + 1
        return true
    }

    private func replace(_ failure: Failure) -> Bool {
        guard failure.isReplaceable, replaced[failure.place.path] == nil else {
            return false
        }
        replaced[failure.place.path] = failure
        return true
    }

    /// Records that a part can't be used.
    ///
    /// - Returns: Whether it is replaced at once.
    func note(_ failure: Failure) -> Bool {
        self.failure = failure
        guard isImpatient, failure.replacement != nil else {
            return false
        }
        replaced[failure.place.path] = failure
        return true
    }

    // MARK: Guesses

    /// Whether the initializer has had so many errors that it gets no more than it has to.
    var isImpatient: Bool { calls > Self.patience }

    /// Whether the initializer has asked for a part.
    func isKnown(_ place: Place) -> Bool {
        outcomes[place] != nil
    }

    /// Replaces a part that the initializer has not asked for, as if it were of the same type as another one.
    func guess(_ failure: Failure, from type: Any.Type) {
        replaced[failure.place.path] = failure
        guesses[failure.place.path] = ObjectIdentifier(type)
    }

    /// Takes a guess back because the initializer asks for that part by itself, and not as the type that was guessed.
    func takeBackGuess(at path: @autoclosure () -> StoredTree.Path, unlessFrom type: Any.Type? = nil) {
        guard !guesses.isEmpty else {
            return
        }
        let path = path()
        guard let guess = guesses[path], guess != type.map(ObjectIdentifier.init) else {
            return
        }
        guesses[path] = nil
        replaced[path] = nil
    }

    // MARK: Search

    /// Finds the smallest part of the value that has to be replaced, if no single part can be blamed.
    ///
    /// All parts are replaced first, and then as many as possible are taken back, by halves.
    private func search(
        _ type: any Decodable.Type,
        from decoder: any Decoder,
        because error: any Error
    ) throws -> any Decodable {
        guard let fallback, let stored = try? decoder.container(keyedBy: PathKey.self) else {
            throw error
        }
        calls = 0
        replaced = [:]
        guesses = [:]
        let defaults = try? fallback.decoder.container(keyedBy: PathKey.self)
        let names = stored.allKeys.map(\.stringValue).sorted()
        let missing = Set(defaults?.allKeys.map(\.stringValue) ?? []).subtracting(names).sorted()
        for name in names + missing {
            replaceAll(name, of: fallback.tree, at: path, because: error)
        }
        do {
            var value = try callFillingIn(type, from: decoder)
            func canCall() -> Bool {
                guard calls < Self.maximumCalls, let next = try? callFillingIn(type, from: decoder) else {
                    return false
                }
                value = next
                return true
            }
            restore(names.map { path + [$0] }[...], if: canCall)
            for name in names where replaced[path + [name]] != nil {
                open(name, of: stored, and: defaults, tree: fallback.tree, because: error, if: canCall)
            }
            restore(missing.map { path + [$0] }[...], if: canCall)
            return value
        } catch {
            replaced = [:]
            throw error
        }
    }

    private func replaceAll(_ name: String, of tree: StoredTree, at path: StoredTree.Path, because error: any Error) {
        replaced[path + [name]] = Failure(
            place: Place(path: path + [name], isWhole: false),
            error: error,
            replacement: probe.part(name, of: tree, at: path),
            isReplaceable: true
        )
    }

    /// Calls the initializer, and again for each part that it reaches for the first time and that has to be filled in.
    private func callFillingIn(_ type: any Decodable.Type, from decoder: any Decoder) throws -> any Decodable {
        while true {
            do {
                return try call(type, from: decoder)
            } catch {
                guard let failure, fillIn(failure.place) else {
                    throw error
                }
            }
        }
    }

    /// Takes replacements back, as many at once as possible.
    private func restore(_ paths: ArraySlice<StoredTree.Path>, if canCall: () -> Bool) {
        guard !paths.isEmpty else {
            return
        }
        let before = replaced
        for path in paths {
            replaced[path] = nil
        }
        if canCall() {
            return
        }
        replaced = before
        if paths.count > 1 {
            let middle = paths.startIndex + paths.count / 2
            restore(paths[..<middle], if: canCall)
            restore(paths[middle...], if: canCall)
        }
    }

    /// Takes parts of a replaced part back.
    private func open(
        _ name: String,
        of stored: KeyedDecodingContainer<PathKey>,
        and defaults: KeyedDecodingContainer<PathKey>?,
        tree: StoredTree,
        because error: any Error,
        if canCall: () -> Bool
    ) {
        let outer = path + [name]
        let key = PathKey(stringValue: name)
        guard let tree = probe.part(name, of: tree, at: path)?.tree,
            let parts = try? stored.nestedContainer(keyedBy: PathKey.self, forKey: key),
            let others = try? defaults?.nestedContainer(keyedBy: PathKey.self, forKey: key)
        else {
            return
        }
        let before = (replaced, opened)
        let names = Set((parts.allKeys + others.allKeys).map(\.stringValue)).sorted()
        replaced[outer] = nil
        opened.insert(outer)
        for name in names {
            replaceAll(name, of: tree, at: outer, because: error)
        }
        if canCall() {
            restore(names.map { outer + [$0] }[...], if: canCall)
        } else {
            (replaced, opened) = before
        }
    }
}
