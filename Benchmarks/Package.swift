// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Default", path: ".."),
        // Without its traits, which hook malloc and ARC: the times should be those of an ordinary program.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.0", traits: []),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .target(
            name: "BenchmarkSupport",
            dependencies: [
                "CLMDB",
                .product(name: "Default", package: "Default"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ]
        ),
        .executableTarget(
            name: "DefaultBenchmarks",
            dependencies: [
                "BenchmarkSupport",
                "BenchmarkPeer",
                .product(name: "Benchmark", package: "benchmark"),
                .product(name: "Default", package: "Default"),
            ],
            // The plugin looks for benchmarks in folders of this name only.
            path: "Sources/Benchmarks/DefaultBenchmarks",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
        ),
        .executableTarget(
            name: "BenchmarkPeer",
            dependencies: ["BenchmarkSupport", .product(name: "Default", package: "Default")]
        ),
        .executableTarget(name: "BenchmarkReport", dependencies: ["BenchmarkSupport"]),
        .target(name: "COperationCounts"),
        .executableTarget(
            name: "OperationCounts",
            dependencies: ["BenchmarkSupport", "COperationCounts", .product(name: "Default", package: "Default")]
        ),
        .executableTarget(
            name: "SuiteMeasure",
            dependencies: [.product(name: "Default", package: "Default")]
        ),
        .executableTarget(
            name: "WaitMeasure",
            dependencies: ["BenchmarkSupport", .product(name: "Default", package: "Default")]
        ),
        .executableTarget(
            name: "EvolutionMeasure",
            dependencies: [.product(name: "Default", package: "Default")]
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where !["CLMDB", "COperationCounts"].contains(target.name) {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        // Here and not on the command line, where the flag would conflict with the flags of the dependencies.
        .treatAllWarnings(as: .error),
    ]
}
