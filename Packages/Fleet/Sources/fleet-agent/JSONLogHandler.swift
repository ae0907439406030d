import Foundation
import Logging

/// Writes each log message as one line of JSON to standard error; a line that can't be written is lost.
struct JSONLogHandler: LogHandler {
    let label: String
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    init(label: String, level: Logger.Level) {
        self.label = label
        logLevel = level
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { "\($0)" }
        fields["time"] = Date().ISO8601Format()
        fields["level"] = event.level.rawValue
        fields["logger"] = label
        fields["message"] = event.message.description
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings can be encoded.
        guard let line = try? encoder.encode(fields) else { return }
        // The agent goes on while the disk is full, and when the log collector has ended.
        try? FileHandle.standardError.write(contentsOf: line + Data("\n".utf8))
    }
}
