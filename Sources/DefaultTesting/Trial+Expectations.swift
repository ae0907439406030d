internal import Default
internal import Foundation

extension Trial {
    /// Notes a finding unless a condition holds.
    func expect(_ condition: Bool, _ details: @autoclosure () -> String) {
        if !condition {
            note(details())
        }
    }

    /// Notes a finding unless a call gave what it should have: same value, same type, all the way down.
    func expect(_ found: Any?, is expected: Any?, from call: @autoclosure () -> String) {
        if !Self.isSame(found, as: expected) {
            note("\(call()) gave \(Self.describe(found)), not \(Self.describe(expected)).")
        }
    }

    /// Notes a finding unless `object(forKey:)` gives what it should.
    func expect(
        _ key: String,
        in store: any DefaultsStore,
        is expected: Any?,
        _ circumstances: @autoclosure () -> String
    ) {
        expect(
            store.object(forKey: key),
            is: expected,
            from: "object(forKey: \(Self.describe(key: key))) \(circumstances())"
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
    /// A value with its type, cut off where it gets long.
    static func describe(_ value: Any?) -> String {
        guard let value else {
            return "nil"
        }
        let text = String(reflecting: value)
        return "\(type(of: value)) \(text.count > 120 ? text.prefix(120) + "…" : text[...])"
    }

    static func describe(key: String) -> String {
        // Escaped, since keys that look the same may differ.
        let text = "\"\(key.unicodeScalars.map { $0.escaped(asASCII: true) }.joined())\""
        return key.utf8.count > 120 ? "\(text.prefix(20))…\" (\(key.utf8.count) bytes)" : text
    }

    private static func isSame(_ found: Any?, as expected: Any?) -> Bool {
        guard let found, let expected else {
            return found == nil && expected == nil
        }
        switch expected {
        case let expected as String:
            // String's own == takes canonically equivalent ones for equal.
            return type(of: found) == String.self && (found as? String)?.utf8.elementsEqual(expected.utf8) == true
        case let expected as [Any]:
            guard let found = found as? [Any], found.count == expected.count else {
                return false
            }
            return zip(found, expected).allSatisfy { isSame($0, as: $1) }
        case let expected as [String: Any]:
            guard let found = found as? [String: Any], found.count == expected.count else {
                return false
            }
            return expected.allSatisfy { isSame(found[$0.key], as: $0.value) }
        default:
            guard type(of: found) == type(of: expected), let expected = expected as? AnyHashable else {
                return false
            }
            return found as? AnyHashable == expected
        }
    }
}
