// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Fleet",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "DefaultFleet", targets: ["DefaultFleet"]),
        .executable(name: "fleet-agent", targets: ["fleet-agent"]),
    ],
    dependencies: [
        .package(name: "Default", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.29.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.24.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [
        .target(
            name: "DefaultFleet",
            dependencies: [
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Default", package: "Default"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        .executableTarget(
            name: "fleet-agent",
            dependencies: [
                "DefaultFleet",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Default", package: "Default"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ]
        ),
        .target(
            name: "FleetRecipes",
            dependencies: [.product(name: "Default", package: "Default")],
            path: "Recipes"
        ),
        .executableTarget(
            name: "FleetTestHelper",
            dependencies: ["DefaultFleet", .product(name: "Default", package: "Default")],
            path: "Tests/FleetTestHelper"
        ),
        .executableTarget(
            name: "FleetTrialProbe",
            dependencies: [
                "DefaultFleet",
                .product(name: "Default", package: "Default"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/Trial/Probe"
        ),
        .executableTarget(
            name: "FleetFigures",
            dependencies: [
                "DefaultFleet",
                .product(name: "Default", package: "Default"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Benchmarks/FleetFigures"
        ),
        .testTarget(
            name: "DefaultFleetTests",
            dependencies: [
                "DefaultFleet",
                "FleetRecipes",
                "FleetTestHelper",
                "fleet-agent",
                .product(name: "Default", package: "Default"),
                .product(name: "DefaultConformance", package: "Default"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
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
        // Here and not on the command line, where the flag would not get on with those of the dependencies.
        .treatAllWarnings(as: .error),
    ]
}
