// swift-tools-version: 6.2

import PackageDescription

// Apple's privacy manifest. Elsewhere it would only add a bundle to programs, and code that has the path of the build in it.
#if canImport(Darwin)
let resources: [Resource] = [.copy("PrivacyInfo.xcprivacy")]
let excluded: [String] = []
#else
let resources: [Resource] = []
let excluded = ["PrivacyInfo.xcprivacy"]
#endif

let package = Package(
    name: "Default",
    platforms: [.macOS(.v12), .iOS(.v15), .tvOS(.v15), .watchOS(.v8), .visionOS(.v1)],
    products: [
        .library(name: "Default", targets: ["Default"]),
        .library(name: "DefaultOperators", targets: ["DefaultOperators"]),
        .library(name: "DefaultSwiftUI", targets: ["DefaultSwiftUI"]),
        .library(name: "DefaultConformance", targets: ["DefaultConformance"]),
        .library(name: "DefaultTesting", targets: ["DefaultTesting"]),
    ],
    traits: [
        .trait(
            name: "Foundation",
            description: "Stores in UserDefaults, archived objects and NSNumber. Always on, on Apple platforms."
        ),
        .default(enabledTraits: ["Foundation"]),
    ],
    targets: [
        .target(name: "CDefaultSystem"),
        .target(name: "DefaultJournal", dependencies: ["CDefaultSystem"]),
        .target(
            name: "Default",
            dependencies: ["DefaultJournal"],
            exclude: excluded,
            resources: resources
        ),
        .target(name: "DefaultOperators", dependencies: ["Default"]),
        .target(name: "DefaultSwiftUI", dependencies: ["Default"]),
        .target(name: "DefaultConformance", dependencies: ["Default"]),
        .target(name: "DefaultTesting", dependencies: ["Default"]),
        .executableTarget(
            name: "QuickStart",
            dependencies: ["Default"],
            path: "Examples/QuickStart"
        ),
        .executableTarget(
            name: "DefaultTestHelper",
            dependencies: ["Default", "DefaultJournal", "JournalProbe"],
            path: "Tests/DefaultTestHelper"
        ),
        .executableTarget(
            name: "JournalTestHelper",
            dependencies: ["DefaultJournal", "JournalProbe"],
            path: "Tests/JournalTestHelper"
        ),
        .target(name: "JournalProbe", dependencies: ["DefaultJournal"], path: "Tests/JournalProbe"),
        .testTarget(
            name: "DefaultJournalTests",
            dependencies: ["DefaultJournal", "JournalProbe", "JournalTestHelper"],
            exclude: ["Fixtures"]
        ),
        .testTarget(
            name: "DefaultTests",
            dependencies: [
                "Default", "DefaultJournal", "JournalProbe", "DefaultOperators", "DefaultConformance", "DefaultTesting",
                "DefaultTestHelper",
            ],
            exclude: ["Fixtures"]
        ),
        // The settings for concurrency that programs with the library have; most sources are links to those in Shared.
        .testTarget(
            name: "Swift6Tests",
            dependencies: ["Default"],
            path: "Tests/ConcurrencySettings/Swift6",
            swiftSettings: []
        ),
        .testTarget(
            name: "Swift5Tests",
            dependencies: ["Default"],
            path: "Tests/ConcurrencySettings/Swift5",
            swiftSettings: [.swiftLanguageMode(.v5), .enableUpcomingFeature("StrictConcurrency")]
        ),
        .testTarget(
            name: "MainActorTests",
            dependencies: ["Default"],
            path: "Tests/ConcurrencySettings/MainActor",
            swiftSettings: [.defaultIsolation(MainActor.self)]
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.name != "CDefaultSystem" && target.swiftSettings == nil {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .treatWarning("ExplicitSendable", as: .error),
        // With the trait, the package manager defines it.
        .define("Foundation", .when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS, .macCatalyst])),
    ]
}
