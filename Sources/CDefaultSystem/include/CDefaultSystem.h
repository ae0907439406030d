#ifndef CDEFAULTSYSTEM_H
#define CDEFAULTSYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// Whether this processor computes CRC-32C itself.
bool default_crc32c_is_in_hardware(void);

/// Takes bytes into the state of a CRC-32C (not inverted), with the processor's instruction for it.
///
/// Only to be called where `default_crc32c_is_in_hardware` says so.
uint32_t default_crc32c_in_hardware(uint32_t state, const void *_Nonnull bytes, size_t count);

/// A number that threads running at the same time seldom share, never negative: that of the processor, where the system reports it.
///
/// With glibc 2.35 and later a look into the thread's own memory.
int default_processor_number(void);

/// A number that identifies the calling thread while it runs, never 0.
uintptr_t default_current_thread(void);

/// The value of an environment variable; NULL without one.
const char *_Nullable default_environment_variable(const char *_Nonnull name);

/// The path of the file that this process runs, as the system has it now: that of a file that was deleted has an addition.
///
/// Written with a NUL at its end, if there is room. Returns false where the system doesn't know it, as on Linux without `/proc`.
bool default_program_file(char *_Nonnull path, size_t size);

/// Whether a path leads to the file that this process runs.
bool default_is_program_file(const char *_Nonnull path);

/// The home directory that the system has for this user, written as a path above; returns false if there is none.
bool default_home_directory(char *_Nonnull path, size_t size);

/// The name of a user, written as a path above; returns false if the system has none, and on other systems than Linux.
bool default_user_name(uint32_t user, char *_Nonnull name, size_t size);

/// The name by which the program was started, without a dynamic loader before it; NULL where the C library doesn't know it.
const char *_Nullable default_invocation_name(void);

/// Writes the path without links of a file, with a NUL at its end; returns false if there is no such file.
bool default_resolved_path(const char *_Nonnull path, char *_Nonnull resolved, size_t size);

/// Has a function called with an object when the program ends normally; returns 0 if it will be.
///
/// A later call replaces the object. A child made with `fork` begins without one. The function may be called on a
/// thread that holds any lock, since a signal's handler may call `exit`.
int default_call_at_exit(void (*_Nonnull handler)(void *_Nonnull), void *_Nonnull object);

/// Writes bytes to standard error. The rest is left out if it takes nothing for a second, or nobody reads it any more.
void default_write_error(const void *_Nullable bytes, size_t count);

/// Names the calling thread in debuggers and tools, up to 15 bytes.
void default_name_thread(const char *_Nonnull name);

/// Starts a detached thread, without the signals that the program's own threads are for.
///
/// Returns an error number, 0 when the thread runs.
int default_start_thread(void *_Nullable (*_Nonnull body)(void *_Nonnull), void *_Nonnull context);

// Atomic operations on words. Always inlined: a call would take longer than the operation, and
// the thread sanitizer sees only code in a function that it instruments, such as one in Swift.
#define DEFAULT_ATOMIC static inline __attribute__((always_inline))

DEFAULT_ATOMIC uint64_t default_atomic_load(const uint64_t *_Nonnull word) {
    return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

DEFAULT_ATOMIC void default_atomic_store(uint64_t *_Nonnull word, uint64_t value) {
    __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

DEFAULT_ATOMIC uint64_t default_atomic_exchange(uint64_t *_Nonnull word, uint64_t value) {
    return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
}

/// Returns the value before.
DEFAULT_ATOMIC uint64_t default_atomic_add(uint64_t *_Nonnull word, uint64_t value) {
    return __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
}

/// Stores a value in place of the expected one; returns whether that was there.
DEFAULT_ATOMIC bool default_atomic_replace(uint64_t *_Nonnull word, uint64_t expected, uint64_t value) {
    return __atomic_compare_exchange_n(word, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/// The first byte with a value; NULL if there is none.
static inline const void *_Nullable default_find(const void *_Nonnull bytes, uint8_t byte, size_t count) {
    return memchr(bytes, byte, count);
}

/// Whether two buffers of the same size have the same content.
static inline __attribute__((always_inline)) bool default_is_same(
    const void *_Nonnull one, const void *_Nonnull other, size_t count
) {
    return __builtin_memcmp(one, other, count) == 0;
}

/// Takes the lock of an open file that `fcntl` knows, which is another one than that of `flock`, or releases it.
///
/// As that one, it belongs to the open file. Returns -1, and sets `errno`, when another open file has it, or where the
/// system has no such lock.
int default_lock_open_file(int file, bool takes);

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

/// Whether a mapping of a file immediately shows the writes of other processes.
///
/// That is so on the file systems of disks and memory that are known here. On a network the mapping may be older than the file; on
/// overlayfs it may be of another file, since the first write to one makes a copy of it.
bool default_has_coherent_mappings(int file);

/// Maps a part of a file at reserved addresses, for reading, in place of the mapping before.
///
/// The part may be longer than the file. Returns false, and sets `errno`, when the system refuses; the mapping before stays.
bool default_map_guarded(void *_Nonnull memory, size_t size, int file, uint64_t offset);

/// Maps memory without a file at reserved addresses, whose first word has all bits set.
///
/// Returns false, and sets `errno`, when the system refuses.
bool default_map_ones(void *_Nonnull memory, size_t size);

// Processes made with `fork` that go on without `exec`.

/// Has `default_fork_count` count from now on.
void default_watch_forks(void);

/// Has a descriptor closed in children made with `fork`.
void default_own_descriptor(int descriptor);

/// Closes a descriptor for which `default_own_descriptor` was called.
void default_close_descriptor(int descriptor);

/// How many forks there are between the process that began to count and this one, its descendant.
///
/// Changed only in a new child, by its first thread.
extern uint64_t default_forks;

DEFAULT_ATOMIC uint64_t default_fork_count(void) {
    return __atomic_load_n(&default_forks, __ATOMIC_RELAXED);
}

#undef DEFAULT_ATOMIC

#endif
