#if canImport(os)
internal import os
#else
internal import Foundation
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
        // If standard error can't be written, there is nowhere left to report to.
        try? FileHandle.standardError.write(contentsOf: Data("Default: \(event)\n".utf8))
    }
    #endif
}
