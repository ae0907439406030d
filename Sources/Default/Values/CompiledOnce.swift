// Generic functions of the standard library, each compiled for one type instead of for many: a sort takes four kilobytes for each
// type of element, and reading a number one and a half for each type of number and of text.

extension Array {
    /// The elements in an order; equal ones stay in the order that they have.
    func inOrder(by isBefore: (Element, Element) -> Bool) -> [Element] {
        positions(count) { isBefore(self[$0], self[$1]) }.map { self[$0] }
    }
}

extension [String] {
    /// The strings in their own order.
    func inOrder() -> [String] {
        inOrder(by: <)
    }
}

@inline(never)
private func positions(_ count: Int, by isBefore: (Int, Int) -> Bool) -> [Int] {
    Array(0..<count).sorted(by: isBefore)
}

extension Int64 {
    /// The number that a text consists of, as in `Int64("-12")`.
    @inline(never)
    init?(digits text: String) {
        self.init(text)
    }
}

extension UInt64 {
    /// The number that a text consists of, as in `UInt64("ff", radix: 16)`.
    @inline(never)
    init?(digits text: String, radix: Int = 10) {
        self.init(text, radix: radix)
    }
}

extension Substring {
    /// Removes the characters at the beginning that fulfil a condition.
    @inline(never)
    mutating func skip(while condition: (Character) -> Bool) {
        while let character = first, condition(character) {
            removeFirst()
        }
    }
}
