/// Notices, without a system call, that an open journal was overwritten in place.
struct HeaderWatch: ~Copyable {
    private let page: GuardedPage
    private let salt: UInt64

    /// Begins with the header as it is.
    init(of journal: Int32, calls: SystemCalls, path: @autoclosure () -> String) throws(JournalError) {
        page = try GuardedPage(of: journal, calls: calls, path: path())
        salt = page.word(at: JournalHeader.saltOffset)
    }

    /// Whether the file has the salt that it had.
    var isUnchanged: Bool { page.word(at: JournalHeader.saltOffset) == salt }
}
