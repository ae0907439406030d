// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "ConfigurationProvider",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "ConfigurationProvider", targets: ["ConfigurationProvider"])
    ],
    dependencies: [
        .package(name: "Default", path: "../.."),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.0.0", traits: []),
    ],
    targets: [
        .target(
            name: "ConfigurationProvider",
            dependencies: [
                .product(name: "Default", package: "Default"),
                .product(name: "Configuration", package: "swift-configuration"),
            ]
        ),
        .executableTarget(
            name: "ShowConfiguration",
            dependencies: [
                "ConfigurationProvider",
                .product(name: "Default", package: "Default"),
                .product(name: "Configuration", package: "swift-configuration"),
            ]
        ),
        .testTarget(
            name: "ConfigurationProviderTests",
            dependencies: [
                "ConfigurationProvider",
                .product(name: "Default", package: "Default"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "ConfigurationTesting", package: "swift-configuration"),
            ]
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
