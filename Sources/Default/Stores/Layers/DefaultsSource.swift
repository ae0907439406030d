#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
internal import DefaultJournal

/// Values that are read beside what a store holds, and never written: an administrator's, a vendor's, the
/// environment's.
///
/// ```swift
/// let suite = try FileDefaults(
///     suiteName: "com.example.player",
///     mandatory: [.file(URL(fileURLWithPath: "/etc/player/mandatory.json"))],
///     overrides: [.environment(prefix: "PLAYER_")],
///     fallbacks: [.values(["volume": 0.5], name: "vendor")]
/// )
/// ```
///
/// The first that has a key wins: the mandatory sources, launch arguments, overrides, what is stored, fallbacks,
/// registered defaults; among the sources of a kind the first. For keys a value counts as a whole, for settings types
/// property by property.
///
/// Your own source implements ``name`` and ``values()``, and ``observeChanges(_:)`` if its values change:
///
/// ```swift
/// struct Policy: DefaultsSource {
///     let name = "policy server"
///     func values() -> [String: PropertyListValue] { ["volume": 0.5] }
/// }
/// ```
public protocol DefaultsSource: Sendable {
    /// The name of the source for people, in origins, errors and events.
    var name: String { get }

    /// The source's file; nil, the default, if it is none.
    var url: URL? { get }

    /// All values by their keys. A settings type's are a dictionary under its identifier.
    ///
    /// Called when a store is first used with the source, and again after each change; a store keeps the result. It
    /// must not use that store.
    ///
    /// - Returns: The values; one under a key that no store can have, such as an empty one, is left out.
    /// - Throws: Any error if the values can't be read now. What was read last is kept then, and the error reported.
    ///   A mandatory source that throws has no values, and makes the whole store mandatory: each write throws.
    func values() throws -> [String: PropertyListValue]

    /// Calls a handler when the values may have changed, until the observation ends.
    ///
    /// - Parameter handler: May be called on any thread, with no lock held that ``values()`` needs.
    /// - Returns: The observation; nil, the default, if the values never change.
    func observeChanges(_ handler: @escaping @Sendable () -> Void) -> StoreObservation?
}

extension DefaultsSource {
    /// No file.
    public var url: URL? { nil }

    /// Nothing: the values never change.
    public func observeChanges(_ handler: @escaping @Sendable () -> Void) -> StoreObservation? { nil }
}

// MARK: Values

/// Values that a program has itself; see ``DefaultsSource/values(_:name:)``.
public struct ValuesSource: DefaultsSource {
    /// The name for people.
    public let name: String
    private let constants: [String: PropertyListValue]

    fileprivate init(_ values: [String: PropertyListValue], name: String) { (constants, self.name) = (values, name) }

    /// The values.
    public func values() -> [String: PropertyListValue] { constants }
}

extension DefaultsSource where Self == ValuesSource {
    /// Values that the program has itself.
    ///
    /// ```swift
    /// let store = MemoryDefaults(fallbacks: [
    ///     .values(["volume": 0.5, "Player": ["theme": "dark"]], name: "vendor")
    /// ])
    /// ```
    ///
    /// - Parameters:
    ///   - values: The values by their keys.
    ///   - name: A name for people.
    /// - Returns: The source.
    public static func values(_ values: [String: PropertyListValue], name: String) -> ValuesSource {
        ValuesSource(values, name: name)
    }
}

// MARK: Files

/// A file of values, or a suite's folder; see ``DefaultsSource/file(_:)``.
public struct FileSource: DefaultsSource {
    /// The file.
    public let url: URL?
    let path: String

    fileprivate init(_ url: URL) {
        let url = url.isFileURL ? url.absoluteURL : url
        (self.url, path) = (url, url.isFileURL ? url.path : "")
    }

    init(path: String) { (url, self.path) = (URL(fileURLWithPath: path, isDirectory: false), path) }

    /// The folder in which the file is created, replaced and removed; of a suite, the suite's.
    var folder: String? {
        guard path.hasPrefix("/") else { return nil }
        if TrustedFile.look(at: path) == .directory { return path }
        let parts = path.split(separator: "/").dropLast()
        return "/" + parts.joined(separator: "/")
    }

    /// The file's path.
    public var name: String { path.isEmpty ? url?.absoluteString ?? "" : path }

    /// The values that the file has now; none if it doesn't exist.
    ///
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/sourceUnusable``; for the folder of a suite also
    ///   the errors of ``FileDefaults/init(readingFrom:sourcesOf:)``.
    public func values() throws -> [String: PropertyListValue] {
        let file = SourceFile(path)
        guard TrustedFile.look(at: path) == .directory else { return try file.values() ?? [:] }
        let suite = try file.openSuite()
        return Dictionary(suite.ownValues().map { ($0.key.string, $0.value) }) { first, _ in first }
    }
}

