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
        var change = ChangeInPlace(forKey: key, in: suite)
        defer { change.end() }
        guard let sum = change.value(by: bridge, default: { .integer(0) }).adding(summand) else {
            let error = DefaultsError.arithmeticOverflow(ErrorContext(key, in: suite))
            return DefaultsDiagnostics.report(.init(kind: .writeFailed, error: error))
        }
        change.commit(sum, by: bridge, default: { .integer(0) })
    }
}

extension Defaults.Proxy {
    /// Stores a value if none is stored, atomically; the implementation of the operator `?=` in `DefaultOperators`.
    package func setIfAbsent(_ value: () -> Any) {
        DefaultsDiagnostics.reporting(.writeFailed) { () throws(DefaultsError) in
            try DefaultsError.wrapping(ErrorContext(key, in: suite)) {
                try suite.withExclusiveAccess {
                    if !exists {
                        try KeyAccess(key, in: suite).save(value())
                    }
                }
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
            let sum = own + others
            return Int64(exactly: sum).map { .integer($0) } ?? UInt64(exactly: sum).map { .unsigned($0) }
        }
        return .real(asDouble + other.asDouble)
    }

    private var wholeNumber: WholeNumber? {
        switch self {
        case .integer(let integer): WholeNumber(integer)
        case .unsigned(let unsigned): WholeNumber(unsigned)
        // Whole numbers that are too large for an integer in a store make the sum overflow.
        case .real(let real): real.magnitude < 0x1p100 ? WholeNumber(exactly: real) : nil
        default: nil
        }
    }
}

/// A whole number of 128 bits, of which at most 101 are used, so that a sum of two never overflows.
///
/// The standard library's `Int128` needs macOS 15.
private struct WholeNumber {
    // Two's complement.
    var high: Int64
    var low: UInt64

    init(_ integer: Int64) {
        high = integer >> 63
        low = UInt64(bitPattern: integer)
    }

    init(_ unsigned: UInt64) {
        high = 0
        low = unsigned
    }

    /// Nil when the number has a fraction; its magnitude has to be below 2^100.
    init?(exactly real: Double) {
        guard real == real.rounded(.towardZero) else {
            return nil
        }
        let multiple = (real.magnitude / 0x1p64).rounded(.down)
        high = Int64(multiple)
        low = UInt64(real.magnitude - multiple * 0x1p64)
        if real < 0 {
            low = 0 &- low
            high = low == 0 ? -high : ~high
        }
    }

    static func + (one: WholeNumber, other: WholeNumber) -> WholeNumber {
        var sum = one
        let (low, isCarrying) = one.low.addingReportingOverflow(other.low)
        sum.low = low
        sum.high += other.high + (isCarrying ? 1 : 0)
        return sum
    }
}

extension Int64 {
    fileprivate init?(exactly number: WholeNumber) {
        self.init(bitPattern: number.low)
        guard number.high == self >> 63 else {
            return nil
        }
    }
}

extension UInt64 {
    fileprivate init?(exactly number: WholeNumber) {
        guard number.high == 0 else {
            return nil
        }
        self = number.low
    }
}
