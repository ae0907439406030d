// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Server",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Default", path: "../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.0", traits: []),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.65.0"),
    ],
    targets: [
        .target(
            name: "TenantSettings",
            dependencies: [.product(name: "Default", package: "Default")]
        ),
        .executableTarget(
            name: "Server",
            dependencies: [
                "TenantSettings",
                .product(name: "Default", package: "Default"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
            ]
        ),
        .executableTarget(
            name: "LoadGenerator",
            dependencies: ["TenantSettings", .product(name: "Default", package: "Default")]
        ),
        .testTarget(
            name: "TenantSettingsTests",
            dependencies: ["TenantSettings", .product(name: "Default", package: "Default")]
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}
