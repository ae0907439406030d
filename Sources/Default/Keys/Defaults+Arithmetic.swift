extension Defaults.Proxy {
    /// Adds to the stored number, as one operation across threads and, on a ``FileDefaults``, processes.
    ///
    /// The stored type wins: a floating-point number stays one, and an integer stays one unless the sum has a fraction.
    /// Nothing stored counts as 0, true as 1, and a string as the number it begins with. Something else that is
    /// stored, which is no number, is quarantined, and counts as 0. A sum that overflows is reported to
    /// ``DefaultsDiagnostics`` with the code ``DefaultsError/Code/arithmeticOverflow``, and changes nothing.
    ///
    /// - Parameters:
    ///   - proxy: What to add to.
    ///   - summand: What to add.
    public static func += (proxy: Defaults.Proxy, summand: Int) {
        proxy.add(.integer(Int64(summand)))
    }

    /// Adds to the stored number, as one operation; see `+=` for `Int`.
    ///
    /// - Parameters:
    ///   - proxy: What to add to.
    ///   - summand: What to add.
    public static func += (proxy: Defaults.Proxy, summand: Double) {
        proxy.add(.real(summand))
    }

    /// Subtracts from the stored number, as one operation; see `+=` for `Int`.
    ///
    /// - Parameters:
    ///   - proxy: What to subtract from.
    ///   - subtrahend: What to subtract.
    public static func -= (proxy: Defaults.Proxy, subtrahend: Int) {
        // The opposite of Int.min is no Int64.
        proxy.add(subtrahend == .min ? .unsigned(UInt64(Int64.max) + 1) : .integer(-Int64(subtrahend)))
    }

    /// Subtracts from the stored number, as one operation; see `+=` for `Int`.
    ///
    /// - Parameters:
    ///   - proxy: What to subtract from.
    ///   - subtrahend: What to subtract.
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
    /// Stores a value unless something is there, as one operation; what the operator `?=` of `DefaultOperators` is made of.
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
    /// The number that this is or stands for.
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

    /// The sum of two numbers, nil when it overflows.
    fileprivate func adding(_ other: PropertyListValue) -> PropertyListValue? {
        guard case .real = self else {
            guard let own = wholeNumber, let others = other.wholeNumber else {
                return .real(asDouble + other.asDouble)
            }
            // Two of at most 65 bits each: their sum fits into 128.
            let sum = own + others
            return Int64(exactly: sum).map { .integer($0) } ?? UInt64(exactly: sum).map { .unsigned($0) }
        }
        return .real(asDouble + other.asDouble)
    }

    private var wholeNumber: Int128? {
        switch self {
        case .integer(let integer): Int128(integer)
        case .unsigned(let unsigned): Int128(unsigned)
        // Whole numbers beyond what a store can hold as such overflow the sum.
        case .real(let real): real.magnitude < 0x1p100 ? Int128(exactly: real) : nil
        default: nil
        }
    }
}
