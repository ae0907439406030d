import Foundation

/// A directory for this test process, used as the home directory of the processes that it starts.
enum TestHome {
    /// The directory, created at first use and removed when the process exits.
    static let directory: URL = {
        atexit { removeDirectory(atPath: TestHome.directory.path) }
        return makeDirectory(in: FileManager.default.temporaryDirectory)
    }()

    #if !canImport(Darwin)
    /// A directory for the files of suites in `UserDefaults`, in memory if Linux has such a file system.
    ///
    /// Foundation syncs a suite's file at each write, and all tests would wait for that, since the stores in
    /// `UserDefaults` have one lock.
    private static let suites: URL = {
        let memory = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        guard FileManager.default.isWritableFile(atPath: memory.path) else { return directory }
        atexit { removeDirectory(atPath: TestHome.suites.path) }
        return makeDirectory(in: memory)
    }()
    #endif

    private static func makeDirectory(in parent: URL) -> URL {
        let directory = parent.appending(path: "default-tests-\(UUID().uuidString)", directoryHint: .isDirectory)
            .resolvingSymlinksInPath()
        try? FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        return directory
    }

    /// The name of a new `UserDefaults` suite whose file is removed when the process exits.
    ///
    /// On Linux, Foundation looks up the home directory before any test runs, but treats a suite's name
    /// as a path, which may lead elsewhere. On Apple platforms it does neither.
    static func makeSuiteName() -> String {
        let name = "suite-\(UUID().uuidString)"
        #if canImport(Darwin)
        return name
        #else
        return String(repeating: "../", count: 32) + suites.appending(path: name).path.dropFirst()
        #endif
    }
}