extension DefaultsSource where Self == FileSource {
    /// The values of a file, which people edit and the library never writes.
    ///
    /// It is an object of keys in JSON (UTF-8), a property list in XML or binary form, or the folder of a
    /// ``FileDefaults``. Null in JSON says nothing. A file that doesn't exist has no values. A store finds its changes
    /// within a second.
    ///
    /// The file must be a regular file of at most 16 MiB that belongs to root or to this user, and that nobody else may
    /// write. Any other isn't read: of a fallback or an override the last good values are kept, and the reason is
    /// reported to ``DefaultsDiagnostics``; a mandatory one makes the whole store mandatory.
    ///
    /// - Parameter url: The file URL. A relative one refers to the working directory at this call.
    /// - Returns: The source.
    public static func file(_ url: URL) -> FileSource { FileSource(url) }
}

// MARK: The environment

/// The environment variables with a prefix; see ``DefaultsSource/environment(prefix:)``.
public struct EnvironmentSource: DefaultsSource {
    /// What the names of the variables begin with.
    public let prefix: String
    let variables: EnvironmentVariables

    init(prefix: String, in environment: [String: String]) {
        self.prefix = prefix
        variables = EnvironmentVariables(prefix: prefix, in: environment)
    }

    /// "the environment", with the prefix.
    public var name: String { "the environment (\(prefix)…)" }

    /// The values by the rest of the variables' names.
    public func values() -> [String: PropertyListValue] { variables.values }
}

extension DefaultsSource where Self == EnvironmentSource {
    /// The environment variables whose names begin with a prefix.
    ///
    /// The rest of a name stands for the key that is written like it in capitals, with an underscore before each
    /// capital that begins a word, and in place of each character that is neither a letter nor a digit:
    ///
    /// | key or property | variable, with the prefix `PLAYER_` |
    /// | --- | --- |
    /// | `volume` | `PLAYER_VOLUME` |
    /// | `launchCount`, `launch-count`, `launch_count` | `PLAYER_LAUNCH_COUNT` |
    /// | `avatarURL` | `PLAYER_AVATAR_URL` |
    /// | `editor.fontSize` | `PLAYER_EDITOR_FONT_SIZE` |
    /// | the property `port` of the settings type `Server` | `PLAYER_SERVER_PORT` |
    /// | the property `port` of the settings type `Player` | `PLAYER_PORT`, since the prefix is the type's name |
    ///
    /// The text is read as that of a launch argument is: a property list in its textual form is an array or a
    /// dictionary, everything else a string, which typed keys and typed getters convert. Where a settings type wants a
    /// number, a Boolean, an array or an object, the text is read as JSON, and `yes`, `no`, `on` and `off` as Booleans.
    /// All of a settings type may be one variable with a JSON object.
    ///
    /// The environment is read once, at this call. An empty variable is an empty string.
    ///
    /// - Parameter prefix: The beginning of the names, such as "PLAYER_".
    /// - Returns: The source.
    public static func environment(prefix: String) -> EnvironmentSource {
        EnvironmentSource(prefix: prefix, in: ProcessInfo.processInfo.environment)
    }
}

/// Environment variables by the rest of their names.
struct EnvironmentVariables: Sendable {
    let prefix: String
    let values: [String: PropertyListValue]

    init(prefix: String, in environment: [String: String]) {
        self.prefix = prefix
        var values: [String: PropertyListValue] = [:]
        for (name, text) in environment where name.hasPrefix(prefix) && name.utf8.count > prefix.utf8.count {
            values[String(name.dropFirst(prefix.count))] = LaunchArguments.parse(text)
        }
        self.values = values
    }

    /// The value of a key.
    func value(forKey key: String) -> PropertyListValue? {
        guard !values.isEmpty, (try? StoreKey(key)) != nil else { return nil }
        return values[Self.name(of: key)]
    }

    /// The value of a settings type's property.
    func value(ofProperty property: String, of identifier: String) -> PropertyListValue? {
        if let value = values[Self.name(of: identifier) + "_" + Self.name(of: property)] { return value }
        return isPrefix(of: identifier) ? values[Self.name(of: property)] : nil
    }

    /// Whether a variable may be about a settings type, or a property of it.
    func mayMention(_ identifier: String) -> Bool {
        if values.isEmpty { return false }
        let name = Self.name(of: identifier)
        return isPrefix(of: identifier) || values.keys.contains { $0 == name || $0.hasPrefix(name + "_") }
    }

    private func isPrefix(of identifier: String) -> Bool { prefix == Self.name(of: identifier) + "_" }

    /// The name of the variable for a key; see ``DefaultsSource/environment(prefix:)``.
    static func name(of key: String) -> String {
        var name: [UInt8] = []
        let utf8 = Array(key.utf8)
        for (index, byte) in utf8.enumerated() {
            let isCapital = byte.isCapital
            let follows = index > 0 && (utf8[index - 1].isSmall || utf8[index - 1].isDigit)
            // The last of several capitals begins a word if a small letter follows: "URLPath" is "URL_PATH".
            let begins = index > 0 && utf8[index - 1].isCapital && index + 1 < utf8.count && utf8[index + 1].isSmall
            if isCapital, follows || begins { name.append(UInt8(ascii: "_")) }
            if byte.isSmall {
                name.append(byte - 0x20)
            } else {
                name.append(isCapital || byte.isDigit || byte >= 0x80 ? byte : UInt8(ascii: "_"))
            }
        }
        return String(decoding: name, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isCapital: Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }
    fileprivate var isSmall: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
}
