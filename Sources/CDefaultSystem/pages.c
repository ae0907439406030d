// What Swift's code can't do, or not on every system alike: handlers of a signal, of `fork` and of `exit`, and threads.
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "CDefaultSystem.h"

uint64_t default_forks;

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
    // A file system may refuse after the addresses have lost what was mapped there, and then anybody's next mapping may get
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

void default_name_thread(const char *name) {
#if defined(__APPLE__)
    pthread_setname_np(name);
#else
    pthread_setname_np(pthread_self(), name);
#endif
}

int default_start_thread(void *(*body)(void *), void *context) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    // The new thread inherits a mask that blocks every signal but the one of guarded pages.
    sigset_t blocked, unblocked;
    sigfillset(&blocked);
    sigdelset(&blocked, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &blocked, &unblocked);
    pthread_t thread;
    const int code = pthread_create(&thread, &attributes, body, context);
    pthread_sigmask(SIG_SETMASK, &unblocked, NULL);
    pthread_attr_destroy(&attributes);
    return code;
}

static pthread_once_t watches_forks = PTHREAD_ONCE_INIT;
static void (*_Atomic exit_handler)(void *);
static _Atomic(void *) exit_object;

// In the child, in which only the thread that called `fork` exists: the lock may have been held by another. It
// reserves memory of its own; nothing in it reads that of its parent, whose ranges would be used up by a chain of
// children.
static void begin_child(void) {
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    atomic_store_explicit(&range_count, 0, memory_order_relaxed);
    atomic_store(&exit_object, NULL);
    __atomic_fetch_add(&default_forks, 1, __ATOMIC_RELAXED);
}

static void watch_forks(void) {
    pthread_atfork(NULL, NULL, begin_child);
}

void default_watch_forks(void) {
    pthread_once(&watches_forks, watch_forks);
}

static pthread_once_t registers_exit = PTHREAD_ONCE_INIT;
static int exit_code;

static void run_at_exit(void) {
    void *const object = atomic_load(&exit_object);
    if (object) atomic_load(&exit_handler)(object);
}

static void register_exit(void) {
    exit_code = atexit(run_at_exit);
}

int default_call_at_exit(void (*handler)(void *), void *object) {
    pthread_once(&registers_exit, register_exit);
    atomic_store(&exit_handler, handler);
    atomic_store(&exit_object, object);
    return exit_code;
}

#else

// These systems have neither `fork` nor the store that the pages are for.

bool default_has_coherent_mappings(int file) {
    (void)file;
    return false;
}

bool default_map_ones(void *memory, size_t size) {
    (void)memory;
    return size == 0;
}

void default_watch_forks(void) {}

int default_call_at_exit(void (*handler)(void *), void *object) {
    (void)handler;
    (void)object;
    return -1;
}

#endif
