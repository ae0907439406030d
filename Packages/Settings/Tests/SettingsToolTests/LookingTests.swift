import Default
import Foundation
import Testing

/// Commands that only look, at suites that this user can't or should not change.
@Suite(.waits)
struct LookingTests {
    static let commands = [
        ["list"], ["read", "app"], ["read", "app", "whole"], ["read", "app", "--json"], ["read-type", "app", "whole"],
        ["find", "another"], ["diff", "app", "app"], ["export", "app"], ["verify", "app"], ["salvage", "app"],
        ["quarantine", "app"],
    ]

    @Test("A damaged suite is not changed by a look, and what is intact is shown", arguments: commands)
    func damaged(arguments: [String]) throws {
        try Tool.withHome { tool in
            try tool.makeDamagedSuite("app")
            let before = try tool.files(ofSuite: "app")
            let outcome = try tool.run(arguments: arguments)
            #expect(outcome.status == (arguments[0] == "verify" ? 1 : 0))
            #expect(try tool.files(ofSuite: "app") == before)
        }
    }

    @Test("A sound suite is not changed by a look either", arguments: commands)
    func sound(arguments: [String]) throws {
        try Tool.withHome { tool in
            try tool.run("write", "app", "whole", "another value")
            let before = try tool.files(ofSuite: "app")
            #expect(try tool.run(arguments: arguments).status == 0)
            #expect(try tool.files(ofSuite: "app") == before)
        }
    }

