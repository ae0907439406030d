/// The positions of some elements in an order of the elements; equal ones stay in the order that they have.
///
/// The only sort of both modules: one takes four kilobytes for each type of element.
@inline(never)
package func positions(_ count: Int, by isBefore: (Int, Int) -> Bool) -> [Int] {
    Array(0..<count).sorted(by: isBefore)
}

extension [String] {
    /// The strings in their own order.
    func inOrder() -> [String] {
        positions(count) { self[$0] < self[$1] }.map { self[$0] }
    }
}
