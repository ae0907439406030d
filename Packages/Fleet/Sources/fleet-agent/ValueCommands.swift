import ArgumentParser
import Default
import DefaultFleet
import Foundation

extension TypedText.ValueType: ExpressibleByArgument {}

/// What all commands need that read or change one suite in the cluster.
struct SuiteOptions: ParsableArguments {
    @OptionGroup var cluster: ClusterOptions
    @Option(help: "The suite's name.")
    var suite: String

    /// Runs a body with the suite.
    func run(_ body: @escaping @Sendable (SuiteOperator) throws -> Void) async throws {
        let logger = cluster.makeLogger()
        try await Exit.run(with: logger) {
            let suite = try SuiteOperator(cluster.cluster, suiteName: suite)
            try await onThread { try body(suite) }
        }
    }
}

extension SuiteOperator.Version {
    /// One line.
    fileprivate var line: String {
        guard let value else { return "removed" }
        return TypedText.text(of: value) + (malformed.map { "\tnot JSON, but \($0)" } ?? "")
    }
}

private func line(_ key: String, _ value: PropertyListValue?) -> String {
    "\(key)\t\(value.map(TypedText.text(of:)) ?? "none")"
}

struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print all keys, each with its value as JSON.")
    @OptionGroup var options: SuiteOptions

    func run() async throws {
        try await options.run { suite in
            for (key, version) in try suite.values().values.sorted(by: { $0.key < $1.key }) {
                print("\(key)\t\(version.line)")
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
            needs --type string for a text without quotes, and --type json for a settings type.
            """
    )
    @OptionGroup var options: SuiteOptions
    @Argument var key: String
    @Argument var value: String
    @Option(help: "The type of the value, which may be another one than that of the present value.")
    var type: TypedText.ValueType?

    func run() async throws {
        try await options.run { [key, value, type] suite in
            let present = try suite.value(of: key)
            // Of malformed text nothing is known.
            let known = present?.malformed == nil ? present?.value : nil
            let new = try TypedText.value(of: value, as: type, inPlaceOf: known)
            try suite.store([key: new], overValuesOf: [key: present?.revision ?? 0])
            print(line(key, new))
        }
    }
}

struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove the value of a key, so that programs use the default."
    )
    @OptionGroup var options: SuiteOptions
    @Argument var key: String

    func run() async throws {
        try await options.run { [key] suite in
            guard let present = try suite.value(of: key) else { throw ExitCode(1) }
            try suite.store([key: nil], overValuesOf: [key: present.revision])
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
            let lines = values.sorted { $0.key < $1.key }.map { entry in
                // Without the braces.
                "  " + TypedText.text(of: .dictionary([entry.key: entry.value])).dropFirst().dropLast()
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
            60 keys are stored together; if others change one of them meanwhile, the command ends, and may be called again.
            """
    )
    @OptionGroup var options: SuiteOptions
    @Argument(help: "The file, or - for the standard input.") var file: String
    @Flag(help: "Store the differences.")
    var apply = false
    @Flag(help: "Remove what the file doesn't have.")
    var removeOthers = false
    @Flag(help: "Accept values of another type than the present ones.")
    var changeTypes = false

    func run() async throws {
        try await options.run { [file, apply, removeOthers, changeTypes] suite in
            let bytes =
                try file == "-"
                ? FileHandle.standardInput.readToEnd() ?? Data() : Data(contentsOf: URL(fileURLWithPath: file))
            guard let text = String(validating: bytes, as: UTF8.self),
                case .dictionary(let new)? = TypedText.value(of: text)
            else {
                throw TypedText.Mistake("The file is not a JSON object of values.")
            }
            let present = try suite.values().values
            var changes: [(key: String, value: PropertyListValue?)] = []
            for (key, value) in new.sorted(by: { $0.key < $1.key }) where present[key]?.value != value {
                if let before = present[key]?.value, present[key]?.malformed == nil, !changeTypes,
                    TypedText.ValueType(of: before) != TypedText.ValueType(of: value)
                {
                    throw TypedText.Mistake(
                        "\(key) is of another type than the present value. Say --change-types if that is meant."
                    )
                }
                changes.append((key, value))
            }
            if removeOthers {
                changes += present.keys.filter { new[$0] == nil }.sorted().map { ($0, nil) }
            }
            for (key, value) in changes {
                print("\(line(key, present[key]?.value))\t\(value.map(TypedText.text(of:)) ?? "none")")
            }
            guard apply else { return }
            for start in stride(from: 0, to: changes.count, by: SuiteOperator.keysPerTransaction) {
                let part = changes[start..<min(changes.count, start + SuiteOperator.keysPerTransaction)]
                try suite.store(
                    Dictionary(uniqueKeysWithValues: part.map { ($0.key, $0.value) }),
                    overValuesOf: present.mapValues(\.revision)
                )
            }
        }
    }
}

struct History: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the values that a key had, each with its revision, the oldest first.",
        discussion:
            "What was before etcd's last compaction is gone. The user needs the permission to write, for a moment's mark."
    )
    @OptionGroup var options: SuiteOptions
    @Argument var key: String

    func run() async throws {
        try await options.run { [key] suite in
            for version in try suite.history(of: key).versions {
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
    @OptionGroup var options: SuiteOptions
    @Argument var key: String
    @Argument(help: "A revision, as the command history prints them.")
    var revision: Int64

    func run() async throws {
        try await options.run { [key, revision] suite in
            let present = try suite.value(of: key)
            let earlier = try suite.value(of: key, at: revision)
            guard present != nil || earlier != nil else { throw ExitCode(1) }
            try suite.store([key: earlier?.value], overValuesOf: [key: present?.revision ?? 0])
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
    @OptionGroup var options: SuiteOptions
    @Option(help: "The directory of this host's copy.")
    var replica: String
    @Flag(help: "Fill the cluster.")
    var apply = false
    @Flag(help: "Begin again where another host has begun and failed.")
    var takeOver = false

    func run() async throws {
        try await options.run { [replica, apply, takeOver] suite in
            guard let copy = try HostCopy(at: URL(fileURLWithPath: replica, isDirectory: true)) else {
                throw TypedText.Mistake("There is no copy at \(replica).")
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
