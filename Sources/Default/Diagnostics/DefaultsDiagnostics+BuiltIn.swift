#if canImport(os)
internal import os
#else
internal import DefaultJournal
#endif

extension DefaultsDiagnostics {
    #if canImport(os)
    static let builtInHandler: Handler = { event in
        guard event.severity >= .warning else {
            return
        }
        Logger(subsystem: "Default", category: "diagnostics").error("\(event.description, privacy: .public)")
    }
    #else
    static let builtInHandler: Handler = { event in
        guard event.severity >= .warning else {
            return
        }
        ProgramEnvironment.writeError("Default: \(event)\n")
    }
    #endif
}