    @Test("Root reads other users' suites, and a suite without the permission to write is read", arguments: commands)
    func otherUser(arguments: [String]) throws {
        try Tool.withHome { tool in
            try tool.run("write", "app", "whole", "another value")
            let suite = tool.url(ofSuite: "app")
            for name in ["journal", ""] {
                let path = suite.appending(path: name).path
                if geteuid() == 0 { #expect(chown(path, 65_534, 65_534) == 0) }
                #expect(chmod(path, name.isEmpty ? 0o500 : 0o400) == 0)
            }
            let before = try tool.files(ofSuite: "app")
            #expect(try tool.run(arguments: arguments).status == 0)
            #expect(try tool.files(ofSuite: "app") == before)
            let refused = try tool.run("write", "app", "whole", "new")
            #expect(refused.status == 1)
            #expect(refused.errors.contains("Nothing"))
            #expect(try tool.files(ofSuite: "app") == before)
            chmod(suite.path, 0o700)
        }
    }

    @Test("A value by a path: entries, elements, members of JSON, and keys that have dots themselves")
    func paths() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            try suite.set(["host": "example.com", "ports": [80, 443], "a.b": "dotted"], forKey: "server")
            try suite.set(Data(#"{"name":"ada","list":[{"x":1.50}],"none":null}"#.utf8), forKey: "Login")
            try suite.set("a key with a dot", forKey: "Login.name")
            try suite.set(["x": 1], forKey: "dotted.key")
            for (path, expected) in [
                ("server.host", "example.com"), ("server.ports.1", "443"), ("server.a.b", "dotted"),
                ("Login.list.0.x", "1.50"), ("Login.none", "null"), ("Login.name", "a key with a dot"),
                ("dotted.key.x", "1"),
            ] {
                #expect(try tool.run("read", "app", path).text == "\(expected)\n")
            }
            for path in ["server.ports.2", "server.ports.-1", "server.host.0", "Login.x", "none.x", "", ".", "server."]
            {
                let outcome = try tool.run("read", "app", path)
                #expect(outcome.status == 1)
                #expect(outcome.errors.hasPrefix("Error: \(path.debugDescription) has no value in "))
            }
            #expect(try tool.run("read", "app", "Login.list", "--raw").text == #"[{"x":1.50}]"#)
        }
    }

    @Test("The type of a value is shown")
    func readType() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            try suite.df.save(VisualSettings(), forKey: "json")
            try Samples.store(in: suite)
            for (key, expected) in [
                ("string", "string"), ("true", "boolean"), ("smallest", "integer"), ("largest unsigned", "integer"),
                ("nan", "float"), ("date", "date"), ("data", "data"), ("json", "data, which is JSON"),
                ("array", "array"),
                ("dictionary", "dictionary"), ("dictionary.a", "integer"), ("array.1", "float"),
            ] {
                #expect(try tool.run("read-type", "app", key).text == "Type is \(expected)\n")
            }
            #expect(try tool.run("read-type", "app", "json.themeName").text == "Type is string\n")
            #expect(try tool.run("read-type", "app", "missing").status == 1)
        }
    }

    @Test("JSON for other programs is JSON, whatever is stored")
    func json() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            try Samples.store(in: suite)
            try suite.df.save(VisualSettings(), forKey: "VisualSettings")
            let outcome = try tool.run("read", "app", "--json", "--hide", "*token")
            let object = try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any]
            #expect(object?.count == suite.storedKeys().count)
            let settings = object?["VisualSettings"] as? [String: String]
            #expect(settings == ["themeName": "dark", "apiToken": "<hidden>"])
            #expect(try tool.run("read", "app", "VisualSettings.themeName", "--json").text == "\"dark\"\n")
            #expect(try tool.run("list", "--json").text == "[\n  \"app\"\n]\n")
        }
    }

    @Test("Texts are found in keys and values of all suites, and not in what is hidden")
    func find() throws {
        try Tool.withHome { tool in
            let one = try FileDefaults(url: tool.url(ofSuite: "one"))
            let two = try FileDefaults(url: tool.url(ofSuite: "two"))
            try one.set("dark red", forKey: "color")
            try one.set(["apiToken": "red"], forKey: "secrets")
            try two.df.save(VisualSettings(themeName: "Redwood"), forKey: "VisualSettings")
            try two.set(7, forKey: "predicted")
            try two.set("blue", forKey: "other")
            let outcome = try tool.run("find", "RED", "--hide", "*token")
            #expect(outcome.status == 0)
            let expected = """
                one: color = "dark red"
                two: VisualSettings = {
                  "apiToken": <hidden>,
                  "themeName": "Redwood"
                }
                two: predicted = 7

                """
            #expect(outcome.text == expected)
            #expect(try tool.run("find", "red", "one").text.split(separator: "\n").first == "one: color = \"dark red\"")
            let nothing = try tool.run("find", "secret-1", "--hide", "*token")
            #expect(nothing.status == 1)
            #expect(nothing.text == "")
            #expect(try tool.run("domains").text == "one\ntwo\n")
        }
    }

    @Test("Two suites are compared, and the exit status says whether they differ")
    func diff() throws {
        try Tool.withHome { tool in
            let one = try FileDefaults(url: tool.url(ofSuite: "one"))
            let two = try FileDefaults(url: tool.url(ofSuite: "two"))
            try one.set(1, forKey: "same")
            try two.set(1, forKey: "same")
            #expect(try tool.run("diff", "one", "two").status == 0)
            try one.set(1.0, forKey: "type")
            try two.set(1, forKey: "type")
            try one.set(["a": 1], forKey: "only")
            try two.set("secret-1", forKey: "token")
            let outcome = try tool.run("diff", "one", "two", "--hide", "token")
            #expect(outcome.status == 1)
            let expected = """
                - only = {
                -   "a": 1
                - }
                + token = <hidden>
                - type = 1.0
                + type = 1

                """
            #expect(outcome.text == expected)
            let json = try tool.run("diff", "one", "two", "--json")
            let object = try JSONSerialization.jsonObject(with: json.output) as? [String: [String: Any]]
            #expect(object?["type"]?["second"] as? Int == 1)
            #expect(object?["only"]?.keys.sorted() == ["first"])
        }
    }

    @Test(
        "What is hidden is nowhere to be seen: raw, exported, within JSON, by a path, or because the environment says so"
    )
    func hiding() throws {
        try Tool.withHome { tool in
            let suite = try FileDefaults(url: tool.url(ofSuite: "app"))
            try suite.df.save(VisualSettings(), forKey: "VisualSettings")
            try suite.set(#"[{"api_token": "secret-2", "name": "ada"}]"#, forKey: "text")
            try suite.set(["list": [["token": "secret-3"]]], forKey: "nested")
            let list = try PropertyListSerialization.data(
                fromPropertyList: ["token": "secret-4"],
                format: .binary,
                options: 0
            )
            try suite.set(list, forKey: "list")
            let xml = try PropertyListSerialization.data(
                fromPropertyList: ["token": "secret-6", "list": list],
                format: .xml,
                options: 0
            )
            try suite.set(xml, forKey: "xml")
            try suite.set(String(decoding: xml, as: UTF8.self), forKey: "xml text")
            let brackets = (String(repeating: "[", count: 300), String(repeating: "]", count: 300))
            let deep = Data("\(brackets.0){\"token\": \"secret-7\"}\(brackets.1)".utf8)
            try suite.set(deep, forKey: "deep")
            try suite.set(["list": [deep]], forKey: "nested deep")
            try suite.set("secret-5", forKey: "token")
            let hidden = ["SETTINGS_HIDE": "nothing:*token"]
            for arguments in [
                ["read", "app"], ["read", "app", "--json"], ["export", "app"], ["export", "app", "--format", "json"],
                ["export", "app", "--format", "xml"], ["read", "app", "VisualSettings"],
                ["read", "app", "VisualSettings", "--raw"], ["read", "app", "VisualSettings", "--json"],
                ["read", "app", "VisualSettings.apiToken"], ["read", "app", "VisualSettings.apiToken", "--json"],
                ["read", "app", "text"], ["read", "app", "text", "--raw"], ["read", "app", "text", "--json"],
                ["read", "app", "list"], ["read", "app", "list", "--raw"], ["read", "app", "nested.list.0.token"],
                ["read", "app", "xml"], ["read", "app", "xml", "--raw"], ["read", "app", "xml", "--json"],
                ["read", "app", "xml.token"], ["read", "app", "xml.list"], ["read", "app", "xml.list.token"],
                ["read", "app", "xml text"], ["read", "app", "xml text", "--json"],
                ["read", "app", "deep"], ["read", "app", "deep", "--json"], ["read", "app", "nested deep"],
                ["read", "app", "nested deep.list.0"], ["read", "app", "xml", "--origin"], ["origin", "app"],
                ["origin", "app", "--json"],
                ["find", "e"],
            ] {
                for outcome in [
                    try tool.run(arguments: arguments + ["--hide", "*token"]),
                    try tool.run(arguments: arguments, environment: hidden),
                ] {
                    #expect(outcome.status == 0)
                    #expect(!outcome.output.isEmpty)
                    // Foundation may store text in UTF-16, which has zeros in it.
                    let text = String(decoding: outcome.output.filter { $0 != 0 }, as: UTF8.self)
                    // Bytes are shown by their digits, or as Base64.
                    for secret in ["secret", "736563726574", "c2VjcmV0", "NlY3Jld", "zZWNyZX"] {
                        #expect(!text.contains(secret), "\(arguments)")
                    }
                }
            }
            #expect(try tool.run("read", "app", "VisualSettings.apiToken", "--raw", environment: hidden).status == 1)
            #expect(try tool.run("read", "app", "deep", "--raw", environment: hidden).status == 1)
            for key in ["token", "nested", "xml", "deep"] {
                #expect(try tool.run("edit", "app", key, environment: hidden).status == 1)
            }
            // An export without them is one without them, and says so.
            let exported = try tool.run("export", "app", "--format", "json", environment: hidden)
            #expect(exported.errors.contains("9 values"))
            let object = try JSONSerialization.jsonObject(with: exported.output) as? [String: Any]
            #expect(object?.keys.sorted() == ["VisualSettings", "list", "nested", "nested deep", "text", "xml"])
        }
    }
}
