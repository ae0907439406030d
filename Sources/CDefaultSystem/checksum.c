// CRC-32C with the processor's instruction for it, which not every processor of an architecture has.
#include "CDefaultSystem.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

bool default_crc32c_is_in_hardware(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_2);
}

__attribute__((target("sse4.2,crc32")))
uint32_t default_crc32c_in_hardware(uint32_t state, const void *bytes, size_t count) {
    const unsigned char *cursor = bytes;
    uint64_t wide = state;
    for (; count >= 8; cursor += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, cursor, 8);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    state = (uint32_t)wide;
    for (; count > 0; cursor++, count--) {
        state = __builtin_ia32_crc32qi(state, *cursor);
    }
    return state;
}

// The instruction takes the bytes of a word in the order of a little-endian processor.
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
#include <arm_acle.h>

#if defined(__ARM_FEATURE_CRC32)
// Every processor that the program is compiled for has it, as those of a Mac with Apple silicon have.
bool default_crc32c_is_in_hardware(void) {
    return true;
}
#elif defined(__linux__)
#include <sys/auxv.h>

bool default_crc32c_is_in_hardware(void) {
    // HWCAP_CRC32, as the kernel's documentation lists it ("ARM64 ELF hwcaps"); not every C library has the name.
    return getauxval(AT_HWCAP) & (1 << 7);
}
#else
bool default_crc32c_is_in_hardware(void) {
    return false;
}
#endif

#if !defined(__ARM_FEATURE_CRC32)
__attribute__((target("crc")))
#endif
uint32_t default_crc32c_in_hardware(uint32_t state, const void *bytes, size_t count) {
    const unsigned char *cursor = bytes;
    for (; count >= 8; cursor += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, cursor, 8);
        state = __crc32cd(state, word);
    }
    for (; count > 0; cursor++, count--) {
        state = __crc32cb(state, *cursor);
    }
    return state;
}

#else

bool default_crc32c_is_in_hardware(void) {
    return false;
}

uint32_t default_crc32c_in_hardware(uint32_t state, const void *bytes, size_t count) {
    (void)bytes;
    (void)count;
    return state;
}

#endif
