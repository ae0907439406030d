#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension DefaultsCoder {
    /// Calls a body with the decoder of some bytes, while the coder decodes them; not when it can't parse them.
    func withDecoder(for data: Data, _ body: @escaping (any Decoder) -> Void) {
        guard BinaryPropertyList.isSafe(data) else { return }
        let user = NullText.mayBe(in: data) ? DecoderUser { body(NullText.decoder(of: $0)) } : DecoderUser(body: body)
        DecoderUser.$current.withValue(user) {
            // The body keeps its own errors.
            _ = try? decode(DecoderUser.Target.self, from: data)
        }
    }
}

private final class DecoderUser: @unchecked Sendable {
    // Used on one thread, within one call.
    @TaskLocal static var current: DecoderUser?

    let body: (any Decoder) -> Void

    init(body: @escaping (any Decoder) -> Void) {
        self.body = body
    }

    struct Target: Decodable {
        init(from decoder: any Decoder) {
            DecoderUser.current?.body(decoder)
        }
    }
}
