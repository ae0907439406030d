#ifndef CDEFAULTSYSTEM_H
#define CDEFAULTSYSTEM_H

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

DEFAULT_ATOMIC void default_atomic_add(uint64_t *_Nonnull word, uint64_t value, int ordering) {
    __atomic_fetch_add(word, value, ordering);
}

#undef DEFAULT_ATOMIC

/// Whether two buffers of the same size have the same content.
static inline __attribute__((always_inline)) bool default_is_same(
    const void *_Nonnull one, const void *_Nonnull other, size_t count
) {
    return __builtin_memcmp(one, other, count) == 0;
}

// Memory that maps files which other programs may shorten at any time. Reading a mapped page that its file lacks, or that can't
// be read from its disk, is answered by SIGBUS, which ends the process. A guarded page reads as ones from then on instead. The
// handler is set when the first memory is reserved, and passes every signal that isn't about it to the one before it.

/// The size of a page of memory, in bytes.
size_t default_page_size(void);

/// Reserves addresses.
///
/// - Parameter size: How many, in bytes: a multiple of the page size.
///
/// Returns NULL, and sets `errno`, when the system refuses, or when it was called 64 times before.
void *_Nullable default_reserve_guarded_memory(size_t size);

/// Maps a part of a file at reserved addresses, for reading, in place of what was mapped there.
///
/// The part may be longer than the file. Returns false, and sets `errno`, when the system refuses.
bool default_map_guarded(void *_Nonnull memory, size_t size, int file, uint64_t offset);

/// Maps memory without a file at reserved addresses, whose first word has all bits set.
///
/// Returns false, and sets `errno`, when the system refuses.
bool default_map_ones(void *_Nonnull memory, size_t size);

// Processes made with `fork` that go on without `exec`.

/// Has `default_fork_count` count from now on.
void default_watch_forks(void);

/// How many forks there are between the process that began to count and this one, its descendant.
uint64_t default_fork_count(void);

/// A lock that a new child finds free, whichever thread of the parent had it.
void default_lock_process(void);

/// Releases what `default_lock_process` took.
void default_unlock_process(void);

#endif
