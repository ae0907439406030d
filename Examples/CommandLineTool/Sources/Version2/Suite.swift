import Default
import Foundation

/// The suite that both versions of the program use; without it, each would have a suite named after its executable.
enum Suite {
    static let notes: FileDefaults = {
        do {
            return try FileDefaults(suiteName: "notes")
        } catch {
            fail("\(error)", status: 1)
        }
    }()
}

/// Ends the program with a message on standard error.
func fail(_ message: String, status: Int32) -> Never {
    // If standard error itself can't be written, there is nowhere to report that.
    try? FileHandle.standardError.write(contentsOf: Data("\(message)\n".utf8))
    exit(status)
}
