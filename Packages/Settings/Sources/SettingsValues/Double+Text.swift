extension Double {
    /// The number that a person has written; infinity only where that is written, and not for digits that are too many.
    package init?(written text: String) {
        guard let number = Double(text), number.isFinite || !text.contains(where: \.isNumber) else { return nil }
        self = number
    }
}
