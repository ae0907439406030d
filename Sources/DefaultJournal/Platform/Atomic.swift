public import CDefaultSystem

// The standard library's `Atomic` needs macOS 15, iOS 18 and so on. These are C11's atomics, inlined from a header.
//
// Public, since the compiler inlines nothing of `package` access into the layer above: there a load would be two calls of
// unspecialized code instead of an instruction. The module belongs to no product.

/// What other threads see of the memory operations before and after an atomic one, as in C11.
public struct MemoryOrdering: Sendable {
    @usableFromInline let code: Int32

    @inlinable init(code: Int32) { self.code = code }

    /// Nothing but the operation itself is ordered.
    @inlinable public static var relaxed: MemoryOrdering { MemoryOrdering(code: DEFAULT_ATOMIC_RELAXED) }
    /// What was written before the releasing store that is read here is visible from here on.
    @inlinable public static var acquiring: MemoryOrdering { MemoryOrdering(code: DEFAULT_ATOMIC_ACQUIRE) }
    /// What was written before is visible to a thread that reads this value with acquiring ordering.
    @inlinable public static var releasing: MemoryOrdering { MemoryOrdering(code: DEFAULT_ATOMIC_RELEASE) }
    /// Both, for operations that read and write.
    @inlinable public static var acquiringAndReleasing: MemoryOrdering {
        MemoryOrdering(code: DEFAULT_ATOMIC_ACQUIRE_RELEASE)
    }
    /// All threads see the operations with this ordering in one order.
    @inlinable public static var sequentiallyConsistent: MemoryOrdering {
        MemoryOrdering(code: DEFAULT_ATOMIC_SEQUENTIAL)
    }
}

/// A word at an address that others own, which threads, or processes that map it, change without a lock.
public struct AtomicWord: @unchecked Sendable {
    // Only atomic operations access the memory.
    @usableFromInline let address: UnsafeMutablePointer<UInt64>

    /// Refers to a word.
    ///
    /// - Parameter address: Eight bytes at a multiple of eight, which outlive the use of this value.
    @inlinable public init(_ address: UnsafeMutablePointer<UInt64>) { self.address = address }

    /// The value.
    @inlinable public func load(ordering: MemoryOrdering) -> UInt64 {
        default_atomic_load(address, ordering.code)
    }

    /// Stores a value.
    @inlinable public func store(_ value: UInt64, ordering: MemoryOrdering) {
        default_atomic_store(address, value, ordering.code)
    }

    /// Stores a value, and returns the one before.
    @inlinable public func exchange(_ value: UInt64, ordering: MemoryOrdering) -> UInt64 {
        default_atomic_exchange(address, value, ordering.code)
    }

    /// Adds to the value, modulo the size of its type.
    @inlinable public func wrappingAdd(_ value: UInt64, ordering: MemoryOrdering) {
        default_atomic_add(address, value, ordering.code)
    }

    /// Subtracts from the value, modulo the size of its type.
    @inlinable public func wrappingSubtract(_ value: UInt64, ordering: MemoryOrdering) {
        default_atomic_add(address, 0 &- value, ordering.code)
    }
}

/// A value that threads change without a lock: a Boolean, or a number of at most eight bytes.
public struct Atomic<Value: BitwiseCopyable>: ~Copyable, @unchecked Sendable {
    // In memory of its own: a property of an object has no address that the language guarantees.
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
    @inlinable public func load(ordering: MemoryOrdering) -> Value {
        Self.value(of: word.load(ordering: ordering))
    }

    /// Stores a value.
    @inlinable public func store(_ value: Value, ordering: MemoryOrdering) {
        word.store(Self.bits(of: value), ordering: ordering)
    }

    /// Stores a value, and returns the one before.
    @inlinable public func exchange(_ value: Value, ordering: MemoryOrdering) -> Value {
        Self.value(of: word.exchange(Self.bits(of: value), ordering: ordering))
    }

    // Not properties of the values: a public extension of `Int` would be visible in every program that uses the library.

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
    /// Adds to the value, modulo the size of its type.
    @inlinable public func wrappingAdd(_ value: Int, ordering: MemoryOrdering) {
        word.wrappingAdd(Self.bits(of: value), ordering: ordering)
    }
}
