/// A reference to an object that is used without being copied.
///
/// Each copy is counted in the object, and that count would move between the processors of threads that read at once.
///
/// Public for the same reason as ``Atomic``.
@frozen public struct Borrowed<Object: AnyObject & Sendable>: ~Copyable, Sendable {
    /// The object.
    public let object: Object

    /// - Parameter object: The object.
    @inlinable public init(_ object: Object) { self.object = object }
}
