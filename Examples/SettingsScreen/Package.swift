// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "SettingsScreen",
    platforms: [.macOS(.v14), .iOS(.v17)],
    products: [
        .library(name: "SettingsScreen", targets: ["SettingsScreen"])
    ],
    dependencies: [
        .package(name: "Default", path: "../..")
    ],
    targets: [
        .target(
            name: "SettingsScreen",
            dependencies: [
                .product(name: "Default", package: "Default"),
                .product(name: "DefaultSwiftUI", package: "Default"),
            ]
        ),
        .executableTarget(name: "SettingsApp", dependencies: ["SettingsScreen"]),
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
