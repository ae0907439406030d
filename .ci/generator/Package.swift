// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "generator",
    platforms: [.macOS(.v13)],
    dependencies: [.package(url: "https://github.com/swiftlang/swift-syntax", from: "602.0.0")],
    targets: [
        .executableTarget(
            name: "generate",
            dependencies: [
                .product(name: "SwiftOperators", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
            ]
        )
    ]
)
