import Foundation
import Testing

@testable import DefaultJournal

@Suite("An error of the engine")
struct ErrorTests {
    @Test("says what has happened, where, with which numbers, and what to do")
    func descriptions() {
        let refused = String(cString: strerror(EROFS))
        let messages: [(JournalError.Kind, [String])] = [
            (.system(.pwrite, code: EIO), ["call pwrite failed for /s/x", "(error \(EIO))", "remove the cause"]),
            (.newerFormat(version: 9), ["/s/x has format version 9,", "Update the library"]),
            (.notARegularFile, ["/s/x is not a regular file", "Move it away, and a new one is created."]),
            (.linked, ["/s/x is a hard link", "Remove one of the names"]),
            (.notADirectory, ["/s/x is not a directory", "choose another directory for the suite"]),
            (
                .notOwned(owner: 0),
                ["/s/x belongs to the user root.", "Run the program as that user, change the owner"]
            ),
            (
                .otherUsersFolder(owner: 4_000_123),
                ["belongs to the user with the number 4000123", "Nothing was created."]
            ),
            (.linkRefused(.leadsNowhere), ["/s/x is a link, and what it leads to doesn't exist."]),
            (.linkRefused(.otherUsers(owner: 0)), ["/s/x belongs to the user root, so a link"]),
            (.linkRefused(.writableByOthers), ["Other users may change what is in /s/x", "chmod go-w"]),
            (.linkRefused(.otherName), ["/s/x is a link to a file of another name."]),
            (.valueTooLarge(bytes: 70_000_000), ["of 70000000 bytes", "for /s/x,", "at most 67108864."]),
            (.keyInvalid(bytes: 70_000), ["A key of 70000 bytes", "in /s/x:", "1 to 65535 bytes"]),
            (.batchTooLarge(bytes: 2_000_000_000), ["of 2000000000 bytes", "for /s/x,", "at most 1073741824."]),
            (.alreadyExists, ["/s/x exists already", "nothing is overwritten"]),
            (.invalidPath, ["\"/s/x\" can't be the path of a suite"]),
            (.replaced, ["/s/x was deleted or replaced", "The next write goes to the suite that is there then."]),
            (.overwritten, ["/s/x is being overwritten", "has not changed for a second"]),
            (.busy(process: 77), ["/s/x is in use by the process 77, which"]),
            (.busy(process: nil), ["/s/x is in use by another process, which"]),
            (.busy(process: getpid()), ["/s/x is in use by another copy of this library in this process."]),
            (.forked, ["/s/x was opened by the process that this one was forked from", "Open it again"]),
            (.readOnly(.refused(code: EROFS)), ["to /s/x: \(refused) (error \(EROFS))", "The disk can only be"]),
            (.readOnly(.otherUser(0)), ["to /s/x, which belongs to the user root", "run the program as that user"]),
            (.readOnly(.requested), ["/s/x was opened for reading only", "Open the suite for writing"]),
            (.unstable, ["files of /s/x were replaced repeatedly", "Try again."]),
        ]
        for (kind, parts) in messages {
            let description = JournalError(kind, path: "/s/x").description
            for part in parts { #expect(description.contains(part), "\(part): \(description)") }
        }
    }

    @Test("gives advice that fits a watch, or the other calls")
    func advice() {
        let advice: [(SystemCall, Int32, String)] = [
            (.inotifyInit, EMFILE, "max_user_instances"), (.inotifyInit, ENFILE, "max_user_instances"),
            (.inotifyInit, ENOSPC, "room on the disk"), (.inotifyAddWatch, ENOSPC, "max_user_watches"),
            (.inotifyAddWatch, ENOENT, "/proc is mounted"), (.open, ENFILE, "Close files that are not needed"),
            (.pwrite, EDQUOT, "room on the disk"), (.pwrite, EFBIG, "room on the disk"),
            (.fsync, EIO, "can be read, but what was written last may not survive a loss of power."),
            (.fdatasync, ENOSPC, "and flush again."),
        ]
        for (call, code, text) in advice {
            #expect(JournalError(.system(call, code: code), path: "/s").description.contains(text), "\(call) \(code)")
        }
        let names: [(SystemCall, String)] = [
            (.pthreadCreate, "pthread_create"), (.inotifyInit, "inotify_init1"),
            (.inotifyAddWatch, "inotify_add_watch"),
        ]
        for (call, name) in names { #expect(call.rawValue == name) }
    }

    @Test("has the number of the system's error, if there is one")
    func codes() {
        func error(_ kind: JournalError.Kind) -> JournalError { JournalError(kind, path: "/s") }
        #expect(error(.system(.pread, code: EIO)).systemErrorCode == .EIO)
        #expect(error(.readOnly(.refused(code: EROFS))).systemErrorCode == .EROFS)
        #expect(error(.system(.pread, code: 12_345)).systemErrorCode == nil)
        for kind: JournalError.Kind in [.busy(process: 5), .readOnly(.requested), .newerFormat(version: 5)] {
            #expect(error(kind).systemErrorCode == nil && !error(kind).isReadOnlyDisk)
        }
        #expect(error(.readOnly(.refused(code: EROFS))).isReadOnlyDisk)
        #expect(!error(.readOnly(.refused(code: EACCES))).isReadOnlyDisk)
        #expect(error(.busy(process: nil)).isBusy && !error(.unstable).isBusy)
        let readOnly: [JournalError.Kind] = [
            .readOnly(.requested), .readOnly(.otherUser(0)), .readOnly(.refused(code: EIO)),
        ]
        for kind in readOnly { #expect(error(kind).isReadOnlyPlace) }
        for kind: JournalError.Kind in [.linked, .notADirectory, .busy(process: nil), .forked] {
            #expect(!error(kind).isReadOnlyPlace)
        }
        // Root may read the suites of other users, and everyone may read those of root.
        #expect(error(.notOwned(owner: 5)).isReadOnlyPlace == (geteuid() == 0))
        #expect(error(.notOwned(owner: 0)).isReadOnlyPlace)
    }

    @Test("is about the journal if it names nothing else, and keeps a name or a path that it has")
    func paths() {
        func path(_ path: String) -> String { JournalError(.unstable, path: path).withDirectory("/s").path }
        #expect(path("") == "/s/journal")
        #expect(path(".") == "/s")
        #expect(path("journal.new") == "/s/journal.new")
        #expect(path("/other/journal") == "/other/journal")
        #expect(JournalError(.linked).withFileName("a").withFileName("b") == JournalError(.linked, path: "a"))
        #expect(JournalError(.linked, path: "a") != JournalError(.linked, path: "b"))
        #expect(JournalError(.linked, path: "a") != JournalError(.notOwned(owner: 1), path: "a"))
        #expect(JournalError(.linked).withDirectory("/s").kind == .linked)
    }
}
