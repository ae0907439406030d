#ifndef CDEFAULTPROCESSOR_H
#define CDEFAULTPROCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Whether this processor computes CRC-32C itself.
bool default_crc32c_is_in_hardware(void);

/// Takes bytes into the state of a CRC-32C (not inverted), with the processor's instruction for it.
///
/// Only to be called where `default_crc32c_is_in_hardware` says so.
uint32_t default_crc32c_in_hardware(uint32_t state, const void *_Nonnull bytes, size_t count);

/// The number of the processor that the calling thread runs on at this moment; negative where the system doesn't report it.
///
/// With glibc 2.35 and later a look into the thread's own memory.
int default_processor_number(void);

// Atomic operations on words, with the orderings of C11. Always inlined: a call would take longer than the operation, and
// the thread sanitizer sees only what is part of a function that it instruments, such as one in Swift.
#define DEFAULT_ATOMIC static inline __attribute__((always_inline))

static const int DEFAULT_ATOMIC_RELAXED = __ATOMIC_RELAXED;
static const int DEFAULT_ATOMIC_ACQUIRE = __ATOMIC_ACQUIRE;
static const int DEFAULT_ATOMIC_RELEASE = __ATOMIC_RELEASE;
static const int DEFAULT_ATOMIC_ACQUIRE_RELEASE = __ATOMIC_ACQ_REL;
static const int DEFAULT_ATOMIC_SEQUENTIAL = __ATOMIC_SEQ_CST;

DEFAULT_ATOMIC uint64_t default_atomic_load(const uint64_t *_Nonnull word, int ordering) {
    return __atomic_load_n(word, ordering);
}

DEFAULT_ATOMIC void default_atomic_store(uint64_t *_Nonnull word, uint64_t value, int ordering) {
    __atomic_store_n(word, value, ordering);
}

DEFAULT_ATOMIC uint64_t default_atomic_exchange(uint64_t *_Nonnull word, uint64_t value, int ordering) {
    return __atomic_exchange_n(word, value, ordering);
}

/// Stores `desired` where `expected` is, acquiring and releasing; whether it was.
DEFAULT_ATOMIC bool default_atomic_compare_exchange(uint64_t *_Nonnull word, uint64_t expected, uint64_t desired) {
    return __atomic_compare_exchange_n(word, &expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

DEFAULT_ATOMIC void default_atomic_add(uint64_t *_Nonnull word, uint64_t value, int ordering) {
    __atomic_fetch_add(word, value, ordering);
}

#undef DEFAULT_ATOMIC

#endif
