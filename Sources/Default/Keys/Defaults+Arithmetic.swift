extension Defaults.Proxy {
    /// Adds to the stored number, atomically across threads and, on a ``FileDefaults``, processes.
    ///
    /// The stored type is kept: a floating-point number remains one, and an integer remains one unless the sum has a
    /// fraction. A missing value counts as 0, true as 1, and a string as the number that it begins with. A stored value of
    /// any other type is quarantined and counts as 0. A sum that overflows is reported to ``DefaultsDiagnostics`` with the
    /// code ``DefaultsError/Code/arithmeticOverflow``, and changes nothing.
    ///
    /// - Parameters:
    ///   - proxy: The stored number.
    ///   - summand: The number to add.
    public static func += (proxy: Defaults.Proxy, summand: Int) {
        proxy.add(.integer(Int64(summand)))
    }

    /// Adds to the stored number, atomically; see `+=` for `Int`.
    public static func += (proxy: Defaults.Proxy, summand: Double) {
        proxy.add(.real(summand))
    }

    /// Subtracts from the stored number, atomically; see `+=` for `Int`.
    public static func -= (proxy: Defaults.Proxy, subtrahend: Int) {
        // -Int.min does not fit into an Int64.
        proxy.add(subtrahend == .min ? .unsigned(UInt64(Int64.max) + 1) : .integer(-Int64(subtrahend)))
    }

    /// Subtracts from the stored number, atomically; see `+=` for `Int`.
    public static func -= (proxy: Defaults.Proxy, subtrahend: Double) {
        proxy.add(.real(-subtrahend))
    }

    private func add(_ summand: PropertyListValue) {
        let bridge = ValueBridge<PropertyListValue>(
            encode: { $0 },
            decode: { stored in
                guard let number = stored.numeric else {
                    throw UnexpectedValue()
                }
                return number
            }
        )
        var change = ValueChange(forKey: key, in: suite)
        defer { change.end() }
        guard let sum = change.value(by: bridge, default: { .integer(0) }).adding(summand) else {
            let error = DefaultsError.arithmeticOverflow(key: key, store: suite.storeDescription)
            return DefaultsDiagnostics.report(.init(kind: .writeFailed, error: error))
        }
        change.commit(sum, by: bridge)
    }
}

extension Defaults.Proxy {
    /// Stores a value if none is stored, atomically; the implementation of the operator `?=` in `DefaultOperators`.
    package func setIfAbsent(_ value: () -> Any) {
        DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in
            do {
                try suite.withExclusiveAccess {
                    if !exists {
                        try KeyAccess(key, in: suite).save(value())
                    }
                }
            } catch {
                throw .wrapping(error, key: key, type: nil, store: suite.storeDescription)
            }
        }
    }
}

extension PropertyListValue {
    /// The value as a number.
    fileprivate var numeric: PropertyListValue? {
        switch self {
        case .integer, .unsigned, .real: self
        case .boolean(let boolean): .integer(boolean ? 1 : 0)
        case .string(let string):
            if let integer = Int64(string) {
                .integer(integer)
            } else {
                isNumeric ? .real(asDouble) : nil
            }
        default: nil
        }
    }

    /// The sum of two numbers; nil when it overflows.
    fileprivate func adding(_ other: PropertyListValue) -> PropertyListValue? {
        guard case .real = self else {
            guard let own = wholeNumber, let others = other.wholeNumber else {
                return .real(asDouble + other.asDouble)
            }
            // Both have at most 101 bits, so the sum fits into 128.
            let sum = own + others
            return Int64(exactly: sum).map { .integer($0) } ?? UInt64(exactly: sum).map { .unsigned($0) }
        }
        return .real(asDouble + other.asDouble)
    }

    private var wholeNumber: Int128? {
        switch self {
        case .integer(let integer): Int128(integer)
        case .unsigned(let unsigned): Int128(unsigned)
        // Whole numbers that are too large for an integer in a store make the sum overflow.
        case .real(let real): real.magnitude < 0x1p100 ? Int128(exactly: real) : nil
        default: nil
        }
    }
}
