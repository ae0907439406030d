import Foundation
import Testing

@testable import Default
@testable import DefaultJournal
import JournalProbe

@Suite("A suite on a disk that fails")
struct DiskErrorTests {
    #if DEBUG
    /// Runs a test on a suite whose system calls can be made to fail, and which does nothing in the background.
    private func withSuite(
        _ durability: FileDefaults.Durability = .background,
        _ test: (_ suite: FileDefaults, _ probe: SystemCallProbe) throws -> Void
    ) throws {
        try withTemporaryDirectory { directory in
            let url = directory.appending(path: "s")
            let probe = SystemCallProbe()
            let options = JournalOptions(calls: SystemCalls(probe: probe), automaticMaintenance: false)
            let journal = try Journal.open(at: url.path, options: options) { SuiteState() }
            let suite = try FileDefaults(url: url, durability: durability)
            try #require(try suite.suite.open().journal === journal)
            try test(suite, probe)
        }
    }

    @Test(
        "throws an error with the code of its cause at each write, and stores nothing until one succeeds",
        arguments: [
            (EROFS, DefaultsError.Code.storeReadOnly), (ENOSPC, .storeFailed), (EDQUOT, .storeFailed),
            (EIO, .storeFailed), (EACCES, .storeFailed),
        ]
    )
    func writes(code: Int32, expected: DefaultsError.Code) throws {
        try withSuite { suite, probe in
            try suite.set(1, forKey: "k")
            for _ in 0..<2 {
                let bodies: [() throws -> Void] = [
                    { try suite.set(2, forKey: "k") },
                    { try suite.removeObject(forKey: "k") },
                    { try suite.transaction { try suite.set(2, forKey: "k") } },
                ]
                for (body, key) in zip(bodies, ["k", "k", nil]) {
                    probe.plan(.fail(code: code), call: .pwrite, number: 0)
                    let error = expectError(expected, from: body)
                    #expect((error?.underlyingError as? POSIXError)?.code.rawValue == code)
                    #expect(error?.key == key && error?.store == suite.storeDescription)
                    #expect(suite.integer(forKey: "k") == 1)
                }
            }
            #expect(probe.fired == 6)
            try suite.set(2, forKey: "k")
            #expect(suite.integer(forKey: "k") == 2)
        }
    }

    @Test("tells observers what is stored although it could not be put on the disk")
    func observers() throws {
        try withSuite(.everyWrite) { suite, probe in
            let seen = Locked<[Set<String>?]>([])
            let observation = suite.observeChanges { keys in seen.withLock { $0.append(keys) } }
            defer { observation.cancel() }
            let bodies: [() throws -> Void] = [
                { try suite.set(1, forKey: "k") },
                { try suite.removeObject(forKey: "k") },
                { try suite.updateStoredValue(forKey: "k") { $0 = 2 } },
                { try suite.transaction { try suite.set(3, forKey: "k") } },
            ]
            for (number, body) in bodies.enumerated() {
                probe.plan(.fail(code: EIO), call: number == 0 ? .fdatasync : .fsync, number: 0)
                #expect(throws: DefaultsError.self, performing: body)
                #expect(seen.withLock { $0 } == Array(repeating: ["k"], count: number + 1))
            }
            #expect(probe.fired == bodies.count)
        }
    }

    @Test("throws what a flush of every write fails with, keeps the value, and flushes all with the next write")
    func flushes() throws {
        try withSuite(.everyWrite) { suite, probe in
            let journal = try suite.suite.open().journal
            var isSynced: Bool {
                journal.stateLock.withLock { journal.state.file.flusher.isSynced(to: journal.state.position) }
            }
            for round in 1...2 {
                probe.plan(.fail(code: EIO), call: .fdatasync, number: 0)
                expectError(.storeFailed) { try suite.transaction { try suite.set(round, forKey: "k") } }
                #expect(suite.integer(forKey: "k") == round && !isSynced)
                // The journal is written to another file, because the system may not write this one again.
                probe.plan(.fail(code: ENOSPC), call: .fsync, number: 0)
                expectError(.storeFailed) { try suite.set(round, forKey: "other") }
                #expect(suite.integer(forKey: "other") == round && !isSynced)
                try suite.transaction { try suite.set(round, forKey: "other") }
                #expect(isSynced)
            }
            #expect(probe.fired == 4)
        }
    }

