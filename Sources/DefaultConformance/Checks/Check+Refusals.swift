internal import Default
internal import Foundation

extension StoreConformance.Check {
    static let ofRefusals: [Self] = [
        Self("A key that is empty, holds NUL or has over 65,535 bytes is refused, and has no value.") { trial, store in
            try store.setStoredValue(.string("before"), forKey: "a")
            for key in invalidKeys {
                let name = "forKey: \(Trial.describe(key: key))"
                for value in [.integer(1), nil] as [PropertyListValue?] {
                    trial.expect(.invalidKey, from: "setStoredValue(\(Trial.describe(value)), \(name))") {
                        try store.setStoredValue(value, forKey: key)
                    }
                }
                trial.expect(key, in: store, is: nil, "after it was refused")
            }
            trial.expect("a", in: store, is: .string("before"), "beside refused keys")
        },
        Self("A value that nests more than 256 levels is refused, and what was there stays.") { trial, store in
            try store.setStoredValue(.string("before"), forKey: "k")
            for levels in [257, 1_000] {
                for (name, value) in Trial.nestings(of: levels) {
                    trial.expect(.unsupportedValue, from: "setStoredValue with \(levels) levels of \(name)") {
                        try store.setStoredValue(value, forKey: "k")
                    }
                    trial.expect("k", in: store, is: .string("before"), "after a value was refused")
                    try? store.setStoredValue(value, forKey: "new")
                    trial.expect("new", in: store, is: nil, "of a new key after a value was refused")
                }
            }
        },
        Self("A refusal names a key and a store.") { trial, store in
            for (name, value) in Trial.nestings(of: 257) {
                let call = "setStoredValue with 257 levels of \(name)"
                let error = trial.expect(.unsupportedValue, from: call) {
                    try store.setStoredValue(value, forKey: "k")
                }
                // Which ones is not checked: a store may keep its values in another one, whose error this is.
                trial.expect(error?.key != nil, "\(call) threw an error whose key is nil.")
                trial.expect(error?.store != nil, "\(call) threw an error whose store is nil.")
            }
        },
    ]

    private static let invalidKeys = [
        "", "a\0b", "\0", String(repeating: "k", count: 65_536), String(repeating: "é", count: 32_768),
    ]
}
