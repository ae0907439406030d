#if Foundation
public import Foundation

extension CGFloat: PropertyListConvertible {
    /// The number, in double precision.
    ///
    /// The conformance needs the package's trait `Foundation`.
    public var propertyListValue: PropertyListValue { .real(Double(self)) }

    /// Creates a number from a stored value, as `Double` does; the result is nil when the value is not a number.
    public init?(propertyListValue: PropertyListValue) {
        guard let double = Double(propertyListValue: propertyListValue) else { return nil }
        self.init(double)
    }
}
#endif
