// Reads from the index that the compiler writes in debug builds who uses whom, and fails on an arrow that goes up:
// `layers INDEX DIRECTORY`, where DIRECTORY has `Sources` in it. `.ci/layers` compiles and runs this file.
//
// A use is a reference to a declaration of the same module in another folder, as the compiler resolved it: to a type, a
// function, a member, or to a type that is extended. A member has the folder of the file that declares it. What the
// compiler adds by itself, such as accessors, does not count, and what is compiled on other systems only can't be seen.

import Foundation
import IndexStore

/// The layers of a module, from top to bottom.
///
/// Those in one row are side by side, and may not use each other.
let layers: [String: [[String]]] = [
    "Default": [
        ["Storable", "Keys", "Containers"], ["Access"], ["Evolution"], ["Caching"], ["Coding"], ["Stores"],
        ["Observation"],
        ["Diagnostics"],
        ["Values"],
    ],
    "DefaultJournal": [["Engine"], ["Replay"], ["Format"], ["Platform"]],
]

/// A declaration, or the use of one.
struct Mention {
    let usr: String
    let name: String
    let roles: indexstore_symbol_role_t
    let line: UInt32

    func has(_ role: Int) -> Bool { roles & indexstore_symbol_role_t(role) != 0 }
}

/// A source file of a module with layers, and what the index says of it.
struct SourceFile {
    let path: String
    let row: Int
    let folder: String
    let module: String
    var mentions: [Mention] = []

    /// Nil for a file that has no layer.
    init?(_ path: String) {
        let parts = path.split(separator: "/").map(String.init)
        guard parts.count > 3, let rows = layers[parts[1]], let row = rows.firstIndex(where: { $0.contains(parts[2]) })
        else { return nil }
        (self.path, self.row, folder, module) = (path, row, parts[2], parts[1])
    }

    /// Whether this file may use what another one declares.
    func mayUse(_ other: SourceFile) -> Bool {
        module != other.module || folder == other.folder || row < other.row
    }
}

// MARK: The index, as indexstore.h describes it

extension String {
    init(_ text: indexstore_string_ref_t) {
        self.init(decoding: UnsafeRawBufferPointer(start: text.data, count: text.length), as: UTF8.self)
    }
}

/// The names of the index's units: one for each file that was compiled.
func unitNames(_ index: indexstore_t) -> [String] {
    var names: [String] = []
    _ = withUnsafeMutablePointer(to: &names) { names in
        indexstore_store_units_apply_f(index, 1, names) { names, name in
            names?.assumingMemoryBound(to: [String].self).pointee.append(String(name))
            return true
        }
    }
    return names
}

/// The records of a unit: the paths of their files by their names.
func records(_ unit: indexstore_unit_reader_t) -> [String: String] {
    var paths: [String: String] = [:]
    _ = withUnsafeMutablePointer(to: &paths) { paths in
        indexstore_unit_reader_dependencies_apply_f(unit, paths) { paths, dependency in
            if indexstore_unit_dependency_get_kind(dependency) == INDEXSTORE_UNIT_DEPENDENCY_RECORD {
                let name = String(indexstore_unit_dependency_get_name(dependency))
                let path = String(indexstore_unit_dependency_get_filepath(dependency))
                paths?.assumingMemoryBound(to: [String: String].self).pointee[name] = path
            }
            return true
        }
    }
    return paths
}

extension SourceFile {
    mutating func read(_ record: indexstore_record_reader_t) {
        _ = withUnsafeMutablePointer(to: &mentions) { mentions in
            indexstore_record_reader_occurrences_apply_f(record, mentions) { mentions, occurrence in
                let symbol = indexstore_occurrence_get_symbol(occurrence)
                var (line, column): (UInt32, UInt32) = (0, 0)
                indexstore_occurrence_get_line_col(occurrence, &line, &column)
                let mention = Mention(
                    usr: String(indexstore_symbol_get_usr(symbol)),
                    name: String(indexstore_symbol_get_name(symbol)),
                    roles: indexstore_occurrence_get_roles(occurrence),
                    line: line
                )
                mentions?.assumingMemoryBound(to: [Mention].self).pointee.append(mention)
                return true
            }
        }
    }
}

func fail(_ message: String) -> Never {
    print(message)
    exit(1)
}

let root = URL(fileURLWithPath: CommandLine.arguments[2]).resolvingSymlinksInPath().path + "/"
guard let index = indexstore_store_create(CommandLine.arguments[1], nil) else { fail("There is no index.") }
var files: [String: SourceFile] = [:]
for name in unitNames(index) {
    guard let unit = indexstore_unit_reader_create(index, name, nil) else { continue }
    defer { indexstore_unit_reader_dispose(unit) }
    for (record, place) in records(unit) where place.hasPrefix(root + "Sources/") {
        let path = String(place.dropFirst(root.count))
        // The unit of a file that was removed is still there.
        guard files[path] == nil, FileManager.default.fileExists(atPath: place), var file = SourceFile(path),
            let reader = indexstore_record_reader_create(index, record, nil)
        else { continue }
        file.read(reader)
        indexstore_record_reader_dispose(reader)
        files[path] = file
    }
}

