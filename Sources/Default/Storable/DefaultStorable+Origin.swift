extension DefaultStorable {
    /// Where the value of one property comes from.
    ///
    /// - Parameters:
    ///   - name: The name under which the property is stored: its coding key.
    ///   - store: The store; nil, the default, for the type's ``defaults``.
    /// - Returns: The origin; nil when the property is that of the ``defaultValue``, or there is none of that name.
    public static func origin(ofProperty name: String, in store: (any DefaultsStore)? = nil) -> DefaultsOrigin? {
        origins(ofProperty: name, in: store).first
    }

    /// All that have a value for one property, the one whose value counts first.
    ///
    /// - Parameters:
    ///   - name: The name under which the property is stored: its coding key.
    ///   - store: The store; nil, the default, for the type's ``defaults``.
    /// - Returns: The origins; the others are hidden by the first.
    public static func origins(ofProperty name: String, in store: (any DefaultsStore)? = nil) -> [DefaultsOrigin] {
        LayeredSettings.origins(ofProperty: name, of: Self.self, in: store ?? ownStore)
    }
}
