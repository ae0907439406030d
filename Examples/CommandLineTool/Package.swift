// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "CommandLineTool",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Default", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "notes-v1",
            dependencies: [.product(name: "Default", package: "Default")],
            path: "Sources/Version1"
        ),
        .executableTarget(
            name: "notes-v2",
            dependencies: [.product(name: "Default", package: "Default")],
            path: "Sources/Version2"
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
