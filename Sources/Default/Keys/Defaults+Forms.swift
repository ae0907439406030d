extension Defaults {
    /// Stores the values of keys in this library's own forms, where another library stored them in other ones.
    ///
    /// Keys read these forms anyway, and the next write of a value stores the own form. Convert all of them at once, for
    /// example when the program starts, if other code reads what is stored, such as `string(forKey:)`. Then the other
    /// library can't read them any more. Values that are stored in their own form already are not changed, and neither are
    /// those that can't be read completely. See <doc:ComingFromOtherLibraries>.
    ///
    /// - Parameter keys: The keys.
    /// - Returns: The names of the keys whose values were converted.
    /// - Throws: ``DefaultsError`` with the code ``DefaultsError/Code/invalidKey`` or one of the store's. Values that were
    ///   converted before stay converted, unless the store has transactions: nothing has changed then.
    @discardableResult
    public func convertForms(of keys: Keys...) throws(DefaultsError) -> [String] {
        try convertForms(of: keys)
    }

    /// Stores the values of keys of the standard store in this library's own forms; see
    /// ``convertForms(of:)-swift.method``.
    @discardableResult
    public static func convertForms(of keys: Keys...) throws(DefaultsError) -> [String] {
        try Defaults().convertForms(of: keys)
    }

    private func convertForms(of keys: [Keys]) throws(DefaultsError) -> [String] {
        let suite = suite
        return try DefaultsError.wrapping(ErrorContext(in: suite)) {
            try suite.transaction { try keys.filter { try $0.convertForm(in: suite) }.map(\.name) }
        }
    }
}
