public import Hummingbird
public import TenantSettings

/// A change of settings in the body of a request.
private struct Change: Decodable {
    var greeting: String
}

extension TenantSettings: ResponseEncodable {}

/// The tenant that a request names.
private func tenantName(in context: some RequestContext) throws -> TenantName {
    guard let tenant = TenantName(try context.parameters.require("tenant")) else {
        throw HTTPError(
            .badRequest,
            message: "The name of a tenant has 1 to 64 lower-case letters, digits and hyphens."
        )
    }
    return tenant
}

/// What the server answers.
func routes(for tenants: Tenants, within limits: CurrentLimits) -> Router<BasicRequestContext> {
    let router = Router()
    router.get("tenants/:tenant/greeting") { _, context in
        let tenant = try tenantName(in: context)
        return "\(try tenants.settings(of: tenant).greeting) from \(tenant)!"
    }
    router.get("tenants/:tenant/settings") { _, context in
        try tenants.settings(of: tenantName(in: context))
    }
    router.patch("tenants/:tenant/settings") { request, context in
        let tenant = try tenantName(in: context)
        let wanted = try await request.decode(as: Change.self, context: context)
        do {
            return try tenants.change(tenant, within: limits.value) { $0.greeting = wanted.greeting }
        } catch let refusal as TenantRefusal {
            throw HTTPError(.unprocessableContent, message: refusal.description)
        }
    }
    return router
}
