extension Defaults.Proxy {
    /// Adds to the stored number, atomically across threads and, on a ``FileDefaults``, processes.
    ///
    /// The stored type is kept: a floating-point number remains one, and an integer remains one unless the other number has a
    /// fraction or more than 64 bits. A missing value counts as 0, true as 1, and a string as the number that it begins with. A
    /// stored value of any other type is quarantined and counts as 0. A sum that overflows is reported to
    /// ``DefaultsDiagnostics`` with the code ``DefaultsError/Code/arithmeticOverflow``, and changes nothing.
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
            if let integer = Int64(digits: string) {
                .integer(integer)
            } else {
                isNumeric ? .real(asDouble) : nil
            }
        default: nil
        }
    }

    /// The sum of two numbers; nil when it overflows.
    fileprivate func adding(_ other: PropertyListValue) -> PropertyListValue? {
        guard !isReal, let own = wholeNumber, let others = other.wholeNumber else {
            return .real(asDouble + other.asDouble)
        }
        let (larger, smaller) = own.magnitude < others.magnitude ? (others, own) : (own, others)
        let (magnitude, isOverflow) =
            larger.isNegative == smaller.isNegative
            ? larger.magnitude.addingReportingOverflow(smaller.magnitude)
            : (larger.magnitude - smaller.magnitude, false)
        if isOverflow || larger.isNegative && magnitude > Int64.min.magnitude {
            return nil
        }
        if larger.isNegative {
            return .integer(Int64(truncatingIfNeeded: 0 &- magnitude))
        }
        return Int64(exactly: magnitude).map { .integer($0) } ?? .unsigned(magnitude)
    }

    private var isReal: Bool {
        if case .real = self { true } else { false }
    }

    /// A whole number of at most 64 bits; nil for other numbers.
    private var wholeNumber: (isNegative: Bool, magnitude: UInt64)? {
        switch self {
        case .integer(let integer): (integer < 0, integer.magnitude)
        case .unsigned(let unsigned): (false, unsigned)
        case .real(let real): UInt64(exactly: real.magnitude).map { (real < 0, $0) }
        default: nil
        }
    }
}
