/// The outcome of reading a value, for callers that keep the last readable one.
enum Reading<Value> {
    /// The stored value, or the default while nothing is stored.
    case readable(Value)
    /// The value that a plain read returns instead of a stored one that can't be read, and why that can't be read.
    case unreadable(substitute: Value, because: DefaultsError)

    /// Reads a value.
    ///
    /// - Parameters:
    ///   - substitute: The value to use if that throws.
    ///   - read: Returns the stored value, or the default while nothing is stored.
    init(or substitute: @autoclosure () -> Value, _ read: () throws(DefaultsError) -> Value) {
        do {
            self = .readable(try read())
        } catch {
            self = .unreadable(substitute: substitute(), because: error)
        }
    }

    /// The same outcome with another value.
    func map<New>(_ transform: (Value) -> New) -> Reading<New> {
        switch self {
        case .readable(let value): .readable(transform(value))
        case .unreadable(let substitute, let error): .unreadable(substitute: transform(substitute), because: error)
        }
    }
}

/// The last value that could be read, for a sequence, which delivers nothing for one that can't be.
final class LastReadable<Value> {
    /// The last readable value after a look at what is stored.
    struct Update {
        let value: Value
        /// Whether it differs from the one before it.
        let isNew: Bool

        /// The value if it is new; otherwise nil.
        var newValue: Value? { isNew ? value : nil }
    }

    private struct Known {
        /// The contents of the keys when the value was read; nil if they aren't known.
        let stored: [PropertyListValue?]?
        let value: Value
    }

    private var last: Known?
    /// Whether what was read last could not be read.
    private var isInterrupted = false
    private let comparesValues: Bool

    /// - Parameter comparesValues: Whether a value that equals the last one is not new, although it is stored in
    ///   another form. One that equals it after a value that can't be read is not new in any case.
    init(comparesValues: Bool) { self.comparesValues = comparesValues }

    /// Updates the value; one that can't be read is reported.
    ///
    /// - Parameters:
    ///   - stored: The contents of the keys; nil if only `read` can find out whether anything changed.
    ///   - read: Reads the value.
    /// - Returns: The value. The first one is new.
    func update(stored: [PropertyListValue?]?, _ read: () -> Reading<Value>) -> Update {
        if let last, let stored, last.stored?.areSame(as: stored) == true {
            isInterrupted = false
            return Update(value: last.value, isNew: false)
        }
        switch read() {
        case .readable(let value):
            let mayBeSame = comparesValues || isInterrupted
            let isNew = last.map { !mayBeSame || !ValueSemantics.areEqual($0.value, value) } ?? true
            last = Known(stored: stored, value: value)
            isInterrupted = false
            return Update(value: value, isNew: isNew)
        case .unreadable(let substitute, let error):
            DefaultsDiagnostics.report(.readFailed, error)
            isInterrupted = true
            if let last { return Update(value: last.value, isNew: false) }
            // As if nothing were stored, so that a removal is nothing new.
            last = Known(stored: stored?.map { _ in nil }, value: substitute)
            return Update(value: substitute, isNew: true)
        }
    }
}
