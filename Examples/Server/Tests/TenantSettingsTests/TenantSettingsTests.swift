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
        let tenants = Tenants(try FileDefaults(url: url))
        let limits = Limits(tenants: 3, greeting: 5)
        let names = try (0...3).map { try #require(TenantName("tenant-\($0)")) }
        for name in names.dropLast() {
            try tenants.change(name, within: limits) { $0.greeting = "Hi" }
        }
        #expect(throws: TenantRefusal.tooManyTenants(limit: 3)) {
            try tenants.change(names[3], within: limits) { _ in }
        }
        #expect(try tenants.change(names[0], within: limits) { $0.greeting = "Ho" }.revision == 2)
        #expect(throws: TenantRefusal.greetingTooLong(limit: 5)) {
            try tenants.change(names[0], within: limits) { $0.greeting = "Good day" }
        }
        #expect(try tenants.settings(of: names[0]).greeting == "Ho")
        #expect(tenants.suite.storedKeys().count == 3)
    }
}
