public import Crypto
public import Default
import Foundation

extension DefaultsCoder {
    /// Stores values encrypted, by AES-GCM, over another coder.
    ///
    /// A changed byte, another key and another purpose are all found out when the value is read: loading throws
    /// `undecodable` with a ``DecryptionFailure`` as its cause, and the bytes stay as they are. What can't be hidden is
    /// that something is stored, under which name, and how long it is about.
    ///
    /// - Parameters:
    ///   - purpose: What the value is, the settings type's name, say. A value that was stored for one purpose can't be
    ///     read for another one, so one secret can't be passed off as another by copying bytes.
    ///   - base: How the value is encoded before it is encrypted.
    ///   - key: Gives the key, 256 bits, from outside of the suite. When it throws nothing is stored, and what is
    ///     stored stays.
    /// - Returns: The coder.
    public static func encrypting(
        for purpose: String,
        over base: DefaultsCoder = .json,
        key: @escaping @Sendable () throws -> SymmetricKey
    ) -> DefaultsCoder {
        let box = SealedBoxCoder(purpose: Data(purpose.utf8), base: base, key: key)
        return DefaultsCoder(encoder: box, decoder: box)
    }
}

/// Why a stored value can't be decrypted.
public enum DecryptionFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is stored is too short to be encrypted.
    case notEncrypted
    /// What is stored was changed, or was encrypted with another key or for another purpose.
    case notAuthentic

    /// What is wrong, and what to do.
    public var description: String {
        switch self {
        case .notEncrypted:
            "The stored value is not encrypted. Another coder may have stored it."
        case .notAuthentic:
            """
            The stored value can't be decrypted: it was changed, or stored with another key or for another purpose. Use the key \
            with which it was stored, or store it again.
            """
        }
    }
}

/// What is stored: a random nonce (12 bytes), the encrypted bytes, and the tag that authenticates them and the purpose
/// (16 bytes).
private struct SealedBoxCoder: DefaultsEncoder, DefaultsDecoder, Sendable {
    let purpose: Data
    let base: DefaultsCoder
    let key: @Sendable () throws -> SymmetricKey

    func encode<Value: Encodable>(_ value: Value) throws -> Data {
        // Each sealing makes a new nonce: the same one for two values would give both away.
        let box = try AES.GCM.seal(try base.encode(value), using: try key(), authenticating: purpose)
        guard let combined = box.combined else {
            throw CryptoKitError.incorrectParameterSize
        }
        return combined
    }

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        let key = try key()
        guard let box = try? AES.GCM.SealedBox(combined: data) else {
            throw DecryptionFailure.notEncrypted
        }
        // The library of ciphers says no more than that it failed.
        guard let plain = try? AES.GCM.open(box, using: key, authenticating: purpose) else {
            throw DecryptionFailure.notAuthentic
        }
        return try base.decode(type, from: plain)
    }
}
