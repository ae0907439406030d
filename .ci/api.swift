// Prints the public declarations in the symbol graphs that are its arguments, sorted, one to a line.

import Foundation

struct Graph: Decodable {
    struct Module: Decodable {
        let name: String
    }

    struct Symbol: Decodable {
        struct Fragment: Decodable {
            let spelling: String
        }

        let pathComponents: [String]
        let declarationFragments: [Fragment]?

        var declaration: String {
            let text = (declarationFragments ?? []).map(\.spelling).joined()
            return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }
    }

    let module: Module
    let symbols: [Symbol]
}

var lines: Set<String> = []
for path in CommandLine.arguments.dropFirst() {
    let graph = try JSONDecoder().decode(Graph.self, from: Data(contentsOf: URL(filePath: path)))
    for symbol in graph.symbols {
        lines.insert("\(graph.module.name).\(symbol.pathComponents.joined(separator: ".")): \(symbol.declaration)")
    }
}
print(lines.sorted().joined(separator: "\n"))
