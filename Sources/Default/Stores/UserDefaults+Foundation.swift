#if Foundation
public import Foundation
#if canImport(ObjectiveC)
internal import ObjectiveC
#endif

/// Makes `UserDefaults` a store.
///
/// When it is used as a ``DefaultsStore`` (by ``DefaultStorable``, by ``DefaultsStore/df``, in generic code), a
/// `UserDefaults` checks keys and values, and throws where Foundation would trap. Foundation's own methods are
/// unchanged.
///
/// On Linux, each write and removal through this library also calls `synchronize`, because Foundation
/// never saves by itself there. When that fails, the previous value is restored and
/// ``DefaultsError/Code/synchronizationFailed`` is thrown. Some faults of Foundation on these systems remain: a process
/// that is killed while Foundation writes the file leaves an empty suite, two processes that write to one suite lose
/// each other's values, and a damaged file is treated as empty. Dates are read back in whole seconds, and -0.0 as 0.0.
/// ``FileDefaults`` has none of these faults.
///
/// On Linux, this needs the package's trait `Foundation`, which is on by default.
extension UserDefaults: FoundationStore, DomainStore, DefaultsStore {}

/// Hides the implementation from programs that import the library.
///
/// Members in an extension of `UserDefaults` itself would conflict with those that a program declares in its own
/// extensions and subclasses.
protocol FoundationStore: UserDefaults {}

extension FoundationStore {
    /// The value for a key, from any domain.
    public func storedValue(forKey key: String) -> PropertyListValue? {
        object(forKey: FoundationKey.name(forKey: key)).flatMap { try? PropertyListValue(object: $0) }
    }

    /// The value that was stored for a key, also where a launch argument hides it.
    ///
    /// Foundation doesn't list the values of every suite: on Apple platforms not those of one that this library didn't
    /// open, and of the standard one of a tool without a bundle not before something is stored, or never. Such a suite
    /// has none below a launch argument, and takes a registered default for its own (on Apple platforms, one that is
    /// the same).
    public func ownValue(forKey key: String) -> PropertyListValue? {
        guard let visible = storedValue(forKey: key) else { return nil }
        #if canImport(Darwin)
        // The domain is asked only where that matters, since it takes longer, and a group's may not be listed.
        let registered = registeredValue(forKey: key)
        if !isHidden(key), registered == nil { return visible }
        #else
        let registered: PropertyListValue? = nil
        #endif
        if let domain = ownDomain {
            return domain[FoundationKey.name(forKey: key)].flatMap { try? PropertyListValue(object: $0) }
        }
        return isHidden(key) || registered.isSame(as: visible) ? nil : visible
    }

    /// The value that was registered for a key, through any object for any suite.
    ///
    /// On Linux, where Foundation doesn't list these, it is what is read while nothing is stored.
    public func registeredValue(forKey key: String) -> PropertyListValue? {
        #if canImport(Darwin)
        let object = volatileDomain(forName: UserDefaults.registrationDomain)[FoundationKey.name(forKey: key)]
        return object.flatMap { try? PropertyListValue(object: $0) }
        #else
        return isHidden(key) || ownValue(forKey: key) != nil ? nil : storedValue(forKey: key)
        #endif
    }

    /// Stores a value under a key or removes the stored value, and synchronizes on Linux.
    ///
    /// - Parameters:
    ///   - value: The value; nil removes.
    ///   - key: The key.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey``,
    ///   ``DefaultsError/Code/unsupportedValue``, on Apple platforms ``DefaultsError/Code/valueTooLarge`` and on others
    ///   ``DefaultsError/Code/synchronizationFailed``. Nothing has changed then.
    public func setStoredValue(_ value: PropertyListValue?, forKey key: String) throws(DefaultsError) {
        _ = try StoreKey(key)
        try value?.checkDepth(forKey: key, in: self)
        if let value {
            try FoundationLimits.ofSystem?.check(value, forKey: key, in: self)
        }
        try ExclusiveAccess.ofProcess { () throws(DefaultsError) in
            let previous = ownValue(forKey: key)
            replace(previous, with: value, forKey: key)
            #if !canImport(Darwin)
            if !synchronize() {
                replace(value, with: previous, forKey: key)
                throw DefaultsError.synchronizationFailed(ErrorContext(key, in: self))
            }
            #endif
            if let hub = SharedHubs.hub(named: ownChangeChannel), !previous.isSame(as: value) {
                #if canImport(Darwin)
                FoundationWatch.check([key], named: ownChangeChannel)
                #else
                ExclusiveAccess.ofProcess.notify(hub, [key])
                #endif
            }
        }
    }

    /// The keys that have a value, including those in registered defaults and in the system's domains.
    public func storedKeys() -> [String] { dictionaryRepresentation().keys.map(FoundationKey.key(forName:)) }

    /// Calls `synchronize`.
    ///
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/synchronizationFailed`` when Foundation reports
    ///   failure.
    public func flush() throws(DefaultsError) {
        guard synchronize() else { throw DefaultsError.synchronizationFailed(ErrorContext(in: self)) }
    }

    /// Calls a handler at each change of the suite.
    ///
    /// On Apple platforms these are the changes by this process, through any object for the suite, and changes by other
    /// processes of the keys that are stored when the observation begins; changes by other processes of keys that
    /// contain a dot, or begin with "@", are reported with the next change by this process. Settings types, typed keys
    /// and containers also watch their own keys before anything is stored under them.
    ///
    /// On other systems Foundation has no change notifications, so only changes made through this library are reported,
    /// not those made through Foundation's own methods or by other processes.
    ///
    /// - Parameter handler: Receives the keys that changed.
    /// - Returns: The observation.
    public func observeChanges(_ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        #if canImport(Darwin)
        return FoundationWatch.observe(self, named: ownChangeChannel, keys: nil, handler)
        #else
        return SharedHubs.observe(ownChangeChannel, handler)
        #endif
    }

