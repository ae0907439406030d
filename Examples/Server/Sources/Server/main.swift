import Default
import Foundation
public import Hummingbird
import NIOCore
public import TenantSettings

/// A change of settings in the body of a request.
struct Change: Decodable {
    var greeting: String
}

extension TenantSettings: ResponseEncodable {}

/// The tenant that a request names.
func tenantName(in context: some RequestContext) throws -> TenantName {
    guard let tenant = TenantName(try context.parameters.require("tenant")) else {
        throw HTTPError(
            .badRequest,
            message: "The name of a tenant has 1 to 64 lower-case letters, digits and hyphens."
        )
    }
    return tenant
}

let router = Router()

router.get("tenants/:tenant/greeting") { _, context in
    let tenant = try tenantName(in: context)
    return "\(try TenantSettings.current(of: tenant).greeting) from \(tenant)!"
}

router.get("tenants/:tenant/settings") { _, context in
    try TenantSettings.current(of: tenantName(in: context))
}

router.patch("tenants/:tenant/settings") { request, context in
    let tenant = try tenantName(in: context)
    let wanted = try await request.decode(as: Change.self, context: context)
    do {
        return try TenantSettings.change(of: tenant) { $0.greeting = wanted.greeting }
    } catch let refusal as TenantRefusal {
        throw HTTPError(.unprocessableContent, message: refusal.description)
    }
}

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count <= 1, let port = UInt16(arguments.first ?? "8080").map(Int.init) else {
    try FileHandle.standardError.write(contentsOf: Data("Usage: Server [PORT], where PORT is 0 to 65535\n".utf8))
    exit(64)
}
let application = Application(
    router: router,
    configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
    onServerRunning: { channel in
        // With port 0 the system chooses one, so the line says which. If nobody reads the line, the server still
        // serves.
        let line = "Serving on http://127.0.0.1:\(channel.localAddress?.port ?? port)\n"
        try? FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
    }
)
try await application.runService()
