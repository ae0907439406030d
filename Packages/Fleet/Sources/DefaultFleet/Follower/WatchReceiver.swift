/// Makes whole transactions of the pieces of a watch's stream.
struct WatchReceiver: Sendable {
    private var parser = WatchFrameParser()
    /// Events of a transaction of which more may come.
    private var incomplete: [WatchEvent] = []

    /// What a piece has brought.
    struct Delivery: Sendable {
        /// Whether the watch has begun.
        var isBegun = false
        /// Of complete transactions, in their order.
        var events: [WatchEvent] = []
        /// Why nothing more comes after the events; nil while more may come.
        var end: Disconnection?
    }

    mutating func receive(_ bytes: [UInt8], hasUser: Bool) -> Delivery {
        var delivery = Delivery()
        let frames: [WatchFrame]
        do throws(WatchFrameParser.Malformed) {
            frames = try parser.parse(bytes)
        } catch {
            delivery.end = .streamEnded("What came is not a watch.")
            return delivery
        }
        for frame in frames {
            // Without a reason, so the revision is looked at first.
            guard frame.compactRevision == nil else {
                delivery.end = .compacted
                return delivery
            }
            if frame.isCanceled {
                let refusal = EtcdRefusal(message: frame.reason ?? "The member has canceled it.")
                // Of several causes it can't be known here whether a token was sent.
                let asksForToken = hasUser && refusal.asksForToken(insteadOf: nil)
                delivery.end = asksForToken ? .tokenRefused(refusal) : .streamEnded(refusal.message)
                return delivery
            }
            delivery.isBegun = delivery.isBegun || frame.isCreated
            incomplete += frame.events
            let last = frame.isFragment ? incomplete.last?.revision : nil
            let end = incomplete.firstIndex { $0.revision == last } ?? incomplete.endIndex
            delivery.events += incomplete[..<end]
            incomplete.removeSubrange(..<end)
        }
        return delivery
    }
}
