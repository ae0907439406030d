#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// Values that a bridge converts: typed keys and containers.
extension KeyAccess {
    /// The stored value.
    ///
    /// - Parameters:
    ///   - bridge: How the value is stored.
    ///   - initial: The value from which the stored one is filled in; nil for none.
    /// - Returns: The value; nil when nothing is stored.
    /// - Throws: `invalidKey`, `undecodable`, `typeMismatch`, or the reason why the store can't be read.
    func load<Value>(
        by bridge: ValueBridge<Value>,
        default initial: @autoclosure () -> Value?
    ) throws(DefaultsError) -> Value? {
        guard let stored = store.storedValue(forKey: key) else {
            try checkAbsence(type: Value.self)
            return nil
        }
        return try decode(stored, by: bridge, default: initial())
    }

    /// Decodes a stored value, and reports what was filled in.
    func decode<Value>(
        _ stored: PropertyListValue,
        by bridge: ValueBridge<Value>,
        default initial: @autoclosure () -> Value?
    ) throws(DefaultsError) -> Value {
        do {
            return try decodeExactly(stored, by: bridge)
        } catch {
            return try decodeFillingIn(stored, by: bridge, default: initial(), because: error)
        }
    }

    // A function of its own: the types that it makes of `Value` would be looked up by each call that decodes something.
    @inline(never)
    private func decodeFillingIn<Value>(
        _ stored: PropertyListValue,
        by bridge: ValueBridge<Value>,
        default initial: @autoclosure () -> Value?,
        because fault: DefaultsError
    ) throws(DefaultsError) -> Value {
        var stored = stored
        if let translated = ForeignForm.translate(stored, by: bridge) {
            if let value = try? decodeExactly(translated, by: bridge) {
                return value
            }
            stored = translated
        }
        guard case .data(let data) = stored, let (value, report) = fillIn(data, by: bridge, default: initial()) else {
            throw fault.about(stored)
        }
        DefaultsDiagnostics.report(report, context(Value.self))
        return value
    }

    /// What is remembered of bytes that can't be decoded: those that were filled in, and their report; nil when they can't be used.
    private struct Remembered<Value> {
        let outcome: (bytes: Data, report: LoadReport)?
        /// Whether reads may share the value; nil before that had to be known.
        var isShareable: Bool?
    }

    /// Fills in bytes that can't be decoded.
    ///
    /// - Returns: The value; nil when the bytes can't be used.
    private func fillIn<Value>(
        _ data: Data,
        by bridge: ValueBridge<Value>,
        default initial: @autoclosure () -> Value?
    ) -> (value: Value, report: LoadReport)? {
        guard bridge.decodesData, let type = Value.self as? any Decodable.Type else {
            return nil
        }
        let (cache, coder) = (DecodedValueCache.shared, DefaultsCoder.json)
        func decode(_ data: Data) -> Value? { (try? coder.decodeTopLevel(anyOf: type, from: data)) as? Value }
        if var known = cache.sharedValue(Remembered<Value>.self, of: data, forKey: key) {
            guard let (bytes, report) = known.outcome, let value = decode(bytes) else {
                return nil
            }
            if known.isShareable == nil {
                known.isShareable = decode(bytes).map { ValueSemantics.areInterchangeable(value, $0) } ?? false
                cache.share(known, of: data, forKey: key)
            }
            // Other bytes may have taken the place of the shared value since.
            if known.isShareable == true {
                cache.share(value, of: data, forKey: key)
            }
            return (value, report)
        }
        let initial = initial().flatMap { $0 as? any Encodable }
        guard let (completed, completion) = Completion.run(type, on: data, default: initial, coder: coder),
            let value = completed as? Value
        else {
            cache.share(Remembered<Value>(outcome: nil), of: data, forKey: key)
            return nil
        }
        if completion.cause != .mixed {
            let outcome = (completion.bytes, completion.report)
            let isShareable = completion.cause == .bytes ? nil : false
            cache.share(Remembered<Value>(outcome: outcome, isShareable: isShareable), of: data, forKey: key)
        }
        return (value, completion.report)
    }

