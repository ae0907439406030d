public import Crypto
public import Default
import Foundation

extension DefaultsCoder {
    /// Stores values encrypted with AES-GCM, after another coder has encoded them.
    ///
    /// Reading a value detects a changed byte, another key and another purpose: loading throws `undecodable` with a
    /// ``DecryptionFailure`` as its cause, and the bytes stay as they are. Encryption can't hide that something is
    /// stored, its name, and its approximate length.
    ///
    /// - Parameters:
    ///   - purpose: The purpose of the value, such as the settings type's name. A value that was stored for one purpose
    ///     can't be read for another, so copying bytes can't pass one secret off as another.
    ///   - base: The coder that encodes the value before it is encrypted.
    ///   - key: Returns the key, 256 bits, from outside the suite. If it throws, nothing is stored, and the stored
    ///     value stays.
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

/// The reasons why a stored value can't be decrypted.
public enum DecryptionFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The stored bytes are too short to be encrypted.
    case notEncrypted
    /// The stored bytes were changed, or were encrypted with another key or for another purpose.
    case notAuthentic

    /// A description of the failure and its remedy.
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

/// A coder whose stored form is a random nonce (12 bytes), the encrypted bytes, and the tag that authenticates them and
/// the purpose (16 bytes).
private struct SealedBoxCoder: DefaultsEncoder, DefaultsDecoder, Sendable {
    let purpose: Data
    let base: DefaultsCoder
    let key: @Sendable () throws -> SymmetricKey

    func encode<Value: Encodable>(_ value: Value) throws -> Data {
        // Each sealing makes a new nonce: reusing one for two values would reveal both.
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
        // The cryptography library reports only that decryption failed.
        guard let plain = try? AES.GCM.open(box, using: key, authenticating: purpose) else {
            throw DecryptionFailure.notAuthentic
        }
        return try base.decode(type, from: plain)
    }
}
