import Foundation
import Testing

/// The extent of the tests: by default only as much as `swift test` has time for; everything if `DEFAULT_TESTS` is
/// `all`, as in `.ci/run`.
enum TestExtent {
    static let isFull = ProcessInfo.processInfo.environment["DEFAULT_TESTS"] == "all"

    /// Picks a number of rounds, or the cases of a test.
    static func pick<Amount>(brief: Amount, full: Amount) -> Amount {
        isFull ? full : brief
    }

    /// Picks every `stride`-th element of a collection, and in full runs every one.
    static func sample<Element>(_ elements: [Element], every stride: Int) -> [Element] {
        isFull ? elements : elements.enumerated().filter { $0.offset.isMultiple(of: stride) }.map(\.element)
    }

    /// The seed of the tests that generate their data.
    ///
    /// It is different in each run, and printed, so that `DEFAULT_TEST_SEED` can repeat a failure.
    static let seed: UInt64 = {
        let chosen = ProcessInfo.processInfo.environment["DEFAULT_TEST_SEED"].flatMap(UInt64.init)
        let seed = chosen ?? .random(in: 1 ... .max)
        print("Seed of this run: DEFAULT_TEST_SEED=\(seed)")
        return seed
    }()
}

extension Trait where Self == ConditionTrait {
    /// Runs a long test, which has a smaller one beside it, only in full runs.
    static var onlyInFullRuns: Self {
        .enabled(if: TestExtent.isFull, "Takes long: runs where DEFAULT_TESTS is all.")
    }
}

/// A generator with the same numbers for the same seed: SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
