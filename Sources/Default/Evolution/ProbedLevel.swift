internal import Foundation

/// One value whose parts are decoded one by one; see ``Probe``.
///
/// The value's initializer is called again after each part that it needs and that can't be used, with that part replaced. So
/// it gets every error once, and can handle it. After many replacements it gets no more errors, so that the number of calls
/// is limited.
final class ProbedLevel {
    /// A part that can't be used.
    struct Failure {
        let path: StoredTree.Path
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
    /// What was decoded in earlier calls.
    private var decoded: [StoredTree.Path: Any] = [:]
    private var failed: [StoredTree.Path: any Error] = [:]
    private var calls = 0

    /// The number of calls after which parts are replaced without the initializer getting their errors.
    private static let patience = 16
    /// The maximum number of calls.
    private static let maximumCalls = 300

    init(_ probe: Probe, fallback: Probe.Fallback?, path: StoredTree.Path) {
        self.probe = probe
        self.fallback = fallback
        self.path = path
    }

    func decode<Value: Decodable>(_ type: Value.Type, from decoder: any Decoder) throws -> Value {
        var first: (any Error)?
        while calls < Self.maximumCalls {
            let count = replaced.count
            do {
                return try finish(call(Value.self, from: decoder))
            } catch {
                first = first ?? failure?.error ?? error
                if let failure, failure.isReplaceable {
                    replaced[failure.path] = failure
                }
                guard replaced.count > count else {
                    break
                }
            }
        }
        let reason = first ?? CocoaError(.coderInvalidValue)
        // The initializer rejects parts each of which can be decoded, or needs one that neither value has.
        return try finish(search(Value.self, from: decoder, because: reason))
    }

    private func call<Value: Decodable>(_ type: Value.Type, from decoder: any Decoder) throws -> Value {
        calls += 1
        failure = nil
        let value = try Value(from: ProbingDecoder(base: decoder, level: self, fallback: fallback, path: path))
        // A case's values belong together.
        if !replaced.isEmpty, Mirror(reflecting: value).displayStyle == .enum {
            throw replaced.values.first?.error ?? CocoaError(.coderInvalidValue)
        }
        return value
    }

    private func finish<Value>(_ value: Value) -> Value {
        for failure in replaced.values {
            probe.replace(failure.path, by: failure.replacement, because: failure.error)
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
    func part<Part>(at path: StoredTree.Path, _ decode: () throws -> Part) throws -> Part {
        if let part = decoded[path] as? Part {
            return part
        }
        if let error = failed[path] {
            throw error
        }
        do {
            let part = try decode()
            decoded[path] = part
            return part
        } catch {
            failed[path] = error
            throw error
        }
    }

    /// Records that a part can't be used.
    ///
    /// - Returns: Whether it is replaced at once.
    func note(_ failure: Failure) -> Bool {
        self.failure = failure
        guard calls > Self.patience, failure.replacement != nil else {
            return false
        }
        replaced[failure.path] = failure
        return true
    }

    // MARK: Search

    /// Finds the smallest part of the value that has to be replaced, if no single part can be blamed.
    ///
    /// All parts are replaced first, and then as many as possible are taken back, by halves.
    private func search<Value: Decodable>(
        _ type: Value.Type,
        from decoder: any Decoder,
        because error: any Error
    ) throws -> Value {
        guard let fallback, let stored = try? decoder.container(keyedBy: PathKey.self) else {
            throw error
        }
        calls = 0
        replaced = [:]
        let defaults = try? fallback.decoder.container(keyedBy: PathKey.self)
        let names = stored.allKeys.map(\.stringValue).sorted()
        let missing = Set(defaults?.allKeys.map(\.stringValue) ?? []).subtracting(names).sorted()
        for name in names + missing {
            replaceAll(name, of: fallback.tree, at: path, because: error)
        }
        do {
            var value = try call(Value.self, from: decoder)
            func canCall() -> Bool {
                guard calls < Self.maximumCalls, let next = try? call(Value.self, from: decoder) else {
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
            path: path + [name],
            error: error,
            replacement: probe.part(name, of: tree, at: path),
            isReplaceable: true
        )
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
