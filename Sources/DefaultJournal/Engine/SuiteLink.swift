/// Links to suites: a folder, or the journal in it, that is elsewhere, such as among files that are kept under version
/// control, on another disk, or in a volume of a container.
///
/// A user who can change a link, or a folder that it leads through, can make a program write to any other suite of the
/// program's user. So a link is followed only if it, its target, and each of those folders belong to this user or to
/// root, and no other user can change the content of those folders.
enum SuiteLink {
    /// The most links that are followed: as many as Linux follows for one path.
    private static let maximum = 40

    /// The path, without links, of a link's target.
    ///
    /// The folders before the link may be reached by any links: the path up to there is the caller's.
    ///
    /// - Throws: `linkRefused`, with the path of the link or folder that isn't trusted.
    static func follow(_ link: String, calls: SystemCalls) throws(JournalError) -> String {
        let parent = SuiteDirectory.parent(of: link)
        var folder = parent == "/" ? "" : parent
        // The names that are still to be followed, the next one last.
        var names = [
            String(link[link.utf8.index(after: link.utf8.lastIndex(of: UInt8(ascii: "/")) ?? link.startIndex)...])
        ]
        var count = 0
        while let name = names.popLast() {
            try checkFolder(folder, link: link, calls: calls)
            let path = folder + "/" + name
            guard let status = try calls.status(of: path) else {
                throw JournalError(.linkRefused(.leadsNowhere), path: link)
            }
            try checkOwner(of: path, status)
            guard status.isLink else {
                folder = path
                continue
            }
            count += 1
            guard count <= maximum else { throw JournalError(.linkRefused(.leadsNowhere), path: link) }
            let target = try calls.target(ofLink: path)
            if target.utf8.first == UInt8(ascii: "/") { folder = "" }
            names += target.split(separator: "/").reversed().map(String.init)
        }
        return folder
    }

    private static func checkFolder(_ folder: String, link: String, calls: SystemCalls) throws(JournalError) {
        let path = folder.isEmpty ? "/" : folder
        guard let status = try calls.status(of: path, followsLinks: true) else {
            throw JournalError(.linkRefused(.leadsNowhere), path: link)
        }
        try checkOwner(of: path, status)
        // A group with the number of the owner has only the owner in it, by the custom of systems that make a group for
        // each user.
        let isOpenToGroup = status.isWritableByGroup && status.group != status.owner
        guard status.isSticky || !isOpenToGroup && !status.isWritableByOthers else {
            throw JournalError(.linkRefused(.writableByOthers), path: path)
        }
    }

    private static func checkOwner(of path: String, _ status: FileStatus) throws(JournalError) {
        guard status.owner == SystemCalls.user || status.owner == 0 else {
            throw JournalError(.linkRefused(.otherUsers(owner: status.owner)), path: path)
        }
    }
}
