public import Default
public import Foundation
import SettingsValues

/// The suites that a page shows.
public protocol PageSource: Sendable {
    /// The suites that there are now.
    func suites() throws -> [SuiteSummary]

    /// Opens a suite to show it.
    ///
    /// - Parameter id: What ``suites()`` calls it.
    /// - Returns: The suite.
    /// - Throws: An error whose description a person can be shown.
    func suite(_ id: String) throws -> any PageSuite
}

/// A suite as the list of suites shows it.
public struct SuiteSummary: Codable, Hashable, Sendable {
    /// What the page calls the suite in requests.
    public var id: String
    /// What people call it.
    public var name: String
    /// The number of its keys, where that is known.
    public var keyCount: Int?
    /// Its size in bytes, where that is known.
    public var size: UInt64?
    /// When it was last changed, where that is known.
    public var lastChange: Date?
    /// What is special or wrong about it.
    public var notes: [ConditionNote]

    /// Describes a suite.
    public init(
        id: String,
        name: String,
        keyCount: Int? = nil,
        size: UInt64? = nil,
        lastChange: Date? = nil,
        notes: [ConditionNote] = []
    ) {
        self.id = id
        self.name = name
        self.keyCount = keyCount
        self.size = size
        self.lastChange = lastChange
        self.notes = notes
    }
}

/// A sentence about a suite's condition.
public struct ConditionNote: Codable, Hashable, Sendable {
    /// How much it matters.
    public enum Level: String, Codable, Sendable {
        case good, information, warning, problem
    }

    /// How much it matters.
    public var level: Level
    /// One or two words for a list.
    public var label: String
    /// What it means, and what to do.
    public var text: String

    /// Makes a note.
    public init(_ level: Level, _ label: String, _ text: String) {
        self.level = level
        self.label = label
        self.text = text
    }
}

/// An open suite: what it holds, and what it says about itself and about writes.
public protocol PageSuite: Sendable {
    /// The suite, to be read and watched.
    var store: any DefaultsStore & Sendable { get }

    /// The suite, to be changed.
    func writableStore() throws -> any DefaultsStore & Sendable

    /// Values that programs use while nothing is stored; they are shown among the stored ones.
    var declaredValues: [String: PropertyListValue] { get }

    /// The suite's condition at this moment.
    func condition() -> [ConditionNote]

    /// What became of a write that has returned without an error.
    func outcomeOfWrite() -> WriteOutcome

    /// What became of a write that has failed.
    func outcome(of error: any Error) -> WriteOutcome
}

/// What became of a write.
public enum WriteOutcome: Hashable, Sendable {
    /// It is stored.
    case stored(String)
    /// Nothing was stored.
    case refused(String)
    /// Others were faster; nothing was stored.
    case conflict(String)
    /// It may be stored, now or later.
    case unknown(String)
}

extension PageSuite {
    /// None.
    public var declaredValues: [String: PropertyListValue] { [:] }

    /// Nothing is to be said.
    public func condition() -> [ConditionNote] { [] }

    /// It is stored.
    public func outcomeOfWrite() -> WriteOutcome { .stored("Stored.") }

    /// Nothing was stored.
    public func outcome(of error: any Error) -> WriteOutcome { .refused("\(error)") }
}

/// A page's only suite.
public struct SingleSuite: PageSource {
    private let name: String
    private let suite: any PageSuite

    /// Makes a source of a suite, which people call by a name.
    public init(_ suite: any PageSuite, name: String) {
        self.suite = suite
        self.name = name
    }

    /// The suite.
    public func suites() -> [SuiteSummary] {
        [SuiteSummary(id: name, name: name, keyCount: suite.store.storedKeys().count, notes: suite.condition())]
    }

    /// The suite, if it has this name.
    public func suite(_ id: String) throws -> any PageSuite {
        guard id == name else { throw ToolError.noSuite("There is no suite of this name.") }
        return suite
    }
}
