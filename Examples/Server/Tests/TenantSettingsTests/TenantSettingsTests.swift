import Default
import Foundation
import TenantSettings
import Testing

struct TenantSettingsTests {
    @Test(
        "Names that could reach another key, or fill the disk, are refused",
        arguments: [
            "", "Acme", "a/b", "a.b", "../a", "a b", "a\n", "\u{E9}", "a\0", String(repeating: "a", count: 65),
            "a\u{202E}b",
        ]
    )
    func badNames(name: String) {
        #expect(TenantName(name) == nil)
    }

    @Test("The number of tenants is bounded, and those that exist may still change")
    func bounds() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "server-example-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        let suite = try FileDefaults(url: url)
        let names = try (0...TenantSettings.maximumTenants).map { try #require(TenantName("tenant-\($0)")) }
        try suite.transaction {
            for name in names.dropLast() {
                try TenantSettings.change(of: name, in: suite) { $0.greeting = "Hi" }
            }
        }
        #expect(throws: TenantRefusal.tooManyTenants) {
            try TenantSettings.change(of: names[1_000], in: suite) { _ in }
        }
        #expect(try TenantSettings.change(of: names[0], in: suite) { $0.greeting = "Ho" }.revision == 2)
        let long = String(repeating: "a", count: TenantSettings.maximumGreeting + 1)
        #expect(throws: TenantRefusal.greetingTooLong) {
            try TenantSettings.change(of: names[0], in: suite) { $0.greeting = long }
        }
        #expect(try TenantSettings.current(of: names[0], in: suite).greeting == "Ho")
        #expect(suite.storedKeys().count == TenantSettings.maximumTenants)
    }
}
