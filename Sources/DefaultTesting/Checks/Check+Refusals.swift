internal import Default
internal import Foundation

extension StoreConformance.Check {
    static let ofRefusals: [Self] = [
        Self("What no property list can hold is refused, and what was there stays.") { trial in
            trial.withStore { store in
                try store.set("before", forKey: "k")
                for (name, object) in unsupportedObjects() {
                    trial.expect(.unsupportedValue, from: "set(_:forKey:) with \(name)") {
                        try store.set(object, forKey: "k")
                    }
                    trial.expect("k", in: store, is: "before", "after set with \(name)")
                    try? store.set(object, forKey: "new")
                    trial.expect("new", in: store, is: nil, "of a new key after set with \(name)")
                }
                let tooDeep = (0..<1_000).reduce(PropertyListValue.integer(1)) { inner, _ in .array([inner]) }
                trial.expect(.unsupportedValue, from: "set with a PropertyListValue of 1,000 levels") {
                    try store.set(tooDeep, forKey: "k")
                }
                trial.expect("k", in: store, is: "before", "after a set that was refused")
            }
        },
        Self("A refusal names the offending part of a value, a key and a store.") { trial in
            trial.withStore { store in
                let call = "set([\"a\": [1, NSNull()]], forKey: \"k\")"
                let error = trial.expect(.unsupportedValue, from: call) {
                    try store.set(["a": [1, NSNull()]] as [String: Any], forKey: "k")
                }
                guard let error else {
                    return
                }
                for part in ["NSNull", ".a[1]"] {
                    trial.expect(
                        error.description.contains(part),
                        "\(call) threw “\(error)”, which does not say \(part)."
                    )
                }
                // Which ones is not said: a store may stand on another one, whose error this is.
                trial.expect(error.key != nil, "\(call) threw an error whose key is nil.")
                trial.expect(error.store != nil, "\(call) threw an error whose store is nil.")
            }
        },
    ]

    private static func unsupportedObjects() -> [(name: String, object: Any)] {
        let tooDeep = (0..<1_000).reduce(1 as Any) { inner, _ in [inner] }
        return [
            ("an NSObject", NSObject()), ("NSNull", NSNull()), ("a URL", URL(filePath: "/")),
            ("an empty optional", Optional<Int>.none as Any), ("an NSObject in an array", [1, NSObject()] as [Any]),
            ("NSNull in dictionaries", ["a": ["b": NSNull()]] as [String: Any]),
            ("a dictionary with numbers for keys", [1: "a"] as [Int: String]), ("1,000 levels of arrays", tooDeep),
            ("an enum", Trial.Shade.dark), ("a tuple", (1, 2)),
        ]
    }
}
