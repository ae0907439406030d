import Default
import Foundation
public import Hummingbird
import NIOCore
public import TenantSettings

/// A change of settings, as a request asks for it.
struct Change: Decodable {
    var greeting: String
}

extension TenantSettings: ResponseEncodable {}

let router = Router()

router.get("tenants/:tenant/greeting") { _, context in
    let tenant = try context.parameters.require("tenant")
    return "\(try TenantSettings.current(of: tenant).greeting) from \(tenant)!"
}

router.get("tenants/:tenant/settings") { _, context in
    try TenantSettings.current(of: try context.parameters.require("tenant"))
}

router.patch("tenants/:tenant/settings") { request, context in
    let tenant = try context.parameters.require("tenant")
    let wanted = try await request.decode(as: Change.self, context: context)
    return try TenantSettings.change(of: tenant) { $0.greeting = wanted.greeting }
}

let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
let application = Application(
    router: router,
    configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
    onServerRunning: { channel in
        // With port 0 the system chooses one, so the line says which. Without a reader of it the server still serves.
        let line = "Serving on http://127.0.0.1:\(channel.localAddress?.port ?? port)\n"
        try? FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
    }
)
try await application.runService()
