extension Journal {
    /// Under the file lock: publishes a commit that the index reflects, or will when ``finishCommit()`` is called.
    ///
    /// - Parameter publication: What to publish; its generation is advanced.
    /// - Throws: The system call that failed; nothing is published then.
    func publishCommit(_ publication: LockPage.Publication) throws(JournalError) {
        var next = publication
        next.generation &+= 1
        // A reader of this process that sees the new generation has to see this too, and leave the index to this thread.
        announced.store(next.generation, ordering: .relaxed)
        AtomicWord.fence()
        do throws(JournalError) {
            try page.publish(next, path: lockPath)
        } catch {
            announced.store(0, ordering: .relaxed)
            throw error
        }
        writer.published = next
    }

    /// Under the file lock and the state lock: the index reflects what is published.
    func finishCommit() {
        state.applied = writer.published.end
        state.generation = writer.published.generation
        announced.store(0, ordering: .relaxed)
    }

    /// Under the file lock: publishes what isn't a commit.
    func publish(_ change: (inout LockPage.Publication) -> Void) throws(JournalError) {
        var next = writer.published
        change(&next)
        guard next != writer.published else { return }
        try page.publish(next, path: lockPath)
        writer.published = next
    }
}
