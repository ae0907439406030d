/// Integers in the byte order of the file, at any alignment.
extension UnsafeRawBufferPointer {
    /// The integer at `offset`, which the caller has checked to lie within the bytes.
    func littleEndian<Value: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Value.Type) -> Value {
        Value(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
    }
}

extension UnsafeMutableRawPointer {
    /// Stores `value` in the file's byte order.
    func storeLittleEndian<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, at offset: Int) {
        storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
    }
}
