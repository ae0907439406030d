import ArgumentParser
import Default
import Foundation

struct Salvage: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows what the backups of damaged journals hold that the suite lacks, and restores it.",
        discussion: """
            Only what differs from the suite is shown. Values that were intact are restored with --restore where the suite \
            has none. A value from damaged bytes may be wrong, and is restored only when its key is named; so is one for which \
            the suite has another value by now, and only with --overwrite.
            """
    )

    @Argument(help: "The suite.")
    var suite: SuiteReference

    @Argument(help: "The keys; all keys without one.", completion: .keys)
    var keys: [String] = []

    @Flag(help: "Store the values in the suite.")
    var restore = false

    @Flag(help: "Replace the values that the suite has for the keys that are named.")
    var overwrite = false

    @Flag(help: "Remove the backups, after all else.")
    var remove = false

    @OptionGroup
    var display: DisplayOptions

    func validate() throws {
        if overwrite, !restore || keys.isEmpty {
            throw ValidationError("--overwrite needs --restore, and the keys of the values to replace.")
        }
        if remove, !keys.isEmpty {
            throw ValidationError("--remove removes whole backups, and takes no keys.")
        }
    }

    func run() throws {
        let url = try suite.existingURL()
        // The newest first: its values count.
        let copies = try FileDefaults.inspect(at: url).damagedCopies.reversed().map { url.appending(path: $0.name) }
        if copies.isEmpty {
            note("No damaged journal of \(suite) was backed up.")
        }
        var restored: [SalvagedValue] = []
        var (count, shownCount) = (0, 0)
        let current = try SuiteContents(of: suite.reading())
        for copy in copies {
            var text = display.text
            text.append("\(copy.plainPath):\n".escapedLinesForTerminal, .faint)
            for found in try SalvagedValue.all(in: copy) where keys.isEmpty || keys.contains(where: found.hasKey) {
                count += 1
                let existing = current.value(forKey: found.key)
                if let existing, existing.isIdentical(to: found.value) { continue }
                shownCount += 1
                text.appendEntry(shownKey(found.key), named: found.key, separator: " = ") { $0.append(found.value) }
                var remarks: [String] = []
                if !found.isIntact { remarks.append("from damaged bytes, may be wrong") }
                if existing != nil { remarks.append("the suite has another value") }
                text.append(remarks.isEmpty ? "\n" : " (\(remarks.joined(separator: "; ")))\n", .faint)
                let isNamed = !keys.isEmpty
                let isWanted = (found.isIntact || isNamed) && (existing == nil || overwrite && isNamed)
                if isWanted, !restored.contains(where: { $0.hasKey(found.key) }) { restored.append(found) }
            }
            try write(text)
        }
        if !copies.isEmpty, count == 0 {
            note(keys.isEmpty ? "No value can be read in the backups." : "The backups have no value for these keys.")
        } else if count > 0, shownCount == 0 {
            note("The suite has each value of the backups.")
        }
        if restore, restored.isEmpty, shownCount > 0 {
            note(
                "Nothing was restored. Name the keys of the values above, with --overwrite where the suite has another one."
            )
        } else if restore, !restored.isEmpty {
            try store(restored)
        }
        if remove {
            for copy in copies { try FileManager.default.removeItem(at: copy) }
        }
    }

    private func store(_ values: [SalvagedValue]) throws {
        let store = try suite.existing()
        try store.transaction {
            for found in values {
                // Another program may have stored one since it was looked for.
                if !overwrite, store.storedValue(forKey: found.key) != nil { continue }
                try store.setStoredValue(found.value, forKey: found.key)
            }
        }
        note("Restored \(values.count) value\(values.count == 1 ? "" : "s").")
    }
}

/// A value in a damaged journal.
struct SalvagedValue {
    let key: String
    let value: PropertyListValue
    /// Whether its record's checksum is right.
    let isIntact: Bool

    func hasKey(_ key: String) -> Bool { self.key.utf8.elementsEqual(key.utf8) }

    /// The values in a backup: those of intact records as the library reads them, and then what can be made out of damaged ones.
    static func all(in copy: URL) throws -> [SalvagedValue] {
        try TemporaryDirectory.with { directory in
            // The library reads a suite. That it reports the damage is nothing new here.
            let handler = DefaultsDiagnostics.handler
            DefaultsDiagnostics.handler = { _ in }
            defer { DefaultsDiagnostics.handler = handler }
            let suite = directory.appending(path: "copy.defaults", directoryHint: .isDirectory)
            try FileManager.default.createDirectory(at: suite, withIntermediateDirectories: false)
            let journal = suite.appending(path: "journal")
            try FileManager.default.copyItem(at: copy, to: journal)
            let intact = try SuiteContents(of: FileDefaults(readingFrom: suite)).entries
                .map { SalvagedValue(key: $0.key, value: $0.value, isIntact: true) }
            let bytes = try Array(Data(contentsOf: journal))
            let damaged = try FileDefaults.inspect(at: suite).damage.flatMap { values(in: bytes, $0) }
            return damaged + intact
        }
    }

    /// The values in a part of a journal whose checksums are wrong, as the article "File format" describes records; of several
    /// for a key, the last.
    private static func values(in bytes: [UInt8], _ range: Range<UInt64>) -> [SalvagedValue] {
        var found: [SalvagedValue] = []
        var position = Int(range.lowerBound)
        let end = min(Int(range.upperBound), bytes.count)
        while position + 16 <= end {
            guard bytes[position..<position + 4].elementsEqual([0xF5, 0x52, 0x65, 0x63]) else {
                position += 1
                continue
            }
            let length = number(in: bytes, at: position + 4, size: 4)
            position += 16
            found += operations(in: bytes[position..<max(position, min(position + length, end))])
        }
        return found.enumerated().filter { index, value in
            !found[(index + 1)...].contains { $0.hasKey(value.key) }
        }.map(\.element)
    }

    /// The values that a record sets, up to the first operation that makes no sense.
    private static func operations(in payload: ArraySlice<UInt8>) -> [SalvagedValue] {
        var found: [SalvagedValue] = []
        var rest = payload
        while let kind = rest.popFirst() {
            guard kind == 1, rest.count >= 6 else { return found }
            let keyLength = number(in: rest, at: rest.startIndex, size: 2)
            let valueLength = number(in: rest, at: rest.startIndex + 2, size: 4)
            rest = rest.dropFirst(6)
            guard keyLength > 0, keyLength + valueLength <= rest.count else { return found }
            let key = String(validating: rest.prefix(keyLength), as: UTF8.self)
            let value = PropertyListValue(binaryForm: Data(rest.dropFirst(keyLength).prefix(valueLength)))
            rest = rest.dropFirst(keyLength + valueLength)
            if let key, let value, !key.hasPrefix("\0") {
                found.append(SalvagedValue(key: key, value: value, isIntact: false))
            }
        }
        return found
    }

    private static func number<Bytes: RandomAccessCollection<UInt8>>(in bytes: Bytes, at index: Int, size: Int) -> Int
    where Bytes.Index == Int {
        bytes[index..<index + size].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
