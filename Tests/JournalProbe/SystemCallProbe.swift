#if DEBUG
#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif
// The fuzz targets compile this file together with the engine's sources.
#if canImport(DefaultJournal)
@testable package import DefaultJournal
#endif

extension SystemCallEvent {
    /// The path of the file or directory that the call is about, as far as the system knows it.
    package var path: String {
        if let descriptor { return Self.path(of: descriptor) }
        guard let directory else { return name }
        return Self.path(of: directory) + "/" + name
    }

    private static func path(of descriptor: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/fd/\(descriptor)", &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}
/// A probe that observes the system calls of one engine and makes some of them fail; exists in debug builds only.
package final class SystemCallProbe: SystemCallObserver {
    /// A call and its result.
    package struct RecordedCall: Sendable {
        package var call: SystemCall
        package var path: String
        package var name: String
        package var target: String
        /// The inode of the call's descriptor, or of the file that `open` returned.
        package var inode: UInt64
        package var offset: UInt64
        package var bytes: [UInt8]
        /// The call's result, or the negated error number.
        package var result: Int
    }

    /// A planned failure of a call.
    package enum Fault: Sendable, Hashable {
        /// Fails with this error number, without any effect.
        case fail(code: Int32)
        /// Writes at most this many bytes; 0 means that the call fails with ENOSPC.
        case cut(to: Int)
        /// Writes half of the bytes; later calls fail until the probe is cleared, as if the disk were gone.
        case halfThenFailing(code: Int32)
        /// Never returns, as on a disk that hangs.
        case hang
    }

    private struct State {
        var counts: [SystemCall: Int] = [:]
        var faults: [SystemCall: [Int: Fault]] = [:]
        var allFail: Int32?
        var fired = 0
        var isRecording = false
        var records: [RecordedCall] = []
        var steps = 0
        var onStep: (@Sendable (Step) -> Void)?
        var fileTime: UInt64?
    }

    private let state = Locked(State())

    /// The nanoseconds by which the clock of file times is ahead, as if the files had been written that long ago.
    private let fileTimeAdvance: UInt64

    package init(fileTimeAdvance: UInt64 = 0) {
        self.fileTimeAdvance = fileTimeAdvance
    }

    /// The time at which the clock of file times is stopped; nil while it runs.
    package var stoppedFileTime: UInt64? {
        get { state.withLock(\.fileTime) }
        set { state.withLock { $0.fileTime = newValue } }
    }

    package func fileTime(_ time: UInt64) -> UInt64 { stoppedFileTime ?? time + fileTimeAdvance }

    /// Resets faults and counts.
    package func clear() {
        state.withLock { state in
            state.counts = [:]
            state.faults = [:]
            state.allFail = nil
            state.fired = 0
        }
    }

    /// The calls made since the last ``clear()``.
    package var counts: [SystemCall: Int] { state.withLock(\.counts) }

    /// The number of faults since the last ``clear()``.
    package var fired: Int { state.withLock(\.fired) }

    /// Plans a fault for a call of a kind from now on; `number` counts the calls from 0.
    package func plan(_ fault: Fault, call: SystemCall, number: Int) {
        state.withLock { state in
            state.faults[call, default: [:]][state.counts[call, default: 0] + number] = fault
        }
    }

    /// A point at which a process can be killed: after a call, or after the first half of a `pwrite`.
    package struct Step: Sendable {
        /// The number of the step, counted from 1.
        package var number: Int
        package var call: SystemCall
        /// Whether only the first half of the bytes is written.
        package var isHalf: Bool
    }

    /// Calls `body` at each step from now on, on the thread that makes the call.
    ///
    /// `body` may end the process, to test the state that a killed writer leaves.
    package func onStep(_ body: (@Sendable (Step) -> Void)?) {
        state.withLock { state in
            state.steps = 0
            state.onStep = body
        }
    }

    private func didStep(_ call: SystemCall, isHalf: Bool) {
        let (number, body) = state.withLock { state in
            state.steps += 1
            return (state.steps, state.onStep)
        }
        body?(Step(number: number, call: call, isHalf: isHalf))
    }

    /// Makes a call in steps, if a body was given to ``onStep(_:)``.
    private func step(_ event: SystemCallEvent, body: (_ limit: Int) -> Int) -> Int {
        guard state.withLock({ $0.onStep != nil }) else { return body(Int.max) }
        if event.call == .pwrite, let count = event.bytes?.count, count > 1 {
            // The second call writes the first half again, which changes nothing.
            let half = body(count / 2)
            if half < 0 { return half }
            didStep(event.call, isHalf: true)
        }
        let result = body(Int.max)
        let code = errno
        if result >= 0 { didStep(event.call, isHalf: false) }
        errno = code
        return result
    }

    /// Starts recording each call.
    package func startRecording() {
        state.withLock { state in
            state.isRecording = true
            state.records = []
        }
    }

    /// The recorded calls.
    package var records: [RecordedCall] { state.withLock(\.records) }

    /// Makes a call, or makes it fail as planned.
    package func intercept(_ event: SystemCallEvent, body: (_ limit: Int) -> Int) -> Int {
        let fault: Fault? = state.withLock { state in
            let number = state.counts[event.call, default: 0]
            state.counts[event.call] = number + 1
            if let code = state.allFail { return .fail(code: code) }
            let fault = state.faults[event.call]?.removeValue(forKey: number)
            if fault != nil { state.fired += 1 }
            if case .halfThenFailing(let code) = fault { state.allFail = code }
            return fault
        }
        // While recording, calls are made one at a time, so that the records have the order of the effects.
        let isRecording = state.withLock(\.isRecording)
        var result: Int
        switch fault {
        case nil: result = step(event, body: body)
        case .fail(let code):
            result = -1
            errno = code
        case .cut(let limit):
            result = limit == 0 ? -1 : body(limit)
            if limit == 0 { errno = ENOSPC }
        case .halfThenFailing: result = body(max(1, (event.bytes?.count ?? 2) / 2))
        case .hang: while true { sleep(1) }
        }
        let code = errno
        if isRecording { record(event, result: result < 0 ? -Int(code) : result) }
        errno = code
        return result
    }

    private func record(_ event: SystemCallEvent, result: Int) {
        var inode: UInt64 = 0
        let descriptor = event.call == .open && result >= 0 ? Int32(truncatingIfNeeded: result) : event.descriptor
        if let descriptor {
            var status = stat()
            if fstat(descriptor, &status) == 0 { inode = UInt64(truncatingIfNeeded: status.st_ino) }
        }
        let bytes = event.bytes.map { Array($0.prefix(max(result, 0))) } ?? []
        let record = RecordedCall(
            call: event.call,
            path: event.path,
            name: event.name,
            target: event.target,
            inode: inode,
            offset: event.offset,
            bytes: bytes,
            result: result
        )
        state.withLock { $0.records.append(record) }
    }
}
#endif
