// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "EncryptingCoder",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "EncryptingCoder", targets: ["EncryptingCoder"])
    ],
    dependencies: [
        .package(name: "Default", path: "../.."),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
    ],
    targets: [
        .target(
            name: "EncryptingCoder",
            dependencies: [
                .product(name: "Default", package: "Default"),
                .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
        .executableTarget(
            name: "KeepSecret",
            dependencies: ["EncryptingCoder", .product(name: "Default", package: "Default")]
        ),
        .testTarget(
            name: "EncryptingCoderTests",
            dependencies: [
                "EncryptingCoder",
                .product(name: "Default", package: "Default"),
                .product(name: "Crypto", package: "swift-crypto"),
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