// MARK: The rules

var problems: [String] = []
for path in FileManager.default.enumerator(atPath: root + "Sources")?.compactMap({ $0 as? String }) ?? []
where path.hasSuffix(".swift") {
    let (path, module) = ("Sources/" + path, String(path.prefix { $0 != "/" }))
    if layers[module] != nil, SourceFile(path) == nil {
        problems.append("\(path): The file's folder is not among the layers.")
    }
    if SourceFile(path) != nil, files[path] == nil { problems.append("\(path): The file is not in the index.") }
}
var places: [String: SourceFile] = [:]
for file in files.values {
    for mention in file.mentions where mention.has(INDEXSTORE_SYMBOL_ROLE_DEFINITION) { places[mention.usr] = file }
}
for file in files.values {
    for mention in file.mentions where mention.has(INDEXSTORE_SYMBOL_ROLE_REFERENCE) {
        guard !mention.has(INDEXSTORE_SYMBOL_ROLE_IMPLICIT), let used = places[mention.usr], !file.mayUse(used)
        else { continue }
        problems.append("\(file.path):\(mention.line): \(file.folder) may not use \(mention.name) of \(used.folder).")
    }
}

// MARK: State of the whole process

/// A line of the sources, and the type in whose body it is directly; nil at the top level and inside of functions.
struct SourceLine {
    let place: String
    let text: String
    let type: String?
    let isTopLevel: Bool
}

func sourceLines(_ path: String) -> [SourceLine] {
    var types: [(name: String, indentation: Int)] = []
    let text = (try? String(contentsOfFile: root + path, encoding: .utf8)) ?? ""
    return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map { number, line in
        let indentation = line.prefix { $0 == " " }.count
        if !line.isEmpty { types.removeAll { $0.indentation >= indentation } }
        let type = types.last.flatMap { $0.indentation + 4 == indentation ? $0.name : nil }
        if let declared = line.firstMatch(of: /^ *[a-z@() ]*\b(class|struct|enum|actor|extension) (\w+)/) {
            types.append((String(declared.2), indentation))
        }
        return SourceLine(
            place: "\(path):\(number + 1)",
            text: String(line),
            type: type,
            isTopLevel: indentation == 0
        )
    }
}

/// The types that have a lock: those of the platform, then those of this package that have one of these as a property.
var locking: Set<Substring> = [
    "ThreadLock", "ThreadCondition", "Locked", "Mutex", "NSLock", "NSRecursiveLock", "NSCondition", "DispatchQueue",
    "ObservationRegistrar", "JSONEncoder", "JSONDecoder", "PropertyListEncoder", "PropertyListDecoder",
]

extension SourceLine {
    /// The types that a declaration of a stored variable names; none in other lines, and none that each process makes
    /// for itself.
    var storedTypes: (isStatic: Bool, names: [Substring]) {
        let modifiers = /^ *((private|fileprivate|internal|package|public|final|lazy|@usableFromInline|nonisolated) )*/
        guard let start = text.firstMatch(of: modifiers),
            let declaration = text[start.range.upperBound...].firstMatch(of: /^(static )?(let|var) \w+(.*)$/),
            !text.contains("PerProcess"), !text.contains("@TaskLocal"),
            !declaration.3.contains("{") || declaration.3.contains("=")
        else { return (false, []) }
        let names = declaration.3.matches(of: /\b([A-Z]\w*)\b(?!\?)/).map(\.1)
        return (declaration.1 != nil || isTopLevel, names)
    }
}

let paths = FileManager.default.enumerator(atPath: root + "Sources")?.compactMap { $0 as? String } ?? []
let lines = paths.filter { $0.hasSuffix(".swift") }.flatMap { sourceLines("Sources/" + $0) }
let declarations = lines.map { (line: $0, stored: $0.storedTypes) }.filter { !$0.stored.names.isEmpty }
var count = 0
while count != locking.count {
    count = locking.count
    for (line, stored) in declarations where !stored.isStatic && stored.names.contains(where: locking.contains) {
        if let type = line.type { locking.insert(Substring(type)) }
    }
}
for (line, stored) in declarations where stored.isStatic && stored.names.contains(where: locking.contains) {
    if line.isTopLevel || line.type != nil {
        problems.append("\(line.place): What a process has once, and has a lock, has to be in a PerProcess.")
    }
}
if !problems.isEmpty { fail(Set(problems).sorted().joined(separator: "\n")) }
print("\(files.count) files keep the layers.")
