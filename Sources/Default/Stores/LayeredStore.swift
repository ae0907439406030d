/// A store whose reads also find values that it does not store: launch arguments and registered defaults.
///
/// No write replaces those, so they are not quarantined.
protocol LayeredStore: DefaultsStore {
    /// The value that the store itself holds for a key.
    func ownValue(forKey key: String) -> PropertyListValue?
}
