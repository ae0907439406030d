internal import Default
internal import Foundation
internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Why a host's follower can't confirm the copy, in a file beside the lock, for the host's other processes.
///
/// The file has a fixed size, and is there while all is well: then what is written to it later needs no space, and a
/// full disk can be recorded too. Its first word is the digest of the rest, since a reader may see half of a write.
final class TroubleRecord: Sendable {
    private let path: String
    /// What this process has recorded last.
    private let recorded = Mutex<Freshness.Trouble?>(nil)

    /// In bytes.
    private static let size = 1_024

    init(inReplicaAt url: URL) {
        path = url.appendingPathComponent("trouble").path
    }

    /// Records what the follower has run into.
    func record(_ trouble: Freshness.Trouble) {
        let isNew = recorded.withLock { recorded in
            defer { recorded = trouble }
            return recorded != trouble
        }
        guard isNew else { return }
        let content = "\(trouble.cause.rawValue) \(trouble.explanation)"
        var bytes = Array(content.utf8.prefix(Self.size - 32).map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: " ") : $0 })
        // Half of a character is no text, and a space at the end would be taken for the rest of the file.
        while String(validating: bytes, as: UTF8.self) == nil || bytes.last == UInt8(ascii: " ") {
            bytes.removeLast()
        }
        write(Array("\(Digest.of(bytes)) ".utf8) + bytes)
    }

    /// Records why a request has no answer, or was refused.
    func record(_ failure: EtcdClient.Failure, store: String) {
        record(Freshness.Trouble(failure, store: store))
    }

    /// Records that the copy was confirmed.
    func clear() {
        let hadTrouble = recorded.withLock { $0.take() != nil }
        // What an earlier follower has left is replaced too.
        if hadTrouble || !isBlank {
            write([])
        }
    }

    /// What the host's follower has recorded last; nil when it has confirmed the copy since.
    func current(ofThisProcess isOwn: Bool) -> Freshness.Trouble? {
        if isOwn { return recorded.withLock { $0 } }
        guard let text = content, let space = text.firstIndex(of: " "), let digest = UInt64(text[..<space]) else {
            return nil
        }
        let rest = text[text.index(after: space)...]
        guard Digest.of(rest.utf8) == digest, let end = rest.firstIndex(of: " "),
            let cause = Freshness.Trouble.Cause(rawValue: String(rest[..<end]))
        else {
            return nil
        }
        return Freshness.Trouble(cause: cause, explanation: String(rest[rest.index(after: end)...]))
    }

    private var isBlank: Bool { content?.isEmpty == true }

    /// Without the spaces at its end; nil without a file.
    private var content: Substring? {
        guard let data = FileManager.default.contents(atPath: path), data.count == Self.size else { return nil }
        let text = String(decoding: data, as: UTF8.self)
        return text.lastIndex { $0 != " " }.map { text[...$0] } ?? ""
    }

    private func write(_ bytes: [UInt8]) {
        let descriptor = open(path, O_CLOEXEC | O_WRONLY | O_CREAT, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let padded = bytes + Array(repeating: UInt8(ascii: " "), count: Self.size - bytes.count)
        // Where it can't be written, other processes only see that the copy is not confirmed.
        _ = padded.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }
}

extension Freshness.Trouble {
    init(_ failure: EtcdClient.Failure, store: String) {
        let error = DefaultsError.failed(failure, store: store, key: nil, isReading: true)
        self.init(cause: Cause(failure), explanation: "\(error)")
    }

    /// What to say of a follower that was silent for so long: one that works confirms the copy or records its trouble
    /// every 15 seconds.
    init?(silenceOf duration: Duration?) {
        guard let duration, duration > .seconds(45) else { return nil }
        self.init(
            cause: .silence,
            explanation: """
                The process that follows the cluster has reported nothing for \(duration.components.seconds) seconds: it is stopped or \
                hangs, or its link is so slow that it still waits for what it has asked for.
                """
        )
    }
}

extension Freshness.Trouble.Cause {
    fileprivate init(_ failure: EtcdClient.Failure) {
        switch failure {
        case .notSent(let reason), .unanswered(let reason):
            self = CertificateFault(in: reason) == nil ? .unreachable : .certificate
        case .unintelligible: self = .unreachable
        case .stray: self = .strayMember
        case .replaced: self = .refused
        case .refused(let refusal):
            self =
                switch refusal.cause {
                case .wrongPassword: .password
                case .invalidToken, .missingUser: .authentication
                case .permissionDenied: .permission
                case .commonName: .certificate
                case .noLeader: .unreachable
                default: .refused
                }
        }
    }
}

/// Whose certificate a connection has failed for.
enum CertificateFault {
    /// A member has refused this program's: it says so with an alert.
    case own
    /// This program has refused a member's.
    case member

    /// Finds it in what the TLS library says, which has no codes; nil for other failures.
    init?(in reason: String) {
        let isAlert = reason.contains("ALERT") || reason.contains("alert")
        if isAlert, ["CERTIFICATE", "certificate", "UNKNOWN_CA"].contains(where: { reason.contains($0) }) {
            self = .own
        } else if ["CERTIFICATE", "certificate", "Hostname"].contains(where: { reason.contains($0) }) {
            self = .member
        } else {
            return nil
        }
    }
}
