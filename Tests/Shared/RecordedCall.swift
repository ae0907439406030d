/// The values of the two keys of a pair in a call: 0 for a key without a value, and nil for a key that the call left
/// alone.
struct KeyPair: Equatable {
    var first: Int?
    var second: Int?

    static let untouched = KeyPair(first: nil, second: nil)

    /// The pair of numbers as a line of a history has it.
    var text: String { "\(first.map(String.init) ?? "-") \(second.map(String.init) ?? "-")" }

    init(first: Int?, second: Int?) { (self.first, self.second) = (first, second) }

    /// Reads ``text``; nil for any other text.
    init?(_ words: some Sequence<Substring>) {
        var numbers: [Int?] = []
        for word in words {
            guard word == "-" || Int(word) != nil else { return nil }
            numbers.append(Int(word))
        }
        guard numbers.count == 2 else { return nil }
        self.init(first: numbers[0], second: numbers[1])
    }
}

/// A line of the record of a process's thread: each call has one when it begins, and one when it ends.
///
/// Times are nanoseconds of the clock that all processes of a machine share, and that never stops or jumps.
enum HistoryLine: Equatable {
    /// A call begins that will write these values.
    case begin(time: UInt64, pair: Int, hasLock: Bool, written: KeyPair)
    /// A call has returned, and has found these values.
    case end(time: UInt64, found: KeyPair)
    /// A call has thrown that a value is mandatory.
    case refused(time: UInt64)
    /// An observer has received the value of a key.
    case delivery(time: UInt64, pair: Int, found: KeyPair)

    var text: String {
        switch self {
        case .begin(let time, let pair, let hasLock, let written):
            "\(hasLock ? "locked" : "free") \(time) \(pair) \(written.text)"
        case .end(let time, let found): "end \(time) \(found.text)"
        case .refused(let time): "refused \(time) \(KeyPair.untouched.text)"
        case .delivery(let time, let pair, let found): "delivery \(time) \(pair) \(found.text)"
        }
    }

    /// Reads ``text``; nil for any other text, such as half of a line that a killed process has left.
    init?(_ text: Substring) {
        let words = text.split(separator: " ")
        guard words.count > 2, let time = UInt64(words[1]), let values = KeyPair(words.suffix(2)) else { return nil }
        switch (words[0], words.count, Int(words[2])) {
        case ("refused", 4, _): self = .refused(time: time)
        case ("end", 4, _): self = .end(time: time, found: values)
        case ("delivery", 5, let pair?): self = .delivery(time: time, pair: pair, found: values)
        case ("locked", 5, let pair?): self = .begin(time: time, pair: pair, hasLock: true, written: values)
        case ("free", 5, let pair?): self = .begin(time: time, pair: pair, hasLock: false, written: values)
        default: return nil
        }
    }
}

/// The suites that several processes write, for their histories.
enum HistorySuite {
    static let pairs = 3

    static func key(_ pair: Int, isFirst: Bool) -> String { "\(isFirst ? "first" : "second") \(pair)" }

    /// The value that a mandatory source has for keys, which no call writes.
    static let mandatoryValue = -1

    /// The last values of the keys, when no process writes any more: above all others, and different for each key.
    static func lastValue(_ pair: Int, isFirst: Bool) -> Int { 1 << 60 + 2 * pair + (isFirst ? 0 : 1) }
}
