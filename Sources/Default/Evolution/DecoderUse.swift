internal import Foundation

extension DefaultsCoder {
    /// Calls a body with the decoder of some bytes, while the coder decodes them.
    ///
    /// The body is not called when the coder can't parse the bytes.
    func withDecoder(for data: Data, _ body: @escaping (any Decoder) -> Void) {
        guard BinaryPropertyList.isSafe(data) else {
            return
        }
        let use = NullText.mayBe(in: data) ? DecoderUse { body(NullText.decoder(of: $0)) } : DecoderUse(body: body)
        DecoderUse.$current.withValue(use) {
            // The body keeps its own errors.
            _ = try? decode(DecoderUse.Target.self, from: data)
        }
    }
}

/// What is done with a decoder that a coder creates.
private final class DecoderUse: @unchecked Sendable {
    // Used on one thread, within one call.
    @TaskLocal static var current: DecoderUse?

    let body: (any Decoder) -> Void

    init(body: @escaping (any Decoder) -> Void) {
        self.body = body
    }

    struct Target: Decodable {
        init(from decoder: any Decoder) {
            DecoderUse.current?.body(decoder)
        }
    }
}
