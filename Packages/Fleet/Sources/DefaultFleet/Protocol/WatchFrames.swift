internal import Foundation

/// One frame of a watch's stream.
struct WatchFrame: Hashable, Sendable {
    /// Whether the watch begins with this frame.
    var isCreated = false
    /// Whether the watch has ended, which leaves the stream open.
    var isCanceled = false
    /// The oldest revision that a watch may begin with, when this watch was to begin with an older one.
    var compactRevision: Int64?
    /// Why the watch or the stream ended.
    var reason: String?
    var events: [WatchEvent] = []
    /// Whether the next frame continues this one, perhaps in the middle of a transaction.
    var isFragment = false
}

/// A change of one key.
struct WatchEvent: Hashable, Sendable {
    let key: Data
    /// The new text; nil for a removal.
    let text: Data?
    /// The revision of the change; changes with the same one were made together.
    let revision: Int64
}

/// Cuts the bytes of a watch's stream into frames.
///
/// A frame is a JSON object. Pieces of the stream end anywhere; most frames are followed by a new line, those of errors
/// are not. So the end of a frame is found by its braces.
struct WatchFrameParser: Sendable {
    /// Thrown for bytes that are not frames: from a proxy, for example.
    struct Malformed: Error, Hashable {}

    /// In bytes.
    ///
    /// A member divides what is longer than it accepts at once, which is 1.5 MB unless it is configured otherwise.
    private let longestFrame: Int
    private var frame: [UInt8] = []
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    init(longestFrame: Int = 32 << 20) {
        self.longestFrame = longestFrame
    }

    /// Takes a piece of the stream.
    ///
    /// - Returns: The frames that it completes.
    mutating func parse(_ piece: some Sequence<UInt8>) throws(Malformed) -> [WatchFrame] {
        var frames: [WatchFrame] = []
        for byte in piece {
            guard depth > 0 || byte == UInt8(ascii: "{") else {
                guard JSONScanner.isSpace(byte) else { throw Malformed() }
                continue
            }
            guard frame.count < longestFrame else { throw Malformed() }
            frame.append(byte)
            if isInString {
                isInString = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            if depth == 0 {
                frames.append(try Self.decode(frame))
                frame.removeAll(keepingCapacity: true)
            }
        }
        return frames
    }

    private static func decode(_ bytes: [UInt8]) throws(Malformed) -> WatchFrame {
        let message: Message
        do {
            message = try EtcdCoding.decode(Message.self, from: Data(bytes))
        } catch {
            throw Malformed()
        }
        if let error = message.error {
            return WatchFrame(isCanceled: true, reason: error.message ?? "an error without a message")
        }
        guard let result = message.result else { throw Malformed() }
        return WatchFrame(
            isCreated: result.created ?? false,
            isCanceled: result.canceled ?? false,
            compactRevision: result.compactRevision.map(\.value),
            reason: result.cancelReason,
            events: (result.events ?? []).map(\.event),
            isFragment: result.fragment ?? false
        )
    }

    private struct Message: Decodable {
        var result: Result?
        var error: Failure?

        struct Result: Decodable {
            var created: Bool?
            var canceled: Bool?
            var compactRevision: EtcdNumber?
            var cancelReason: String?
            var events: [Event]?
            var fragment: Bool?
        }

        struct Event: Decodable {
            var type: String?
            var kv: KeyValue

            var event: WatchEvent {
                WatchEvent(key: kv.key, text: type == "DELETE" ? nil : kv.text, revision: kv.revision)
            }
        }

        /// An object in a stream, and a string where a request was refused before the stream began.
        struct Failure: Decodable {
            var message: String?

            private enum CodingKeys: String, CodingKey { case message }

            init(from decoder: any Decoder) throws {
                if let text = try? decoder.singleValueContainer().decode(String.self) {
                    message = text
                } else {
                    message = try decoder.container(keyedBy: CodingKeys.self)
                        .decodeIfPresent(String.self, forKey: .message)
                }
            }
        }
    }
}
