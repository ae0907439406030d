// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "settings",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Default", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.6.0"),
    ],
    targets: [
        .executableTarget(
            name: "settings",
            dependencies: [
                .product(name: "Default", package: "Default"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .testTarget(
            name: "SettingsToolTests",
            dependencies: ["settings", .product(name: "Default", package: "Default")]
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
