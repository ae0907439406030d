import Default

func changes(in store: some DefaultsStore & Sendable) -> AsyncStream<Void> {
    AsyncStream {
        try? await Task.sleep(for: .milliseconds(50))
        return Task.isCancelled ? nil : ()
    }
}