    @Test("says that what was promised in exclusive access isn't on the disk, and flushes it with the next write")
    func promisesInAccess() throws {
        try withSuite(.everyWrite) { suite, probe in
            let key = Defaults.Key<Int>("k", default: 0)
            var defaults: Defaults { Defaults(suite: suite) }
            struct Interruption: Error {}
            let thrown: [() throws -> Void] = [
                { try suite.withExclusiveAccess { try suite.set(1, forKey: "k") } },
                { try suite.withExclusiveAccess { try suite.transaction { try suite.set(2, forKey: "k") } } },
                { try defaults.update(key) { $0 += 1 } },
            ]
            for (number, body) in thrown.enumerated() {
                // After the first failure the journal is written to another file.
                probe.plan(.fail(code: EIO), call: number == 0 ? .fdatasync : .fsync, number: 0)
                expectError(.storeFailed, from: body)
                #expect(suite.integer(forKey: "k") == number + 1)
            }
            let reported: [() throws -> Void] = [
                {
                    try suite.beginExclusiveAccess()
                    try suite.set(4, forKey: "k")
                    suite.endExclusiveAccess()
                },
                { defaults[key] += 1 },
                {
                    #expect(throws: Interruption.self) {
                        try suite.withExclusiveAccess {
                            try suite.set(6, forKey: "k")
                            throw Interruption()
                        }
                    }
                },
            ]
            for (number, body) in reported.enumerated() {
                probe.plan(.fail(code: EIO), call: .fsync, number: 0)
                #expect(try EventCollector.codes(of: body) == [.storeFailed])
                #expect(suite.integer(forKey: "k") == number + 4)
            }
            #expect(probe.fired == 6)
            try suite.set(7, forKey: "k")
            let journal = try suite.suite.open().journal
            #expect(journal.stateLock.withLock { journal.state.file.flusher.isSynced(to: journal.state.position) })
        }
    }

    @Test("throws from each other call too what the disk fails with, names itself, and works on afterwards")
    func otherCalls() throws {
        func refuse() { Issue.record("It was not exclusive.") }
        try withSuite { suite, probe in
            let calls: [(call: SystemCall, code: Int32, body: () throws -> Void)] = [
                (.fdatasync, EIO, { try suite.flush() }), (.fsync, ENOSPC, { try suite.synchronize() }),
                (.pwrite, ENOSPC, { try suite.compact() }), (.pread, EIO, { _ = try suite.verify() }),
                (.flock, EIO, { try suite.withExclusiveAccess(refuse) }),
                (.flock, EIO, { try suite.transaction(refuse) }),
            ]
            try suite.set(1, forKey: "k")
            for (number, (call, code, body)) in calls.enumerated() {
                probe.plan(.fail(code: code), call: call, number: 0)
                let error = expectError(.storeFailed, from: body)
                #expect(error?.key == nil && error?.store == suite.storeDescription, "\(number)")
                #expect((error?.underlyingError as? POSIXError)?.code.rawValue == code, "\(number)")
                #expect(probe.fired == number + 1, "\(number)")
                // No exclusive access has begun, so another thread can write.
                let isWritten = onAnotherThread { (try? suite.set(number, forKey: "other")) != nil }
                #expect(isWritten && suite.integer(forKey: "other") == number, "\(number)")
            }
            #expect(try suite.synchronize() && suite.verify().isIntact)
            #expect(suite.integer(forKey: "k") == 1)
        }
    }
    #endif

    @Test("reports what happens outside of calls as what it is, with a code and a severity")
    func events() {
        let error = JournalError(.system(.fdatasync, code: EIO), path: "/s/journal")
        let readOnly = JournalError(.system(.fdatasync, code: EROFS), path: "/s/journal")
        let damage = JournalReport.Damage(
            path: "/s/journal",
            bytes: 8,
            ranges: [8..<16],
            keptRecords: 3,
            copy: nil,
            copyError: error,
            changedKeys: [],
            possibleKeys: []
        )
        typealias Kind = DefaultsDiagnostics.Event.Kind
        let expected: [(JournalReport, Kind, DefaultsError.Code, DefaultsDiagnostics.Event.Severity)] = [
            (.damaged(damage), .storeDamaged, .storeDamaged, .error),
            (.shortened(path: "/s/journal", bytes: 8), .storeDamaged, .storeDamaged, .error),
            (.writableByOthers(path: "/s"), .storeExposed, .storeExposed, .warning),
            (.waiting(path: "/s", process: 7), .storeBusy, .storeBusy, .warning),
            (.replaced(path: "/s"), .storeReplaced, .storeReplaced, .warning),
            (.flushFailed(error), .maintenanceFailed, .storeFailed, .warning),
            (.compactionFailed(readOnly), .maintenanceFailed, .storeReadOnly, .warning),
            (.nameNotSynced(error), .maintenanceFailed, .storeFailed, .warning),
            (.catchUpFailed(error), .readFailed, .storeFailed, .error),
            (.watchRefused(error, isPolled: true), .watchFailed, .storeFailed, .warning),
            (.watchRefused(error, isPolled: false), .watchFailed, .storeFailed, .warning),
        ]
        for (report, kind, code, severity) in expected {
            let event = DefaultsDiagnostics.Event(report)
            #expect(event.kind == kind && event.error.code == code, "\(report)")
            #expect(event.severity == severity, "\(report)")
            #expect(event.description.contains("/s"), "\(report)")
            #expect(event.error.key == nil && event.report == nil, "\(report)")
        }
    }

    @Test("is named in each event, with what happened and with the cause")
    func eventDetails() {
        let error = JournalError(.system(.fdatasync, code: EIO), path: "/s/journal")
        let other = JournalError(.readOnly(.requested), path: "/s")
        let expected: [(JournalReport, store: String, cause: Int32?, texts: [String])] = [
            (.shortened(path: "/s/journal", bytes: 8), "/s/journal", nil, ["/s/journal is 8 bytes shorter than it"]),
            (.writableByOthers(path: "/s"), "/s", nil, ["write to the directory /s,", "chmod o-w"]),
            (.waiting(path: "/s", process: 7), "/s", nil, ["waiting for a second for the process 7, which"]),
            (.waiting(path: "/s", process: nil), "/s", nil, ["waiting for a second for another process, which"]),
            (.replaced(path: "/s"), "/s", nil, ["The suite at /s was deleted or replaced"]),
            (.flushFailed(error), "/s/journal", EIO, ["The system call fdatasync failed for /s/journal"]),
            (.compactionFailed(error), "/s/journal", EIO, ["The system call fdatasync failed for /s/journal"]),
            (.nameNotSynced(error), "/s/journal", EIO, ["The file system of /s/journal syncs no directories."]),
            (.catchUpFailed(error), "/s/journal", EIO, ["The system call fdatasync failed for /s/journal"]),
            (.catchUpFailed(other), "/s", nil, ["/s was opened for reading only"]),
            (
                .watchRefused(error, isPolled: true), "/s/journal", EIO,
                ["the suite at /s/journal by", "checks for them twice a second instead. The system call fdatasync"]
            ),
            (.watchRefused(error, isPolled: false), "/s/journal", EIO, ["noticed by the next read or write instead."]),
        ]
        for (report, store, cause, texts) in expected {
            let event = DefaultsDiagnostics.Event(report)
            #expect(event.error.store == store, "\(report)")
            #expect((event.error.underlyingError as? POSIXError)?.code.rawValue == cause, "\(report)")
            for text in texts { #expect(event.description.contains(text), "\(event)") }
        }
        #expect(DefaultsDiagnostics.Event(.catchUpFailed(other)).error.underlyingError as? JournalError == other)
        #expect(DefaultsDiagnostics.Event(.replaced(path: "/s")).error.underlyingError == nil)
    }

    @Test("says what became of a damaged file, and names at most 20 keys, of which each is cut off at 64 characters")
    func damageDetails() {
        var damage = JournalReport.Damage(
            path: "/s/journal",
            bytes: 8,
            ranges: [8..<16],
            keptRecords: 3,
            copy: "journal.damaged-1",
            copyError: nil,
            changedKeys: [],
            possibleKeys: []
        )
        func event() -> DefaultsDiagnostics.Event { .init(.damaged(damage)) }
        #expect(
            event().error.description == """
                /s/journal was damaged: 8 bytes could not be used. Everything else (3 records) was kept. The damaged file \
                was backed up as journal.damaged-1.
                """
        )
        #expect(event().error.store == "/s/journal" && event().error.underlyingError == nil)

        damage.changedKeys = ["a"]
        damage.possibleKeys = ["b", "c\n"]
        #expect(event().description.contains(#"this program last read, or none: "a". Another program"#))
        #expect(event().description.hasSuffix(#"an older value now, or none: "b", "c\n"."#))
        damage.changedKeys = (1...20).map { "k\($0)" }
        damage.possibleKeys = (1...19).map { "l\($0)" }
        #expect(event().description.contains(#""k20" and perhaps more. Another program"#))
        #expect(event().description.hasSuffix(#", "l19"."#))
        damage.possibleKeys = [String(repeating: "n", count: 65)]
        #expect(event().description.hasSuffix(": \"" + String(repeating: "n", count: 64) + "\"."))

        damage.copy = nil
        #expect(event().description.contains("It was left unchanged, since the suite can only be read."))
        damage.copyError = JournalError(.system(.open, code: ENOSPC), path: "/s/journal.damaged-1")
        #expect(event().description.contains("The damaged file could not be backed up and was left unchanged."))
        #expect((event().error.underlyingError as? POSIXError)?.code == .ENOSPC)
    }

    @Test("gets for each error of the engine a code, which depends on whether it is open, and the cause")
    func codes() {
        typealias Code = DefaultsError.Code
        let expected: [(JournalError.Kind, opening: Code, failing: Code, cause: Int32?)] = [
            (.system(.pwrite, code: EIO), .storeUnavailable, .storeFailed, EIO),
            (.system(.pwrite, code: EACCES), .storeUnavailable, .storeFailed, EACCES),
            (.system(.pwrite, code: EROFS), .storeUnavailable, .storeReadOnly, EROFS),
            (.readOnly(.refused(code: EACCES)), .storeReadOnly, .storeReadOnly, EACCES),
            (.readOnly(.otherUser(5)), .storeReadOnly, .storeReadOnly, nil),
            (.readOnly(.requested), .storeReadOnly, .storeReadOnly, nil),
            (.busy(process: 7), .storeBusy, .storeBusy, nil), (.busy(process: nil), .storeBusy, .storeBusy, nil),
            (.newerFormat(version: 2), .newerFormat, .newerFormat, nil),
            (.valueTooLarge(bytes: 9), .storeUnavailable, .valueTooLarge, nil),
            (.batchTooLarge(bytes: 9), .storeUnavailable, .valueTooLarge, nil),
            (.keyInvalid(bytes: 0), .storeUnavailable, .invalidKey, nil),
            (.alreadyExists, .storeUnavailable, .storeFailed, nil), (.replaced, .storeUnavailable, .storeFailed, nil),
            (.notARegularFile, .storeUnavailable, .storeUnavailable, nil),
            (.linked, .storeUnavailable, .storeUnavailable, nil),
            (.notADirectory, .storeUnavailable, .storeUnavailable, nil),
            (.notOwned(owner: 5), .storeUnavailable, .storeUnavailable, nil),
            (.otherUsersFolder(owner: 5), .storeUnavailable, .storeUnavailable, nil),
            (.linkRefused(.leadsNowhere), .storeUnavailable, .storeUnavailable, nil),
            (.invalidPath, .storeUnavailable, .storeUnavailable, nil),
            (.unstable, .storeUnavailable, .storeUnavailable, nil),
            (.overwritten, .storeUnavailable, .storeUnavailable, nil),
            (.forked, .storeUnavailable, .storeUnavailable, nil),
        ]
        for (kind, opening, failing, cause) in expected {
            let error = JournalError(kind, path: "/s/journal")
            let failed = DefaultsError.failing(error, key: "k", in: "FileDefaults(/s)")
            #expect(failed.code == failing && failed.key == "k" && failed.store == "FileDefaults(/s)", "\(error)")
            #expect(failed.description == "\(error)")
            let refused = DefaultsError.opening(error, advice: "")
            #expect(refused.code == opening && refused.key == nil && refused.store == "/s/journal", "\(error)")
            let outcome = opening == .storeReadOnly ? "does not exist, and can't be created" : "can't be opened"
            #expect(refused.description == "The suite \(outcome). \(error)")
            let unchecked = DefaultsError.inspecting(error)
            #expect(unchecked.code == .storeUnavailable && unchecked.store == "/s/journal", "\(error)")
            #expect(unchecked.description == "The suite can't be checked. \(error)")
            for thrown in [failed, refused, unchecked] {
                #expect((thrown.underlyingError as? POSIXError)?.code.rawValue == cause, "\(error)")
                #expect((thrown.underlyingError as? JournalError == error) == (cause == nil), "\(error)")
            }
        }
    }
}
