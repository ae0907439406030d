import ArgumentParser
import Default
import DefaultFleet
import Foundation
import Logging

extension TypedText.ValueType: ExpressibleByArgument {}

/// What all commands need that read or change one suite in the cluster.
struct SuiteOptions: ParsableArguments {
    @OptionGroup var cluster: ClusterOptions
    @Option(help: "The suite's name.")
    var suite: String

    func open(copy: HostCopy? = nil) throws(DefaultsError) -> SuiteOperator {
        try SuiteOperator(cluster.cluster, suiteName: suite, deadline: .seconds(cluster.deadline), copy: copy)
    }

    /// Runs a body that reads the suite.
    func run(_ body: @escaping @Sendable (SuiteOperator) throws -> Void) async throws {
        let logger = cluster.makeLogger()
        try await Exit.run(with: logger) {
            let suite = try open()
            try await onThread { try body(suite) }
        }
    }
}

/// What commands need that change a suite: also this host's copy, to see whether the cluster is still the same.
struct ChangeOptions: ParsableArguments {
    @OptionGroup var suite: SuiteOptions
    @Option(help: "The directory of this host's copy, if it is neither the library's nor in FLEET_AGENT_REPLICAS.")
    var replica: String?

    /// Runs a body that changes the suite, or only shows what it would change.
    func run(
        changes: Bool = true,
        _ body: @escaping @Sendable (SuiteOperator) throws -> Void
    ) async throws {
        let logger = suite.cluster.makeLogger()
        try await Exit.run(with: logger) {
            let suite = try suite.open(copy: changes ? copy(logger) : nil)
            try await onThread { try body(suite) }
        }
    }

    /// This host's copy; nil if there is none, or it was not named and can't be read.
    private func copy(_ logger: Logger) throws(DefaultsError) -> HostCopy? {
        let place = HostCopy.url(ofSuite: suite.suite, replica: replica) ?? HostCopy.usualURL(ofSuite: suite.suite)
        do throws(DefaultsError) {
            if let copy = try place.flatMap({ url throws(DefaultsError) in try HostCopy(at: url) }), copy.isFilled {
                return copy
            }
        } catch {
            guard replica == nil else { throw error }
            logger.warning("This host's copy of the suite can't be read.", metadata: ["reason": "\(error)"])
        }
        logger.warning(
            """
            This host has no copy of the suite to compare the cluster with. If the cluster was restored from a backup, hosts \
            keep their values, and don't see this change, until an operator accepts the replacement: see --replica.
            """
        )
        return nil
    }
}

extension HostCopy {
    /// Where the copy of a suite is, by the options and the environment; nil where the library puts it.
    static func url(ofSuite name: String, replica: String?, replicas: String? = nil) -> URL? {
        replica.map { URL(fileURLWithPath: $0, isDirectory: true) }
            ?? (replicas ?? ProcessInfo.processInfo.environment["FLEET_AGENT_REPLICAS"])
            .map { URL(fileURLWithPath: $0, isDirectory: true).appendingPathComponent(name) }
    }
}

extension SuiteOperator.Version {
    /// One line.
    fileprivate var line: String {
        guard let value else { return "removed" }
        return TypedText.line(of: value) + (malformed.map { "\tnot JSON, but \($0)" } ?? "")
    }
}

private func line(_ key: String, _ value: PropertyListValue?) -> String {
    "\(TypedText.line(of: key))\t\(value.map { TypedText.line(of: $0) } ?? "none")"
}

/// What is in a file, or for - in the standard input.
private func bytes(ofFile path: String) throws -> Data {
    // In an export, spaces and escapes may take several times as much as the texts.
    let limit = 4 * SuiteLimits.bytes
    var bytes = Data()
    do {
        let file =
            path == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        // A pipe gives less at once.
        while bytes.count <= limit, let piece = try file.read(upToCount: 1 << 20), !piece.isEmpty {
            bytes += piece
        }
    } catch {
        throw TypedText.Mistake("The file can't be read: \(error.localizedDescription)")
    }
    guard bytes.count <= limit else {
        throw TypedText.Mistake("The file has more than \(limit) bytes, which no suite can have.")
    }
    return bytes
}

struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print all keys, each with its value as JSON.")
    @OptionGroup var options: SuiteOptions

    func run() async throws {
        try await options.run { suite in
            for (key, version) in try suite.values().values.inOrder() {
                print("\(TypedText.line(of: key.string))\t\(version.line)")
            }
        }
    }
}

struct Get: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print the value of a key as JSON.")
    @OptionGroup var options: SuiteOptions
    @Argument var key: String
    @Option(help: "Print the value that the key had at this revision of the cluster.")
    var revision: Int64?

    func run() async throws {
        try await options.run { [key, revision] suite in
            guard let found = try suite.value(of: key, at: revision) else { throw ExitCode(1) }
            print(found.line)
        }
    }
}

struct SetValue: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Store a value under a key.",
        discussion: """
            The value is JSON, as the command get prints it. It has to be of the type of the present value: a Boolean (true, false, yes, no, on \
            and off), a number, a text, with or without quotes, a date, or the JSON of a settings type. A key without a value \
            needs --type string for a text without quotes, and --type json for a settings type. Where the present value is \
            text that can't be read, the one before it counts, if etcd still has it.
            """
    )
    @OptionGroup var options: ChangeOptions
    @Argument var key: String
    @Argument(help: "The value; or --from says where it is.")
    var value: String?
    @Option(help: "A file with the value, or - for the standard input; a line break at its end is left out.")
    var from: String?
    @Option(help: "The type of the value, which may be another one than that of the present value.")
    var type: TypedText.ValueType?

    func validate() throws {
        guard (value == nil) != (from == nil) else {
            throw ValidationError("Give the value after the key, or a file that has it: --from.")
        }
    }

    private func text() throws -> String {
        guard let from else { return value ?? "" }
        guard let text = String(validating: try bytes(ofFile: from), as: UTF8.self) else {
            throw TypedText.Mistake("The file is not text in UTF-8.")
        }
        return text.last?.isNewline == true ? String(text.dropLast()) : text
    }

    func run() async throws {
        try await options.run { [self] suite in
            let text = try text()
            let present = try suite.value(of: key)
            let known = try type == nil ? suite.lastReadableValue(of: key, present: present) : nil
            let new = try TypedText.value(of: text, as: type, inPlaceOf: known)
            try suite.store([.init(StoreKey(unchecked: key), to: new, from: present)])
            print(line(key, new))
        }
    }
}

struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove the value of a key, so that programs use the default."
    )
    @OptionGroup var options: ChangeOptions
    @Argument var key: String

    func run() async throws {
        try await options.run { [key] suite in
            guard let present = try suite.value(of: key) else { throw ExitCode(1) }
            try suite.store([.init(StoreKey(unchecked: key), to: nil, from: present)])
            print(line(key, nil))
        }
    }
}

struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print all values as one JSON object, which the command import reads."
    )
    @OptionGroup var options: SuiteOptions

    func run() async throws {
        try await options.run { suite in
            let values = try suite.values().values.compactMapValues(\.value)
            let lines = values.inOrder().map { key, value in
                // Without the braces.
                "  " + TypedText.text(of: .dictionary([key.string: value])).dropFirst().dropLast()
            }
            print("{\n" + lines.joined(separator: ",\n") + "\n}")
        }
    }
}

struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Show how a file that the command export has made differs from the suite, and store its values with --apply.",
        discussion: """
            Each line shows a key, its present value and its new one. Values of another type than the present ones are refused. Up to \
            60 keys, of 500,000 bytes, are stored together; if others change one of them meanwhile, the command ends, and may be \
            called again.
            """
    )
    @OptionGroup var options: ChangeOptions
    @Argument(help: "The file, or - for the standard input.") var file: String
    @Flag(help: "Store the differences.")
    var apply = false
    @Flag(help: "Remove what the file doesn't have.")
    var removeOthers = false
    @Flag(help: "Accept values of another type than the present ones.")
    var changeTypes = false

    func run() async throws {
        try await options.run(changes: apply) { [file, apply, removeOthers, changeTypes] suite in
            guard let text = String(validating: try bytes(ofFile: file), as: UTF8.self),
                let new = TypedText.values(of: text)
            else {
                throw TypedText.Mistake("The file is not a JSON object of values, each under a key of its own.")
            }
            let present = try suite.values().values
            var changes: [SuiteOperator.Change] = []
            for (key, value) in new.inOrder() where present[key]?.value != value {
                if !changeTypes, let before = try suite.lastReadableValue(of: key.string, present: present[key]),
                    TypedText.ValueType(of: before) != TypedText.ValueType(of: value)
                {
                    throw TypedText.Mistake(
                        """
                        \(TypedText.line(of: key.string)) is of another type than the present value. Say --change-types if that is meant.
                        """
                    )
                }
                changes.append(.init(key, to: value, from: present[key]))
            }
            if removeOthers {
                let others = present.filter { new[$0.key] == nil }
                changes += others.inOrder().map { .init($0.key, to: nil, from: $0.value) }
            }
            for change in changes {
                let present = line(change.key.string, change.present?.value)
                print("\(present)\t\(change.value.map { TypedText.line(of: $0) } ?? "none")")
            }
            guard apply else { return }
            try suite.verifySize(of: changes, in: present)
            for part in SuiteOperator.parts(of: changes) {
                do {
                    try suite.store(part)
                } catch {
                    print("\(part.startIndex) of \(changes.count) changes were stored before the error.")
                    throw error
                }
            }
        }
    }
}

struct History: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the values that a key had, each with its revision, the oldest first.",
        discussion: "What was before etcd's last compaction is gone, except for the present value."
    )
    @OptionGroup var options: SuiteOptions
    @Argument var key: String

    func run() async throws {
        try await options.run { [key] suite in
            for version in try suite.history(of: key) {
                print("\(version.revision)\t\(version.line)")
            }
        }
    }
}

struct RollBack: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback",
        abstract: "Store the value that a key had at a revision, or remove it if it had none."
    )
    @OptionGroup var options: ChangeOptions
    @Argument var key: String
    @Argument(help: "A revision, as the command history prints them.")
    var revision: Int64

    func run() async throws {
        try await options.run { [key, revision] suite in
            let present = try suite.value(of: key)
            let earlier = try suite.value(of: key, at: revision)
            guard present != nil || earlier != nil else { throw ExitCode(1) }
            if let form = earlier?.malformed {
                throw TypedText.Mistake("What the key had at this revision is not JSON, but \(form).")
            }
            try suite.store([.init(StoreKey(unchecked: key), to: earlier?.value, from: present)])
            print(line(key, earlier?.value))
        }
    }
}

struct Seed: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what filling an empty cluster from this host's copy would do, and do it with --apply.",
        discussion: """
            For a cluster that was lost and set up again. Choose the host with the newest copy, and call it on that host only. All hosts that \
            have a copy of the suite follow the cluster again afterwards.
            """
    )
    @OptionGroup var options: ChangeOptions
    @Flag(help: "Fill the cluster.")
    var apply = false
    @Flag(help: "Begin again where another host has begun and failed.")
    var takeOver = false

    func run() async throws {
        try await options.run { [apply, takeOver] suite in
            guard let copy = suite.copy else {
                throw TypedText.Mistake("This host has no copy to fill the cluster from. Say where one is: --replica.")
            }
            let freshness = copy.freshness
            let age = freshness.unconfirmedFor.map { ", confirmed \($0.components.seconds) seconds ago" } ?? ""
            print("This host's copy has \(copy.values.count) values, of revision \(freshness.revision ?? 0)\(age).")
            if let obstacle = try suite.obstacleToSeed(from: copy, takingOver: takeOver) {
                print(obstacle)
                throw ExitCode(1)
            }
            guard apply else {
                print("The cluster has none of the suite. Nothing was changed. To fill it from this host: --apply.")
                return
            }
            try suite.seed(from: copy, takingOver: takeOver)
            print("The cluster has them now, and hosts follow it again.")
        }
    }
}
