import Foundation

/// Removes a test's directory, with as many attempts as it takes.
///
/// An attempt fails if the background of an engine that has just been released still creates a file in it.
func removeDirectory(atPath path: String) {
    var failure: (any Error)?
    do {
        try wait(for: "the removal of \(path)") {
            do { try FileManager.default.removeItem(atPath: path) } catch { failure = error }
            return !FileManager.default.fileExists(atPath: path)
        }
    } catch {
        print("\(error) \(failure.map { "\($0)" } ?? "")")
    }
}
