import Default
import Logging
import Metrics

/// Sends what happens to settings to the log, and counts it.
func observeSettings(logger: Logger) {
    DefaultsDiagnostics.handler = { event in
        let level: Logger.Level =
            switch event.severity {
            case .info: .info
            case .warning: .warning
            case .error: .error
            }
        logger.log(
            level: level,
            "\(event.error)",
            metadata: ["kind": "\(event.kind)", "code": "\(event.error.code)"]
        )
        let dimensions = [("kind", "\(event.kind)")]
        Counter(label: "settings_events", dimensions: dimensions).increment()
    }
}
