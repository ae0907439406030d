import Default
import Foundation
import Logging
import TenantSettings
import Testing

@testable import Server

struct LimitsServiceTests {
    @Test("Limits that are changed hold without a restart, and a mistake in them leaves the last good ones")
    func reload() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "server-example-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "tenants.json")
        let suite = try FileDefaults(url: folder.appending(path: "suite"), fallbacks: [.file(file)])

        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        let logger = Logger(label: "test") { _ in LineHandler(continuation: continuation) }
        let limits = CurrentLimits()
        let service = LimitsService(suite: suite, current: limits, logger: logger)
        let task = Task { await service.run() }
        defer { task.cancel() }
        var log = lines.makeAsyncIterator()

        try Data(#"{"Limits": {"tenants": 2}}"#.utf8).write(to: file, options: .atomic)
        #expect(await log.next() == "At most 2 tenants, and 1000 bytes in a greeting.")
        #expect(limits.value == Limits(tenants: 2))

        try Data(#"{"Limits": {"tenants": -1}}"#.utf8).write(to: file, options: .atomic)
        #expect(await log.next() == "The limits stay as they are. There can be 1 to 100000 tenants, not -1.")
        #expect(limits.value == Limits(tenants: 2))

        // A file that can't be read changes nothing either.
        try Data(#"{"Limits": "#.utf8).write(to: file, options: .atomic)
        try Data(#"{"Limits": {"tenants": 3}}"#.utf8).write(to: file, options: .atomic)
        #expect(await log.next() == "At most 3 tenants, and 1000 bytes in a greeting.")
    }
}

/// Hands on the lines of a log.
private struct LineHandler: LogHandler {
    let continuation: AsyncStream<String>.Continuation
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        continuation.yield("\(event.message)")
    }
}
