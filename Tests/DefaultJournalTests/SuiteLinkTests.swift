#if !os(Windows)
import Foundation
import Testing

@testable import DefaultJournal
import JournalProbe

@Suite("A link to a suite", .waits)
struct SuiteLinkTests {
    private let directory = TemporaryDirectory()
    private let files = FileManager.default
    private let options = JournalOptions(automaticMaintenance: false, lockTimeout: 0)
    private var readOnly: JournalOptions {
        var options = options
        options.isReadOnly = true
        return options
    }
    private static let otherUser: uid_t = 65_534

    /// The path at which programs open the suite.
    private var path: String { directory.path + "/config/app.defaults" }
    /// The path of the suite that the links lead to.
    private var target: String { directory.path + "/dotfiles/app.defaults" }

    enum Shape: CaseIterable {
        /// A linked folder, as `stow` makes it, or a user who has moved the suite to another disk.
        case folder
        /// A linked journal, as `stow --no-folding` makes it.
        case journal
        /// A link to a file in a linked folder, as Kubernetes makes it for a volume of files.
        case volume
    }

    /// Makes a suite with one value, and a link of this shape to it.
    private func prepare(_ shape: Shape) throws {
        for folder in ["config", "dotfiles"] {
            try files.createDirectory(atPath: directory.path + "/" + folder, withIntermediateDirectories: false)
        }
        try Journal.openUnregistered(target, options).set("key", "1")
        switch shape {
        case .folder: try link(path, to: "../dotfiles/app.defaults")
        case .journal, .volume:
            try files.createDirectory(atPath: path, withIntermediateDirectories: false)
            if shape == .volume { try link(path + "/..data", to: "../../dotfiles/app.defaults") }
            try link(
                path + "/journal",
                to: shape == .volume ? "..data/journal" : "../../dotfiles/app.defaults/journal"
            )
        }
    }

