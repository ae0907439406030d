#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import DefaultJournal

/// A file of values that is only read, in whichever form it is.
struct SourceFile: Sendable {
    /// Far more than settings need, and little enough to be read while a program starts.
    static let byteLimit = 16 << 20

    let path: String

    init(_ path: String) { self.path = path }

    /// The values; nil if there is no file.
    ///
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/sourceUnusable``.
    func values() throws(DefaultsError) -> [String: PropertyListValue]? {
        guard let contents = try read() else { return nil }
        return try values(in: contents)
    }

    /// The contents; nil if there is no file.
    func read() throws(DefaultsError) -> TrustedFile.Contents? {
        guard path.hasPrefix("/") else { throw .sourceUnusable(path, because: "it has no file URL") }
        do {
            return try TrustedFile.read(path, limit: Self.byteLimit)
        } catch {
            if case .missing = error { return nil }
            throw fault(error)
        }
    }

    private func fault(_ error: TrustedFile.Fault) -> DefaultsError {
        switch error {
        case .missing: unusable("it doesn't exist")
        case .notAFile: unusable("it is neither a file nor the folder of a suite")
        case .tooLarge(let size): unusable("it has \(size) bytes, more than \(Self.byteLimit)")
        case .foreign(let owner): unusable("it belongs to \(owner), who is neither root nor this user")
        case .writableByOthers: unusable("others than its owner may write to it; `chmod go-w` forbids that")
        case .failed(let message): unusable(message)
        }
    }

    /// The values in the bytes of a file.
    func values(in contents: TrustedFile.Contents) throws(DefaultsError) -> [String: PropertyListValue] {
        let bytes = contents.bytes
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        let first = text.first { $0 > 0x20 }
        if bytes.starts(with: Array("bplist".utf8)) || first == UInt8(ascii: "<") { return try propertyList(bytes) }
        do {
            guard case .dictionary(let values) = try JSONDocument.value(of: bytes) else {
                throw unusable("its value is not an object of keys", line: 1, column: 1)
            }
            return values
        } catch let fault as JSONDocument.Fault {
            throw unusable(fault.reason, line: fault.line, column: fault.column)
        } catch let error as DefaultsError {
            throw error
        } catch {
            throw unusable("\(error)")
        }
    }

    private func propertyList(_ bytes: [UInt8]) throws(DefaultsError) -> [String: PropertyListValue] {
        let data = Data(bytes)
        guard !XMLPropertyList.nestsTooDeeply(data) else { throw unusable("it nests too deeply") }
        guard BinaryPropertyList.isSafe(data) else { throw unusable("it is a damaged property list") }
        do {
            return try PropertyListFile.entries(of: data).mapValues { try $0.get() }
        } catch {
            throw unusable("it is not a property list whose value is a dictionary")
        }
    }

    /// Opens the suite in a folder, for reading; others must not be able to change it.
    func openSuite() throws(DefaultsError) -> FileDefaults {
        do {
            try TrustedFile.checkFolder(path, file: "journal")
        } catch {
            throw fault(error)
        }
        return try FileDefaults(readingFrom: URL(fileURLWithPath: path, isDirectory: true))
    }

    func unusable(_ reason: String, line: Int? = nil, column: Int? = nil) -> DefaultsError {
        var place = path
        if let line, let column { place += ":\(line):\(column)" }
        return .sourceUnusable(place, because: reason)
    }
}
