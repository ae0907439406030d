// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "StaticTool",
    platforms: [.macOS(.v12)],
    traits: [.trait(name: "Foundation", description: "Uses the library with Foundation, to compare the sizes.")],
    dependencies: [
        // A program that never needs Foundation writes `traits: []`.
        .package(
            name: "Default",
            path: "../..",
            traits: [.trait(name: "Foundation", condition: .when(traits: ["Foundation"]))]
        )
    ],
    targets: [
        .executableTarget(
            name: "visits",
            dependencies: [.product(name: "Default", package: "Default")],
            path: "Sources"
        )
    ],
    swiftLanguageModes: [.v6]
)
