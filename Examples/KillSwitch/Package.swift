// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "KillSwitch",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Default", path: "../.."),
        .package(name: "Fleet", path: "../../Packages/Fleet"),
        .package(name: "settings", path: "../../Packages/Settings"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.6.0"),
    ],
    targets: [
        .target(
            name: "ShopFlags",
            dependencies: [
                .product(name: "Default", package: "Default"),
                .product(name: "DefaultFleet", package: "Fleet"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .executableTarget(
            name: "ShopServer",
            dependencies: [
                "ShopFlags",
                .product(name: "Default", package: "Default"),
                .product(name: "DefaultFleet", package: "Fleet"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ]
        ),
        .executableTarget(
            name: "killswitch",
            dependencies: [
                "ShopFlags",
                .product(name: "Default", package: "Default"),
                .product(name: "DefaultFleet", package: "Fleet"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SettingsPage", package: "settings"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
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
