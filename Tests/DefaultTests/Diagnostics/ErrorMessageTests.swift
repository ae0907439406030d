import Foundation
import Testing

@testable import Default

/// A step of a coding path.
private struct Step: CodingKey {
    let stringValue: String
    var intValue: Int?

    init(_ name: String) { stringValue = name }
    init(_ index: Int) { (stringValue, intValue) = ("\(index)", index) }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(intValue) }
}

@Suite("The message of an error")
struct ErrorMessageTests {
    private let context = ErrorContext(key: "k", type: Int.self, store: "S")
    private let fault = CocoaError(.fileNoSuchFile)
    #if Foundation
    private let summary = "CocoaError, domain NSCocoaErrorDomain, code 4"
    #else
    private let summary = "CocoaError, code 4"
    #endif

    /// Expects a code and a message, and that an error is about the context above.
    private func expect(
        _ error: DefaultsError,
        _ code: DefaultsError.Code,
        _ message: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(error.code == code, sourceLocation: sourceLocation)
        #expect(error.description == message, sourceLocation: sourceLocation)
        #expect(error.localizedDescription == message, sourceLocation: sourceLocation)
        #expect(error.key == "k" && error.type == Int.self && error.store == "S", sourceLocation: sourceLocation)
    }

    @Test("about a key shows at most 64 of its characters, and says what is wrong with it")
    func keys() {
        let cases = [
            ("", #"The key "" can't be used: it is empty. Nothing was read or stored."#),
            ("a\0b", #"The key "a\0b" can't be used: it contains a NUL character. Nothing was read or stored."#),
            (
                String(repeating: "é", count: 32_768),
                """
                The key "\(String(repeating: "é", count: 64))…" can't be used: it has 65536 bytes, more than 65535. \
                Nothing was read or stored.
                """
            ),
        ]
        for (key, message) in cases {
            let error = expectError(.invalidKey) { try StoreKey(key) }
            #expect(error?.description == message)
            #expect(error?.key == key && error?.type == nil && error?.store == nil && error?.underlyingError == nil)
        }
        let longest = String(repeating: "k", count: 64)
        #expect(DefaultsError.invalidKey(longest, because: "x").description.contains("\"\(longest)\""))
        #expect(DefaultsError.invalidKey(longest + "k", because: "x").description.contains("\"\(longest)…\""))
        #expect(StoreKey(unchecked: String(repeating: "é", count: 32_767)).fault == nil)
    }

    @Test("about a value that can't be stored says why, and what can be")
    func unstored() throws {
        let inside = #expect(throws: PropertyListValue.UnsupportedObject.self) {
            try PropertyListValue(object: ["a": [1, Step("x")]] as [String: Any])
        }
        let accepted = """
            A store accepts String, Bool, numbers, Data, Date, and arrays and string-keyed dictionaries of those. \
            A settings type stores itself, with write(to:); encode other types.
            """
        let unsupported = DefaultsError.unsupportedValue(try #require(inside), context)
        expect(
            unsupported,
            .unsupportedValue,
            """
            Nothing was stored under "k" in S. A value of type Step is not a property-list value (at .a[1]). \(accepted)
            """
        )
        expect(
            .unsupportedValue(.tooDeep, context),
            .unsupportedValue,
            #"Nothing was stored under "k" in S. The value nests more than 256 levels. \#(accepted)"#
        )
        expect(
            .valueTooLarge(5, limit: 4, context),
            .valueTooLarge,
            """
            Nothing was stored under "k" in S: with the new value it would hold 5 bytes, and the system refuses 4 and \
            more. Keep large values in files, or in a FileDefaults.
            """
        )
        let encoding = DefaultsError.encodingFailed(fault, context)
        expect(
            encoding,
            .encodingFailed,
            """
            A value of type Int can't be stored under "k" in S, because it can't be encoded (\(summary)). The stored \
            value is unchanged.
            """
        )
        #expect(encoding.underlyingError is CocoaError)
        let invalid = EncodingError.Context(codingPath: [Step("a"), Step(0)], debugDescription: "secret")
        let value = DefaultsError.encodingFailed(EncodingError.invalidValue(Double.nan, invalid), context)
        #expect(value.description.contains(#"("a[0]" has a value of type Double that the format can't represent)"#))
        #expect(!value.description.contains("secret"))
        expect(
            .arithmeticOverflow(context),
            .arithmeticOverflow,
            #"The sum for "k" in S does not fit into 64 bits. The stored value is unchanged."#
        )
        let advice = """
            could not be saved to disk by S: synchronize() returned false. Check that the preferences directory in the \
            home directory exists and is writable, and that the disk is not full.
            """
        expect(.synchronizationFailed(context), .synchronizationFailed, "The value for \"k\" \(advice)")
        let whole = DefaultsError.synchronizationFailed(ErrorContext(store: "S"))
        #expect(whole.description == "The values \(advice)")
        #expect(whole.key == nil && whole.type == nil && whole.store == "S")
    }

    @Test("about bytes names the part of them that can't be decoded, and none of what is in them")
    func undecodable() {
        let place = DecodingError.Context(codingPath: [Step("a"), Step(1)], debugDescription: "secret")
        let top = DecodingError.Context(codingPath: [], debugDescription: "secret")
        let cure = """
             Make the property optional, or give the settings type a defaultValue, or the typed key a default, from \
            which it can be filled in.
            """
        let cases: [(any Error, String, hasCure: Bool)] = [
            (DecodingError.keyNotFound(Step("b"), place), #"no value for "a[1].b""#, true),
            (DecodingError.keyNotFound(Step("b"), top), #"no value for "b""#, true),
            (
                DecodingError.valueNotFound(Bool.self, place),
                #"null at "a[1]", where a value of type Bool is needed"#, true
            ),
            (
                DecodingError.valueNotFound(Bool.self, top),
                "null at the top level, where a value of type Bool is needed", false
            ),
            (DecodingError.typeMismatch(Bool.self, place), #""a[1]" is not of type Bool"#, true),
            (DecodingError.typeMismatch(Bool.self, top), "the top level is not of type Bool", false),
            (DecodingError.dataCorrupted(place), #""a[1]" is malformed"#, true),
            (DecodingError.dataCorrupted(top), "the top level is malformed", false),
            (fault, summary, false),
        ]
        for (cause, faults, hasCure) in cases {
            let error = DefaultsError.undecodable(cause, byteCount: 7, context)
            expect(
                error,
                .undecodable,
                """
                The 7 bytes stored under "k" in S can't be decoded as Int (\(faults)). They were left \
                unchanged.\(hasCure ? cure : "")
                """
            )
            #expect(error.underlyingError != nil)
        }
    }

    @Test("about a value of another kind says of which one it is")
    func kinds() {
        let kinds: [(PropertyListValue, String)] = [
            (.string("secret"), "A string"), (.boolean(true), "A Boolean"), (.integer(1), "A number"),
            (.unsigned(.max), "A number"), (.real(0.5), "A number"), (.data(Data()), "Data"), (.date(.now), "A date"),
            (.array([]), "An array"), (.dictionary([:]), "A dictionary"),
        ]
        for (value, kind) in kinds {
            expect(
                .typeMismatch(found: value, context),
                .typeMismatch,
                """
                \(kind) is stored under "k" in S, which can't be read as Int. It was left unchanged. Another part of the \
                program may use the same key.
                """
            )
        }
        expect(
            .companionKeyOccupied(purpose: "the schema version", context),
            .typeMismatch,
            """
            The key "k" in S is reserved for the schema version of Int, but something else is stored there. It was left \
            unchanged. Move it to another key.
            """
        )
    }

    @Test("about a default value names the type, and what to do")
    func defaults() {
        expect(
            .valueMissing(context),
            .valueMissing,
            """
            Nothing is stored under "k" in S, and Int has no defaultValue for an update to start from. Save a value \
            first, or give the type a `static var defaultValue: Int?`. A defaultValue of an unrelated type is not used.
            """
        )
        let missing = DefaultsError.defaultMissing(type: Int.self)
        #expect(missing.code == .valueMissing)
        #expect(
            missing.description == """
                Int conforms to DefaultProviding, but has no defaultValue of its own type, so stored values that lack \
                properties can't be filled in. Give it a `static var defaultValue: Int?`.
                """
        )
        let unusable = DefaultsError.defaultNotEncodable(fault, type: Int.self)
        #expect(unusable.code == .encodingFailed && unusable.underlyingError is CocoaError)
        #expect(
            unusable.description == """
                The default value of Int can't be encoded (\(summary)). Stored values that lack properties can't be \
                filled in from it. Give it values that its coder can encode.
                """
        )
        for error in [missing, unusable] {
            #expect(error.key == nil && error.type == Int.self && error.store == nil)
        }
    }

    @Test("about a value that was filled in lists what could not be used before what was missing")
    func filledIn() {
        let unusable = LoadReport.UnusableValue(keys: ["b"], reason: .wrongType(needed: "Int"))
        let report = LoadReport(filledIn: ["c", "a"], unusable: [unusable])
        let error = DefaultsError.filledIn(report, context)
        let faults = #""b" is not of type Int, "a" is missing, "c" is missing"#
        expect(
            error,
            .filledIn,
            """
            The value stored under "k" in S doesn't match Int: \(faults). These were filled in from the defaultValue \
            where it has them. The stored value was left unchanged.
            """
        )
        #expect(error.faults == faults)
        let unknown = LoadReport(unusable: [.init(keys: ["x"], reason: .unknown)])
        expect(
            .filledIn(unknown, context),
            .filledIn,
            """
            The value stored under "k" in S doesn't match Int: "x" is not a property of the type. These were not used. \
            The stored value was left unchanged.
            """
        )
        // The message lists twenty paths.
        func listed(_ count: Int) -> String {
            DefaultsError.filledIn(LoadReport(filledIn: (101...100 + count).map { "p\($0)" }), context).faults ?? ""
        }
        #expect(listed(20).hasSuffix(#", "p120" is missing"#))
        #expect(listed(21).hasSuffix(#", "p120" is missing, and 1 more"#))
        #expect(listed(22).hasSuffix(#", "p120" is missing, and 2 more"#))
    }

    @Test("about a value of another version says which versions or types there are")
    func versions() {
        expect(
            .newerVersion(3, own: 2, context),
            .newerVersion,
            """
            The value stored under "k" in S has version 3 and was written by a newer version of the app; Int has version \
            2. It was left unchanged. Update the app to read it.
            """
        )
        let migration = DefaultsError.migrationFailed(fault, from: "Old", context)
        expect(
            migration,
            .migrationFailed,
            """
            The Old stored under "k" in S could not be migrated to Int (\(summary)). It was left unchanged, and the next \
            read tries the migration again.
            """
        )
        #expect(migration.underlyingError is CocoaError)
        expect(
            .identifierConflict(with: Double.self, context),
            .identifierConflict,
            """
            Two types are stored under "k" in S: Swift.Double and Swift.Int. Each overwrites the other. Give one of them \
            its own defaultIdentifier.
            """
        )
    }

    @Test("about a quarantined value has the fault of the value, and that about one that could not be its cause")
    func quarantine() {
        let report = LoadReport(unusable: [.init(keys: ["b"], reason: .wrongType(needed: "Int"))])
        let losses: [(DefaultsError, String)] = [
            (.filledIn(report, context), #""b" is not of type Int"#),
            (.undecodable(fault, byteCount: 1, context), summary),
            (.typeMismatch(found: .integer(1), context), "it is a number"),
        ]
        for (loss, fault) in losses {
            let error = DefaultsError.quarantined(loss, under: "k.quarantine", context)
            expect(
                error,
                loss.code,
                """
                The value stored under "k" in S can't be used as Int (\(fault)). It was quarantined under "k.quarantine" \
                before it was replaced.
                """
            )
            #expect((error.underlyingError as? DefaultsError)?.description == loss.description)
        }
        for (cause, text) in [(fault, summary), (DefaultsError(.storeFailed, reason: "Full."), "Full.")]
            as [(any Error, String)]
        {
            let error = DefaultsError.quarantineFailed(cause, context)
            expect(
                error,
                .quarantineFailed,
                """
                The value stored under "k" in S can't be used as Int, and could not be quarantined (\(text)). It was not \
                replaced.
                """
            )
            #expect(error.underlyingError != nil)
        }
    }

    @Test("about a store that failed has what the call was about, and the library's own errors are left as they are")
    func wrapped() {
        let error = DefaultsError.wrapping(fault, context)
        expect(error, .storeFailed, "S failed for the key \"k\" and the type Int (\(summary)).")
        #expect(error.underlyingError is CocoaError)
        let short = DefaultsError.wrapping(fault, ErrorContext(store: "S"))
        #expect(short.description == "S failed (\(summary)).")
        #expect(DefaultsError.wrapping(fault, ErrorContext(key: "k", store: "S")).type == nil)
        let own = DefaultsError.wrapping(DefaultsError(.storeBusy, reason: "Busy.", key: "other"), context)
        #expect(own.code == .storeBusy && own.description == "Busy." && own.key == "other" && own.store == nil)
        let thrown = expectError(.storeFailed) { try DefaultsError.wrapping(context) { throw fault } }
        #expect(thrown?.key == "k" && thrown?.type == Int.self && thrown?.store == "S")
    }

    @Test("and everything else stay the same when the error is said to be about a value")
    func content() {
        let report = LoadReport(filledIn: ["a"])
        for error in [DefaultsError.filledIn(report, context), .encodingFailed(fault, context)] {
            let other = error.about(content: 5)
            expect(other, error.code, error.description)
            #expect(error.content == nil && other.content == 5)
            #expect(other.faults == error.faults)
            #expect((other.underlyingError is CocoaError) == (error.underlyingError is CocoaError))
        }
        // The digest of Data is that of its bytes; other values have the digest of their encoding.
        let bytes = PropertyListValue.data(Data("foobar".utf8))
        #expect(DefaultsError.valueMissing(context).about(bytes).content == 0x8594_4171_F739_67E8)
        #expect(DefaultsError.valueMissing(context).about(.boolean(true)).content == 0xAF63_B94C_8601_B113)
    }

    @Test("is the one that another package gives its own error, with all its other properties")
    func initializer() {
        let full = DefaultsError(
            .init("vault.closed"),
            reason: "It is night.",
            key: "k",
            type: Int.self,
            store: "S",
            underlyingError: fault
        )
        expect(full, .init("vault.closed"), "It is night.")
        #expect(full.underlyingError is CocoaError)
        #expect(full.code.name == "vault.closed" && "\(full.code)" == "vault.closed")
        let brief = DefaultsError(.storeFailed, reason: "R.")
        #expect(brief.key == nil && brief.type == nil && brief.store == nil && brief.underlyingError == nil)
        #expect(brief.errorDescription == "R." && "\(brief)" == "R.")
        #expect(!(DefaultsError.Code.storeFailed ~= fault) && DefaultsError.Code.storeFailed ~= brief)
    }

    @Test("has a code with a name that is stable across versions")
    func codes() {
        let codes: [DefaultsError.Code] = [
            .encodingFailed, .undecodable, .typeMismatch, .invalidKey, .unsupportedValue, .valueMissing,
            .synchronizationFailed, .storeUnavailable, .storeBusy, .storeReadOnly, .newerFormat, .invalidSuiteName,
            .valueTooLarge, .storeDamaged, .storeReplaced, .storeExposed, .importFailed, .storeFailed,
            .arithmeticOverflow, .identifierConflict, .filledIn, .newerVersion, .migrationFailed, .quarantineFailed,
        ]
        let names = """
            encodingFailed undecodable typeMismatch invalidKey unsupportedValue valueMissing synchronizationFailed \
            storeUnavailable storeBusy storeReadOnly newerFormat invalidSuiteName valueTooLarge storeDamaged \
            storeReplaced storeExposed importFailed storeFailed arithmeticOverflow identifierConflict filledIn \
            newerVersion migrationFailed quarantineFailed
            """
        #expect(codes.map(\.name).joined(separator: " ") == names)
        #expect(codes.map { "\($0)" }.joined(separator: " ") == names)
    }
}
