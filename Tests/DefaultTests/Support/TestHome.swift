import Foundation

/// A directory of this test process's own, which serves as home directory for the processes that it starts.
enum TestHome {
    /// The directory; made at first use, removed when the process exits.
    static let directory: URL = {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "default-tests-\(UUID().uuidString)", directoryHint: .isDirectory)
            .resolvingSymlinksInPath()
        try? FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(at: TestHome.directory) }
        return directory
    }()

    /// The name of a new `UserDefaults` suite whose file lies in the directory.
    ///
    /// Off Apple's systems Foundation has looked up the home directory before any test runs, but takes a suite's name
    /// for a path, which may lead elsewhere. On Apple's it does neither.
    static func makeSuiteName() -> String {
        let name = "suite-\(UUID().uuidString)"
        #if canImport(Darwin)
        return name
        #else
        return String(repeating: "../", count: 32) + directory.appending(path: name).path.dropFirst()
        #endif
    }
}
