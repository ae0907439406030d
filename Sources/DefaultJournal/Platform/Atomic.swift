public import CDefaultSystem

// The standard library's `Atomic` needs macOS 15, iOS 18 and so on. These are C11's atomics, inlined from a header. All
// threads see all operations in one order: weaker orderings would gain too little here.
//
// Public, since the compiler inlines nothing of `package` access into the layer above: a load there would be two calls
// instead of one instruction. The module belongs to no product.

/// A word at an address that others own, which threads, or processes that map it, change without a lock.
public struct AtomicWord: @unchecked Sendable {
    // Only atomic operations access the memory.
    @usableFromInline let address: UnsafeMutablePointer<UInt64>

    /// Refers to a word.
    ///
    /// - Parameter address: Eight bytes at a multiple of eight, which outlive the use of this value.
    @inlinable public init(_ address: UnsafeMutablePointer<UInt64>) { self.address = address }

    /// The value.
    @inlinable public func load() -> UInt64 { default_atomic_load(address) }

    /// Stores a value.
    @inlinable public func store(_ value: UInt64) { default_atomic_store(address, value) }

    /// Stores a value, and returns the one before.
    @inlinable public func exchange(_ value: UInt64) -> UInt64 { default_atomic_exchange(address, value) }

    /// Adds to the value, modulo the size of its type, and returns the value before.
    @discardableResult
    @inlinable public func wrappingAdd(_ value: UInt64) -> UInt64 { default_atomic_add(address, value) }

    /// Stores a value in place of the expected one, and returns whether that was there.
    @inlinable public func replace(_ expected: UInt64, with value: UInt64) -> Bool {
        default_atomic_replace(address, expected, value)
    }
}

/// A value that threads change without a lock: a Boolean, or a number of at most eight bytes.
public struct Atomic<Value: BitwiseCopyable>: ~Copyable, @unchecked Sendable {
    // In separate memory: a property of an object has no address that the language guarantees.
    @usableFromInline let word: AtomicWord

    /// Creates an atomic value, in memory that is freed with it.
    ///
    /// - Parameter value: The first value.
    @inlinable public init(_ value: Value) {
        let address = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
        address.initialize(to: Self.bits(of: value))
        word = AtomicWord(address)
    }

    @inlinable deinit { word.address.deallocate() }

    /// The value.
    @inlinable public func load() -> Value { Self.value(of: word.load()) }

    /// Stores a value.
    @inlinable public func store(_ value: Value) { word.store(Self.bits(of: value)) }

    /// Stores a value, and returns the one before.
    @inlinable public func exchange(_ value: Value) -> Value { Self.value(of: word.exchange(Self.bits(of: value))) }

    /// Stores a value in place of the expected one, and returns whether that was there.
    @inlinable public func replace(_ expected: Value, with value: Value) -> Bool {
        word.replace(Self.bits(of: expected), with: Self.bits(of: value))
    }

    // Not properties of the values: a public extension of `Int` would be visible in every program that uses the
    // library.

    @inlinable static func bits(of value: Value) -> UInt64 {
        var bits: UInt64 = 0
        withUnsafeMutableBytes(of: &bits) { $0.storeBytes(of: value, as: Value.self) }
        return bits
    }

    @inlinable static func value(of bits: UInt64) -> Value {
        withUnsafeBytes(of: bits) { $0.loadUnaligned(as: Value.self) }
    }
}

extension Atomic where Value == Int {
    /// Adds to the value, modulo the size of its type, and returns the value before.
    @discardableResult
    @inlinable public func wrappingAdd(_ value: Int) -> Int { Self.value(of: word.wrappingAdd(Self.bits(of: value))) }
}
