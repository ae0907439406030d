internal import Default
internal import Foundation

extension Trial {
    /// Notes a finding unless a condition holds.
    func expect(_ condition: Bool, _ details: @autoclosure () -> String) {
        if !condition {
            note(details())
        }
    }

    /// Notes a finding unless a call gave what it should have.
    func expect<Value: Equatable>(_ found: Value, is expected: Value, from call: @autoclosure () -> String) {
        expect(found == expected, "\(call()) gave \(found), not \(expected).")
    }

    /// Notes a finding unless a call gave the stored value that it should have: the same bytes, all the way down.
    func expect(
        _ found: PropertyListValue?,
        is expected: PropertyListValue?,
        from call: @autoclosure () -> String
    ) {
        // Their own == takes 0.0 and -0.0 for equal, and canonically equivalent strings as well.
        expect(
            found?.binaryForm == expected?.binaryForm,
            "\(call()) gave \(Self.describe(found)), not \(Self.describe(expected))."
        )
    }

    /// Notes a finding unless `storedValue(forKey:)` gives what it should.
    func expect(
        _ key: String,
        in store: any DefaultsStore,
        is expected: PropertyListValue?,
        _ circumstances: @autoclosure () -> String
    ) {
        expect(
            store.storedValue(forKey: key),
            is: expected,
            from: "storedValue(forKey: \(Self.describe(key: key))) \(circumstances())"
        )
    }

    /// Notes a finding unless a body throws a `DefaultsError` with a code.
    @discardableResult
    func expect(
        _ code: DefaultsError.Code,
        from call: @autoclosure () -> String,
        _ body: () throws -> Void
    ) -> DefaultsError? {
        do {
            try body()
        } catch let error as DefaultsError {
            expect(error.code == code, "\(call()) threw a DefaultsError with the code \(error.code), not \(code).")
            return error
        } catch {
            note("\(call()) threw \(type(of: error)) (\(error)), not a DefaultsError with the code \(code).")
            return nil
        }
        note("\(call()) threw nothing; it should throw a DefaultsError with the code \(code).")
        return nil
    }

    /// Notes a finding unless a body throws what it was made to throw.
    func expectStop(from call: @autoclosure () -> String, _ body: () throws -> Void) {
        do {
            try body()
        } catch is Stop {
            return
        } catch {
            note("\(call()) threw \(type(of: error)) (\(error)), not what its body threw.")
            return
        }
        note("\(call()) threw nothing, although its body did.")
    }

    /// What the checks throw from bodies.
    struct Stop: Error {}
}

extension Trial {
    /// A value with its case, cut off where it gets long.
    static func describe(_ value: PropertyListValue?) -> String {
        guard let value else {
            return "nil"
        }
        // Escaped, since strings that look the same may differ.
        let text = "\(value)".unicodeScalars.map { $0.isASCII ? String($0) : $0.escaped(asASCII: true) }.joined()
        return ".\(text.count > 120 ? text.prefix(120) + "…" : text[...])"
    }

    static func describe(key: String) -> String {
        // Escaped, since keys that look the same may differ.
        let text = "\"\(key.unicodeScalars.map { $0.escaped(asASCII: true) }.joined())\""
        return key.utf8.count > 120 ? "\(text.prefix(20))…\" (\(key.utf8.count) bytes)" : text
    }
}
