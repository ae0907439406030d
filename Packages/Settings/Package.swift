// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "settings",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "settings", targets: ["settings"]),
        .library(name: "SettingsPage", targets: ["SettingsPage"]),
    ],
    dependencies: [
        .package(name: "Default", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.6.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [
        .target(
            name: "SettingsValues",
            dependencies: [.product(name: "Default", package: "Default")]
        ),
        .target(
            name: "SettingsPage",
            dependencies: [
                "SettingsValues",
                .product(name: "Default", package: "Default"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            resources: [.embedInCode("Assets")]
        ),
        .executableTarget(
            name: "settings",
            dependencies: [
                "SettingsPage",
                "SettingsValues",
                .product(name: "Default", package: "Default"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ]
        ),
        .testTarget(
            name: "SettingsToolTests",
            dependencies: [
                "settings",
                "SettingsValues",
                .product(name: "Default", package: "Default"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .testTarget(
            name: "SettingsPageTests",
            dependencies: [
                "SettingsPage",
                "SettingsValues",
                .product(name: "Default", package: "Default"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
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
