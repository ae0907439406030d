@testable import Default
import Foundation
import Testing

@Suite("The environment as a source")
struct EnvironmentSourceTests {
    @Test(
        "has a key under its name in capitals, with an underscore before each word",
        arguments: [
            ("volume", "VOLUME"), ("launchCount", "LAUNCH_COUNT"), ("launch-count", "LAUNCH_COUNT"),
            ("launch_count", "LAUNCH_COUNT"), ("LAUNCH_COUNT", "LAUNCH_COUNT"), ("avatarURL", "AVATAR_URL"),
            ("URLPath", "URL_PATH"), ("editor.fontSize", "EDITOR_FONT_SIZE"), ("port2", "PORT2"),
            ("port2Name", "PORT2_NAME"), ("a", "A"), ("größe", "GRößE"), ("x y", "X_Y"),
        ]
    )
    func names(key: String, name: String) {
        #expect(EnvironmentVariables.name(of: key) == name)
    }

    @Test("is read as a launch argument is, and converted by typed getters and typed keys")
    func values() throws {
        let environment = [
            "TOOL_VOLUME": "0.4", "TOOL_LAUNCH_COUNT": "12", "TOOL_NAMES": "(a, b)", "TOOL_EMPTY": "", "TOOL_": "none",
            "OTHER": "1",
        ]
        let source = EnvironmentSource(prefix: "TOOL_", in: environment)
        for kind in LayeredStoreKind.allCases {
            try kind.withStore(overrides: [source]) { store in
                try store.set(0.9, forKey: "volume")
                #expect(store.double(forKey: "volume") == 0.4 && store.integer(forKey: "launchCount") == 12)
                #expect(store.stringArray(forKey: "names") == ["a", "b"] && store.string(forKey: "empty") == "")
                #expect(store.object(forKey: "") == nil && store.object(forKey: "other") == nil)
                let store: any DefaultsStore = store
                #expect(store[Defaults.Key<Int>("launchCount", default: 0)] == 12)
                #expect(store[Defaults.Key<Double>("volume", default: 0)] == 0.4)
                #expect(store.origin(forKey: "volume")?.kind == .override)
                #expect(store.origin(forKey: "volume")?.name == "the environment (TOOL_…)")
            }
        }
    }

    private struct Server: DefaultStorable, Equatable {
        var port = 80
        var hostName = "localhost"
        var isSecure = false
        var users: [String] = []
        var limits = ["a": 1]
        var nickname: String?
        var code = "x"
        static let defaultValue: Server? = Server()
        static let defaultIdentifier = "Server"
    }

    private func read(_ environment: [String: String], prefix: String = "APP_") throws -> Server? {
        let variables = EnvironmentVariables(prefix: prefix, in: environment)
        let snapshot = SourceSnapshot(
            above: [.init(origin: .init(.override, name: "environment"), values: [:], variables: variables)],
            below: []
        )
        guard snapshot.mayMention(["Server"]) else { return nil }
        let layers = PropertyLayers(
            StoredType.chain(of: Server.self),
            under: ["Server"],
            default: Server.defaultValue,
            in: snapshot,
            ErrorContext(key: "Server", type: Server.self, store: "store")
        )
        return layers.effective(own: nil, registered: nil) as? Server
    }

    @Test("sets properties of settings types: as text, number, Boolean or JSON, whichever the property wants")
    func properties() throws {
        let server = try read([
            "APP_SERVER_PORT": "8080", "APP_SERVER_HOST_NAME": "12", "APP_SERVER_IS_SECURE": "yes",
            "APP_SERVER_USERS": #"["a","b"]"#, "APP_SERVER_LIMITS": #"{"b":2}"#, "APP_SERVER_NICKNAME": "null",
            "APP_SERVER_CODE": "true", "APP_OTHER": "1",
        ])
        var expected = Server(port: 8080, hostName: "12", isSecure: true, users: ["a", "b"], limits: ["b": 2])
        (expected.nickname, expected.code) = ("null", "true")
        #expect(server == expected)
        #expect(try read(["SERVER_PORT": "8080"], prefix: "SERVER_") == Server(port: 8080))
        #expect(try read(["PORT": "8080"], prefix: "") == nil)
        #expect(try read(["SERVER_PORT": "8080"], prefix: "") == Server(port: 8080))
        #expect(try read(["APP_SERVER": #"{"port": 7, "hostName": "h"}"#]) == Server(port: 7, hostName: "h"))
        #expect(try read(["APP_SERVER": #"{"port": 7}"#, "APP_SERVER_PORT": "8"]) == Server(port: 8))
    }

    @Test("is left out and reported where a property can't use a text")
    func unusable() throws {
        let collector = EventCollector()
        let server = try collector.collect { try read(["APP_SERVER_PORT": "many", "APP_SERVER_HOST_NAME": "h"]) }
        #expect(server == Server(hostName: "h"))
        #expect(collector.events.map(\.kind) == [.sourceUnusable])
        let message = collector.events.first.map { "\($0)" } ?? ""
        #expect(
            message.contains("What environment has for \"Server\"") && message.contains("\"port\" is not of type Int")
        )
        #expect(message.contains("That was left out.") && !message.contains("stored value"))
    }
}