    private func link(_ path: String, to target: String) throws {
        try files.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    private func content(ofLink path: String) throws -> String { try files.destinationOfSymbolicLink(atPath: path) }

    /// Replaces the link at this path atomically, as Kubernetes does for a new version.
    private func relink(_ path: String, to target: String) throws {
        try link(path + ".next", to: target)
        #expect(rename(path + ".next", path) == 0)
    }

    @Test("is followed by everything that a suite is used for, and stays", arguments: Shape.allCases)
    func used(_ shape: Shape) throws {
        try prepare(shape)
        let reports = ReportCollector()
        let journal = try Journal.openTest(path, reports.options)
        #expect(journal["key"] == "1")
        // One process has one object for the suite, whichever path it uses.
        #expect(try Journal.openTest(target) === journal)
        let peer = try Journal.openUnregistered(target, options)
        for value in ["2", "3"] {
            try journal.set("key", value)
            #expect(peer["key"] == value)
            try journal.synchronize()
            try journal.compact()
            journal.forgetComparison()
        }
        try peer.compact()
        try peer.set("key", "4")
        #expect(journal["key"] == "4")
        #expect(try journal.verify().isIntact)
        // Both paths lead to the same lock.
        try peer.withExclusiveAccess {
            let other = try Journal.openUnregistered(path, options)
            let refusal = #expect(throws: JournalError.self) { try other.set("key", "5") }
            #expect(refusal?.isBusy == true)
        }
        #expect(reports.all.isEmpty)
        switch shape {
        case .folder: #expect(try content(ofLink: path) == "../dotfiles/app.defaults")
        case .journal: #expect(try content(ofLink: path + "/journal") == "../../dotfiles/app.defaults/journal")
        case .volume: #expect(try content(ofLink: path + "/journal") == "..data/journal")
        }
        #expect(try files.contentsOfDirectory(atPath: target) == ["journal"])
        if shape != .folder {
            let names = try files.contentsOfDirectory(atPath: path).sorted()
            #expect(names == (shape == .volume ? ["..data", "journal"] : ["journal"]))
        }
    }

    @Test("that is changed is followed to its new target by all who have the suite open", arguments: Shape.allCases)
    func relinked(_ shape: Shape) throws {
        try prepare(shape)
        let reports = ReportCollector()
        let journal = try Journal.openUnregistered(path, reports.options)
        let reader = try Journal.openTest(path, readOnly)
        let next = directory.path + "/dotfiles/next"
        try Journal.openUnregistered(next, options).set("key", "next")
        switch shape {
        case .folder: try relink(path, to: "../dotfiles/next")
        case .journal: try relink(path + "/journal", to: "../../dotfiles/next/journal")
        case .volume: try relink(path + "/..data", to: "../../dotfiles/next")
        }
        for journal in [journal, reader] {
            journal.forgetComparison()
            #expect(journal["key"] == "next")
        }
        try journal.set("key", "more")
        #expect(try Journal.openUnregistered(next, options)["key"] == "more")
        #expect(try Journal.openUnregistered(target, options)["key"] == "1")
        #expect(reader["key"] == "more")
        #expect(reports.all == [.replaced(path: path)])
    }

    @Test(
        "that takes the place of an open suite, or of its journal, is followed from then on",
        arguments: [true, false]
    )
    func movedAway(isWhole: Bool) throws {
        try files.createDirectory(atPath: directory.path + "/elsewhere", withIntermediateDirectories: false)
        let journal = try Journal.openUnregistered(directory.suite, options)
        try journal.set("key", "1")
        let (place, moved) =
            isWhole
            ? (directory.suite, directory.path + "/elsewhere/suite")
            : (directory.journal, directory.path + "/elsewhere/journal")
        try files.moveItem(atPath: place, toPath: moved)
        try link(place, to: moved)
        journal.forgetComparison()
        try journal.set("key", "2")
        try journal.compact()
        try journal.set("key", "3")
        #expect(try content(ofLink: place) == moved)
        #expect(try Journal.openUnregistered(isWhole ? moved : directory.path + "/elsewhere", options)["key"] == "3")
        #expect(try Journal.openUnregistered(directory.suite, options)["key"] == "3")
    }

    @Test("that leads nowhere, or in a circle, is an error, and nothing is created")
    func leadsNowhere() throws {
        try link(directory.suite, to: "away/suite")
        let error = JournalError(.linkRefused(.leadsNowhere), path: directory.suite)
        #expect(throws: error) { try Journal.openTest(directory.suite) }
        try files.removeItem(atPath: directory.suite)
        try link(directory.suite, to: "suite")
        #expect(throws: error) { try Journal.openTest(directory.suite) }
        #expect(try files.contentsOfDirectory(atPath: directory.path) == ["suite"])
    }

    @Test("is refused where another user could lead it elsewhere", .enabled(if: Machine.isRoot, "Needs root."))
    func untrusted() throws {
        try prepare(.folder)
        let folder = directory.path + "/dotfiles"
        // The mode and group of the surrounding folder, and whether other users may change its contents.
        for (mode, group, isRefused) in [
            (0o755, 0, false), (0o775, 0, false), (0o775, 100, true), (0o777, 0, true), (0o1777, 0, false),
        ] as [(mode_t, gid_t, Bool)] {
            chown(folder, 0, group)
            chmod(folder, mode)
            let open = { _ = try Journal.openTest(path) }
            if isRefused {
                let thrown = #expect(throws: JournalError.self, performing: open)
                #expect(thrown?.kind == .linkRefused(.writableByOthers) && thrown?.path.hasSuffix("/dotfiles") == true)
            } else {
                #expect(throws: Never.self, performing: open)
            }
            #expect(try Journal.openTest(path, readOnly)["key"] == "1")
        }
        let refusal = JournalError.Kind.linkRefused(.otherUsers(owner: Self.otherUser))
        for (place, isLink) in [(path, true), (folder, false), (target, false)] {
            lchown(place, Self.otherUser, 0)
            let thrown = #expect(throws: JournalError.self) { try Journal.openTest(path) }
            #expect(
                thrown?.kind == refusal && thrown?.path.hasSuffix(isLink ? "/app.defaults" : "") == true,
                "\(place)"
            )
            #expect(try Journal.openTest(path, readOnly)["key"] == "1")
            lchown(place, 0, 0)
        }
        #expect(try Journal.openTest(path)["key"] == "1")
    }
}
#endif
