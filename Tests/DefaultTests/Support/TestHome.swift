import Foundation

/// A directory for this test process, used as the home directory of the processes that it starts.
enum TestHome {
    /// The directory, created at first use and removed when the process exits.
    static let directory: URL = {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "default-tests-\(UUID().uuidString)", directoryHint: .isDirectory)
            .resolvingSymlinksInPath()
        try? FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        atexit { removeDirectory(atPath: TestHome.directory.path) }
        return directory
    }()

    /// The name of a new `UserDefaults` suite whose file is in the directory.
    ///
    /// On Linux, Foundation looks up the home directory before any test runs, but treats a suite's name
    /// as a path, which may lead elsewhere. On Apple platforms it does neither.
    static func makeSuiteName() -> String {
        let name = "suite-\(UUID().uuidString)"
        #if canImport(Darwin)
        return name
        #else
        return String(repeating: "../", count: 32) + directory.appending(path: name).path.dropFirst()
        #endif
    }
}