    /// "UserDefaults.standard", or a description with the suite's name; on Apple platforms with the object's address
    /// unless this library opened the suite, because Foundation has no getter for the name there.
    public var storeDescription: String {
        if self === UserDefaults.standard { return "UserDefaults.standard" }
        let name = FoundationSuite.name(of: self).map { "suiteName: \($0.debugDescription)" }
        return "UserDefaults(\(name ?? "\(ObjectIdentifier(self))"))"
    }

    /// Differs from `changeChannel`, because `setStoredValue` notifies observers itself.
    fileprivate var ownChangeChannel: String { "Foundation.\(storeDescription)" }

    private func replace(_ previous: PropertyListValue?, with value: PropertyListValue?, forKey key: String) {
        let name = FoundationKey.name(forKey: key)
        guard let value else { return removeObject(forKey: name) }
        set(value.object, forKey: name)
        // Foundation ignores a value that compares equal to the stored one: 1 and 1.0, or "é" with different scalars.
        if let previous, let stored = ownValue(forKey: key), stored.isSame(as: previous), !stored.isSame(as: value) {
            removeObject(forKey: name)
            set(value.object, forKey: name)
        }
    }
}

#if canImport(Darwin)
extension UserDefaults: KeyObservable {
    func observeChanges(of keys: Set<String>, _ handler: @escaping StoreObservation.Handler) -> StoreObservation {
        FoundationWatch.observe(self, named: ownChangeChannel, keys: keys, handler)
    }
}
#endif

extension FoundationKey {
    static func name(forKey key: String) -> String {
        #if canImport(Darwin)
        return key
        #else
        let isPlain =
            key.utf8.allSatisfy { $0 < 0x80 }
            || key.unicodeScalars.first != marker
                && key.hasSameUTF8(as: key.precomposedStringWithCanonicalMapping)
        guard !isPlain, let encoded = key.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) else {
            return key
        }
        return String(marker) + encoded
        #endif
    }
}

// The origins of values, by the domains of Foundation.
extension FoundationStore {
    func isHidden(_ key: String) -> Bool {
        volatileDomain(forName: UserDefaults.argumentDomain)[FoundationKey.name(forKey: key)] != nil
    }

    func domainValues() -> [StoreKey: PropertyListValue]? {
        guard let domain = ownDomain else { return nil }
        var values: [StoreKey: PropertyListValue] = [:]
        for (name, object) in domain {
            values[StoreKey(unchecked: FoundationKey.key(forName: name))] = try? PropertyListValue(object: object)
        }
        return values
    }

    /// What Foundation lists of the store's own domain; nil if its name isn't known, or nothing is listed.
    private var ownDomain: [String: Any]? {
        #if canImport(Darwin)
        let name = self === UserDefaults.standard ? Bundle.main.bundleIdentifier : FoundationSuite.name(of: self)
        return name.flatMap { persistentDomain(forName: $0) }
        #else
        // Nothing is listed of an empty suite.
        if let name = FoundationSuite.name(of: self) { return persistentDomain(forName: name) ?? [:] }
        // The standard one, which without a bundle has the name of the process.
        return persistentDomain(forName: Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName)
        #endif
    }

    func domainOrigins(forKey key: String) -> [DefaultsOrigin] {
        var origins: [DefaultsOrigin] = []
        let isForced = objectIsForced(forKey: FoundationKey.name(forKey: key))
        if isForced { origins.append(DefaultsOrigin(.mandatory, name: "the managed preferences")) }
        if isHidden(key) { origins.append(DefaultsOrigin(.argument, name: "the launch arguments")) }
        // Foundation doesn't tell the suite's own value from a forced one.
        if !isForced, ownValue(forKey: key) != nil { origins.append(DefaultsOrigin(.stored, name: storeDescription)) }
        if registeredValue(forKey: key) != nil { origins.append(DefaultsOrigin(.registered, name: "registered")) }
        return origins
    }
}

/// The names of `UserDefaults` suites, for which Foundation has no getter.
enum FoundationSuite {
    #if canImport(Darwin)
    // Only its address is used.
    nonisolated(unsafe) private static var nameKey: UInt8 = 0

    /// Opens a suite, and remembers its name.
    ///
    /// - Throws: `invalidSuiteName` for a name under which Foundation stores nothing.
    static func open(_ name: String) throws(DefaultsError) -> UserDefaults {
        // Foundation's initializer refuses the program's own domain and the global one. It accepts the other names
        // here, but takes them for paths, or stores nothing.
        guard !name.isEmpty, !name.contains("/"), !name.contains("\0"), let suite = UserDefaults(suiteName: name) else {
            throw .invalidSuiteName(name)
        }
        objc_setAssociatedObject(suite, &nameKey, name as NSString, .OBJC_ASSOCIATION_COPY_NONATOMIC)
        return suite
    }

    /// The name of a suite that was opened by ``open(_:)``; nil for any other.
    static func name(of suite: UserDefaults) -> String? { objc_getAssociatedObject(suite, &nameKey) as? String }
    #else
    /// The name of a suite; nil if Foundation's stored property has another name than it had in Swift 6.
    static func name(of suite: UserDefaults) -> String? {
        Mirror(reflecting: suite).children.first { $0.label == "suite" }?.value as? String
    }
    #endif
}
#endif
