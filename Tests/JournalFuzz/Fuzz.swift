#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

// The entry point of libFuzzer. `.ci/fuzz` compiles it together with the engine's sources, since libFuzzer has its own
// main function.

/// Whether suites are opened, and not only journals replayed.
private let opensSuites = getenv("DEFAULT_FUZZ_SUITES") != nil

/// Checks the properties that hold for any input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    if opensSuites { fuzzSuite(bytes) } else { fuzzReplay(bytes) }
    return 0
}
