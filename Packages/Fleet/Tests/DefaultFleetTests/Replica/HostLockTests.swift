import Foundation
import Testing

@testable import DefaultFleet

@Suite("A host's lock")
struct HostLockTests {
    @Test("is held by one object at a time, until that releases it or goes")
    func exclusion() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("follower").path
            let second = try HostLock(at: path)
            #expect(!second.isHeld)
            do {
                let first = try HostLock(at: path)
                #expect(first.tryAcquire())
                #expect(first.isAcquired && first.isHeld && second.isHeld && !second.isAcquired)
                #expect(!second.tryAcquire())
                // Each acquisition is one follower's.
                #expect(!first.tryAcquire())
                first.release()
                #expect(!first.isHeld && !second.isHeld)
                #expect(first.tryAcquire())
            }
            #expect(second.tryAcquire())
        }
    }

    @Test("stays held while another thread asks whether it is")
    func question() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("follower").path
            let lock = try HostLock(at: path)
            let other = try HostLock(at: path)
            let isDone = Flag()
            @Sendable func ask() {
                while !isDone.isSet {
                    _ = lock.isHeld
                }
            }
            async let first: Void = onThread(ask)
            async let second: Void = onThread(ask)
            let lost = await onThread {
                (0..<60_000).count { _ in
                    // Asking takes the lock for a moment.
                    while !lock.tryAcquire() {}
                    defer { lock.release() }
                    guard other.tryAcquire() else { return false }
                    other.release()
                    return true
                }
            }
            isDone.set()
            _ = await (first, second)
            #expect(lost == 0)
        }
    }
}
