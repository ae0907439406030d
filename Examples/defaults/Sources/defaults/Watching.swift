import ArgumentParser
import Default
import Foundation

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows each change of a suite, or of one value, with its time, until it is ended."
    )

    @Argument(help: "The suite.")
    var suite: SuiteReference

    @Argument(help: "The key; all keys without one.", completion: .keys)
    var key: String?

    @OptionGroup
    var display: DisplayOptions

    func run() async throws {
        let store = try suite.existing()
        let changes = try changedKeys(in: store)
        // On standard error, so that standard output holds changes alone; from here on none is missed.
        try FileHandle.standardError.write(contentsOf: Data("Watching \(suite).\n".utf8))
        for try await changed in changes where key == nil || key == changed {
            var text = display.text
            text.append("\(Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))) ", .faint)
            if let value = store.propertyListValue(forKey: changed) {
                text.appendEntry(shownKey(changed), named: changed, separator: " = ") { $0.append(value) }
            } else {
                text.append(shownKey(changed), .key)
                text.append(" removed")
            }
            text.append("\n")
            try write(text.string)
        }
    }
}

private func changedKeys(in store: FileDefaults) throws -> AsyncThrowingStream<String, any Error> {
    let start = try SuiteContents(of: store)
    return AsyncThrowingStream { continuation in
        let task = Task {
            do {
                var before = start
                while true {
                    try await Task.sleep(for: .milliseconds(50))
                    let now = try SuiteContents(of: store)
                    for key in Set(now.keys(lostIn: before) + before.keys(lostIn: now)).sorted() {
                        continuation.yield(key)
                    }
                    before = now
                }
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { _ in task.cancel() }
    }
}
