// Guarded pages: mapped parts of files that other programs may shorten, and the handler of SIGBUS that answers for them.
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "CDefaultSystem.h"
#include "pages.h"

#if !defined(_WIN32) && !defined(__wasi__)
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#if defined(__linux__)
#include <sys/vfs.h>
#endif
#include <unistd.h>

#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS MAP_ANON
#endif
#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

enum { maximum_ranges = 64 };

struct range {
    uintptr_t begin;
    uintptr_t end;
};

// Written under `lock`, each before the count that includes it. The handler reads them without a lock.
static struct range ranges[maximum_ranges];
static atomic_int range_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction previous;
static bool is_handled;

// Replaces a guarded page by ones, and passes every other signal on. Makes only calls that are safe in a handler: `mmap` is a
// plain system call on Linux and Apple platforms.
static void handle_bus_error(int signal, siginfo_t *info, void *context) {
    const uintptr_t address = (uintptr_t)info->si_addr;
    const int count = atomic_load_explicit(&range_count, memory_order_acquire);
    for (int index = 0; info->si_code > 0 && index < count; index++) {
        if (address < ranges[index].begin || address >= ranges[index].end) continue;
        const int saved = errno;
        const size_t size = default_page_size();
        void *const page = (void *)(address - address % size);
        const int protection = PROT_READ | PROT_WRITE;
        const bool is_mapped = mmap(page, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page;
        if (is_mapped) memset(page, 0xFF, size);
        errno = saved;
        if (is_mapped) return;
    }
    if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(signal, info, context);
    } else if (previous.sa_handler == SIG_IGN && info->si_code <= 0) {
        return;
    } else if (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN) {
        // The access is repeated, and then has the effect that it has without this handler. A signal that was sent is not.
        sigaction(SIGBUS, &previous, NULL);
        if (info->si_code <= 0) raise(signal);
    } else {
        previous.sa_handler(signal);
    }
}

size_t default_page_size(void) {
    static atomic_size_t size;
    size_t known = atomic_load_explicit(&size, memory_order_relaxed);
    if (known == 0) {
        known = (size_t)sysconf(_SC_PAGESIZE);
        atomic_store_explicit(&size, known, memory_order_relaxed);
    }
    return known;
}

static void *reserve(size_t size) {
    const int count = atomic_load_explicit(&range_count, memory_order_relaxed);
    if (count == maximum_ranges) {
        errno = ENOMEM;
        return NULL;
    }
    if (!is_handled) {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_sigaction = handle_bus_error;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigemptyset(&action.sa_mask);
        default_page_size();
        // First of all, since a signal may arrive at once.
        if (sigaction(SIGBUS, NULL, &previous) != 0 || sigaction(SIGBUS, &action, NULL) != 0) return NULL;
        is_handled = true;
    }
    void *begin = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (begin == MAP_FAILED) return NULL;
    ranges[count].begin = (uintptr_t)begin;
    ranges[count].end = (uintptr_t)begin + size;
    atomic_store_explicit(&range_count, count + 1, memory_order_release);
    return begin;
}

void *default_reserve_guarded_memory(size_t size) {
    pthread_mutex_lock(&lock);
    void *begin = reserve(size);
    pthread_mutex_unlock(&lock);
    return begin;
}

bool default_has_coherent_mappings(int file) {
#if defined(__linux__)
    struct statfs status;
    if (fstatfs(file, &status) != 0) return false;
    switch ((uint32_t)status.f_type) {
    case 0xEF53: // ext2, ext3 and ext4
    case 0x58465342: // xfs
    case 0x9123683E: // btrfs
    case 0xF2F52010: // f2fs
    case 0x01021994: // tmpfs
        return true;
    default: return false;
    }
#else
    // Apple's systems want a reason from each app that asks for its file system, and have little else than APFS.
    (void)file;
    return true;
#endif
}

bool default_map_guarded(void *memory, size_t size, int file, uint64_t offset) {
    // A file system may refuse after the addresses have lost what was mapped there, and then any other mapping may get
    // them. So the part is mapped elsewhere first.
    void *mapped = mmap(NULL, size, PROT_READ, MAP_SHARED, file, (off_t)offset);
    if (mapped == MAP_FAILED) return false;
#if defined(__linux__)
    if (mremap(mapped, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, memory) == memory) return true;
    const int code = errno;
    munmap(mapped, size);
    errno = code;
    return false;
#else
    munmap(mapped, size);
    return mmap(memory, size, PROT_READ, MAP_SHARED | MAP_FIXED, file, (off_t)offset) == memory;
#endif
}

bool default_map_ones(void *memory, size_t size) {
    const int protection = PROT_READ | PROT_WRITE;
    if (mmap(memory, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != memory) return false;
    // One word is enough: nothing else of such memory is read.
    memset(memory, 0xFF, sizeof(uint64_t));
    return true;
}

void default_forget_guarded_memory(void) {
    // Another thread of the parent may have held the lock.
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    // Nothing in the child reads its parent's memory, whose ranges would be used up by a chain of children.
    atomic_store_explicit(&range_count, 0, memory_order_relaxed);
}

#else

// The store that the pages are for does not run on these systems.

bool default_has_coherent_mappings(int file) {
    (void)file;
    return false;
}

bool default_map_ones(void *memory, size_t size) {
    (void)memory;
    return size == 0;
}

#endif
