// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Default", path: "..")
    ],
    targets: [
        .executableTarget(
            name: "SuiteMeasure",
            dependencies: [.product(name: "Default", package: "Default")]
        ),
        .executableTarget(
            name: "EvolutionMeasure",
            dependencies: [.product(name: "Default", package: "Default")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
