import BenchmarkSupport
import Default
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The folder for the files of this process: each benchmark runs in its own process.
enum Workspace {
    private static let variable = "BENCHMARK_WORKSPACE"

    static let root = URL(
        filePath: ProcessInfo.processInfo.environment[variable] ?? "",
        directoryHint: .isDirectory
    )

    /// Moves the home directory of Foundation and the library into a folder that is removed at the end.
    ///
    /// Starts a thread that sleeps, like the one of every program that flushes in the background: the kernel's calls
    /// take longer in a process with several threads, and so do the lower bounds.
    static func prepareEnvironment() {
        if getenv(variable) == nil { startAgain() }
        Thread.detachNewThread { while true { sleep(1_000) } }
        atexit {
            try? FileManager.default.removeItem(at: Workspace.root)
        }
    }

    /// Restarts this process with another home directory, since Foundation reads it only once, when it is loaded.
    private static func startAgain() {
        let parent = ProcessInfo.processInfo.environment["BENCHMARK_DIRECTORY"] ?? NSTemporaryDirectory()
        let path = "\(parent)/default-benchmarks-\(ProcessInfo.processInfo.processIdentifier)"
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            fatalError("There is no place for the benchmark's files: \(error)")
        }
        for name in ["HOME", "CFFIXED_USER_HOME", variable] { setenv(name, path, 1) }
        unsetenv("XDG_CONFIG_HOME")
        var arguments: [UnsafeMutablePointer<CChar>?] = CommandLine.arguments.map { (text: String) in strdup(text) }
        arguments.append(nil)
        execv(Self.program, arguments)
        fatalError("The benchmark can't be started again.")
    }

    /// The path of the running program.
    static var program: String {
        #if os(Linux)
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        #else
        Bundle.main.executablePath ?? CommandLine.arguments[0]
        #endif
    }

    static func url(_ name: String) -> URL {
        root.appending(path: name)
    }

    static func path(_ name: String) -> String {
        url(name).path(percentEncoded: false)
    }
}

extension Workspace {
    /// Fills the store that settings types and typed keys use by default with more keys than those in use.
    static func fillStandardStore(_ keys: [String]) throws {
        let store = StandardDefaults.standard
        for key in keys { try store.set(Raw.newValue(), forKey: key) }
    }

    static func suite(_ keys: [String], name: String = "suite") throws -> FileDefaults {
        let suite = try FileDefaults(url: url(name))
        for key in keys { try suite.set(Raw.newValue(), forKey: key) }
        try suite.synchronize()
        try suite.compact()
        return suite
    }

    static func foundation(_ keys: [String], synchronizes: Bool, name: String = "foundation") throws
        -> HandWrittenDefaults
    {
        try HandWrittenDefaults(suiteName: name, keys: keys, synchronizes: synchronizes)
    }

    static func sqlite(_ keys: [String], name: String = "settings.sqlite") throws -> SQLiteStore {
        let store = try SQLiteStore(path: path(name))
        try store.fill(keys)
        return store
    }

    static func lmdb(_ keys: [String], name: String = "settings.lmdb") throws -> LMDBStore {
        let store = try LMDBStore(path: path(name))
        try store.fill(keys)
        return store
    }

    static func propertyList(_ keys: [String], name: String = "settings.plist") throws -> PropertyListFile {
        let file = PropertyListFile(url: url(name))
        try file.fill(keys)
        return file
    }
}