    /// Decodes a stored value in the bridge's own form.
    func decodeExactly<Value>(
        _ stored: PropertyListValue,
        by bridge: ValueBridge<Value>,
        sharing isShared: Bool = true
    ) throws(DefaultsError) -> Value {
        do {
            guard isShared, bridge.decodesData, case .data(let data) = stored else {
                return try bridge.decode(stored)
            }
            return try DecodedValueCache.shared.value(of: data, forKey: key, isLasting: { $0 is DecodingError }) {
                try bridge.decode(stored)
            }
        } catch {
            if case .data(let data) = stored, !(error is UnexpectedValue) {
                throw .undecodable(error, byteCount: data.count, context(Value.self))
            }
            throw .typeMismatch(found: stored, context(Value.self))
        }
    }

    /// Stores a value, or removes the stored value if the bridge encodes the new one as nil.
    ///
    /// A stored value that can't be read with the same bridge is quarantined first.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - bridge: How the value is stored.
    ///   - initial: The value from which the stored one is filled in; nil for none.
    ///   - isReadable: Whether what was read under the key is known to be readable or absent.
    /// - Throws: `invalidKey`, `encodingFailed`, `quarantineFailed`, or errors of the store. The stored value is unchanged
    ///   then.
    func save<Value>(
        _ value: Value,
        by bridge: ValueBridge<Value>,
        default initial: @autoclosure () -> Value?,
        isReadable: Bool = false
    ) throws(DefaultsError) {
        let encoded: PropertyListValue?
        do {
            encoded = try bridge.encode(value)
        } catch let fault as PropertyListValue.UnsupportedObject {
            throw .unsupportedValue(fault, context(nil))
        } catch {
            throw .encodingFailed(error, context(Value.self))
        }
        var loss: DefaultsError?
        try DefaultsError.wrapping(context(Value.self)) {
            // A coder's value may have been filled in.
            if isReadable, !bridge.decodesData, !isOverridden {
                try store.setStoredValue(encoded, forKey: key)
            } else {
                try store.withExclusiveAccess {
                    let replaced = ownValue
                    loss = replaced.flatMap { self.loss(inReplacing: $0, by: bridge, default: initial()) }
                    guard let replaced, loss != nil else {
                        return try store.setStoredValue(encoded, forKey: key)
                    }
                    try store.transaction {
                        try quarantine(of: Value.self).add(replaced)
                        try store.setStoredValue(encoded, forKey: key)
                    }
                }
            }
        }
        store.notifyChange(forKey: key)
        if let loss {
            quarantine(of: Value.self).report(because: loss)
        }
    }

    /// Stores the newest quarantined value again that can be used, and quarantines the value that it replaces.
    ///
    /// - Returns: The value; nil when there is none.
    /// - Throws: `invalidKey`, `typeMismatch`, or errors of the store. Nothing is changed then.
    func restoreQuarantined<Value>(
        by bridge: ValueBridge<Value>,
        default initial: @autoclosure () -> Value?
    ) throws(DefaultsError) -> QuarantinedValue? {
        try quarantine(of: Value.self).restore {
            (ownValue, nil)
        } where: { value, _ in
            loss(inReplacing: value, by: bridge, default: initial()) == nil
        }
    }

    /// The reason why replacing the stored value would lose data; nil when all of it can be used.
    private func loss<Value>(
        inReplacing stored: PropertyListValue,
        by bridge: ValueBridge<Value>,
        default initial: @autoclosure () -> Value?
    ) -> DefaultsError? {
        // Decoding costs as much as encoding, so the same bytes are decoded only once.
        if bridge.decodesData, case .data(let data) = stored,
            DecodedValueCache.shared.contains(data, of: Value.self, forKey: key)
        {
            return nil
        }
        do {
            _ = try decodeExactly(stored, by: bridge, sharing: false)
            if bridge.decodesData, case .data(let data) = stored {
                DecodedValueCache.shared.insert(data, of: Value.self, forKey: key)
            }
            return nil
        } catch {
            return lossFillingIn(stored, by: bridge, default: initial(), because: error)
        }
    }

    // As for `decodeFillingIn`.
    @inline(never)
    private func lossFillingIn<Value>(
        _ stored: PropertyListValue,
        by bridge: ValueBridge<Value>,
        default initial: @autoclosure () -> Value?,
        because fault: DefaultsError
    ) -> DefaultsError? {
        var stored = stored
        if let translated = ForeignForm.translate(stored, by: bridge) {
            if (try? decodeExactly(translated, by: bridge, sharing: false)) != nil {
                return nil
            }
            stored = translated
        }
        guard case .data(let data) = stored, let report = fillIn(data, by: bridge, default: initial())?.report else {
            return fault
        }
        return report.unusable.isEmpty ? nil : .filledIn(report, context(Value.self))
    }
}
