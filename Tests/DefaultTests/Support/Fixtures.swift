import Foundation

/// Files written by other versions, which are never edited.
enum Fixtures {
    static func data(named name: String) -> Data? {
        try? Data(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fixtures/\(name)")
        )
    }
}
