// A process: its user, its program, its threads, its forks and its end. Swift needs these functions here because they are not
// the same on every system, or because each C library has another module name.
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "CDefaultSystem.h"
#include "pages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !defined(_WIN32) && !defined(__wasi__)
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>
#endif
#if defined(__linux__)
#include <pwd.h>
#include <sched.h>
#include <sys/stat.h>
#endif

uint64_t default_forks;

#if defined(_WIN32) || defined(__wasi__)
uintptr_t default_current_thread(void) {
    static _Thread_local char own;
    return (uintptr_t)&own;
}
#else
// The address of a variable would cost the start of a program on Linux a library more.
uintptr_t default_current_thread(void) {
    return (uintptr_t)pthread_self();
}
#endif

const char *default_environment_variable(const char *name) {
    return getenv(name);
}

#if defined(__linux__)
static const char program_link[] = "/proc/self/exe";

bool default_program_file(char *path, size_t size) {
    const ssize_t count = readlink(program_link, path, size);
    // A path that fills the room may have been cut off.
    if (count <= 0 || (size_t)count >= size) return false;
    path[count] = 0;
    return true;
}

bool default_is_program_file(const char *path) {
    struct stat program, file;
    return stat(program_link, &program) == 0 && stat(path, &file) == 0
        && program.st_dev == file.st_dev && program.st_ino == file.st_ino;
}

bool default_resolved_path(const char *path, char *resolved, size_t size) {
    char *const found = realpath(path, NULL);
    const bool fits = found && strlen(found) < size;
    if (fits) strcpy(resolved, found);
    free(found);
    return fits;
}

bool default_home_directory(char *path, size_t size) {
    struct passwd entry, *found = NULL;
    char text[16384];
    if (getpwuid_r(geteuid(), &entry, text, sizeof text, &found) != 0 || !found || strlen(entry.pw_dir) >= size) {
        return false;
    }
    strcpy(path, entry.pw_dir);
    return true;
}

bool default_user_name(uint32_t user, char *name, size_t size) {
    struct passwd entry, *found = NULL;
    char text[16384];
    if (getpwuid_r(user, &entry, text, sizeof text, &found) != 0 || !found || strlen(entry.pw_name) >= size) {
        return false;
    }
    strcpy(name, entry.pw_name);
    return true;
}
#else
bool default_user_name(uint32_t user, char *name, size_t size) {
    (void)user;
    (void)name;
    (void)size;
    return false;
}

bool default_home_directory(char *path, size_t size) {
    (void)path;
    (void)size;
    return false;
}

bool default_program_file(char *path, size_t size) {
    (void)path;
    (void)size;
    return false;
}

bool default_is_program_file(const char *path) {
    (void)path;
    return false;
}

bool default_resolved_path(const char *path, char *resolved, size_t size) {
    (void)path;
    (void)resolved;
    (void)size;
    return false;
}
#endif

const char *default_invocation_name(void) {
#if defined(__linux__) && !defined(__ANDROID__)
    return program_invocation_name;
#else
    return NULL;
#endif
}

#if defined(_WIN32) || defined(__wasi__)
void default_write_error(const void *bytes, size_t count) {
    fwrite(bytes, 1, count, stderr);
}
#else
// Writes as much as standard error takes, waiting at most a second for it to take more: a pipe that is ready takes PIPE_BUF
// bytes. Not by the C library's stream, whose lock a thread may hold that waits for the same pipe.
static void write_pieces(const char *bytes, size_t count) {
    while (count > 0) {
        struct pollfd stream = { .fd = STDERR_FILENO, .events = POLLOUT };
        if (poll(&stream, 1, 1000) != 1) return;
        const ssize_t written = write(STDERR_FILENO, bytes, count < PIPE_BUF ? count : PIPE_BUF);
        if (written <= 0) return;
        bytes += written;
        count -= (size_t)written;
    }
}

static bool is_pending(int signal) {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, signal) == 1;
}

void default_write_error(const void *bytes, size_t count) {
    // Where nobody reads any more, a write sends SIGPIPE to its thread, which would end the process. It is blocked and
    // taken back, unless the program has blocked it itself and one is waiting already.
    sigset_t broken_pipe, mask;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    const bool was_pending = is_pending(SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, &mask);
    write_pieces(bytes, count);
    int taken;
    if (!was_pending && is_pending(SIGPIPE)) sigwait(&broken_pipe, &taken);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}
#endif

int default_processor_number(void) {
#if defined(__linux__)
    const int number = sched_getcpu();
    if (number >= 0) return number;
#endif
    // An address whose middle bits differ between threads.
    return (int)(((uint64_t)default_current_thread() * 0x9E3779B97F4A7C15u) >> 33);
}

#if !defined(_WIN32) && !defined(__wasi__)
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

// The descriptors of the library's open files, one bit each, up to the highest number that Linux allows by default; and how
// many words have been used.
static _Atomic(uint64_t) owned_descriptors[(1 << 20) / 64];
static atomic_int owned_words;

void default_own_descriptor(int descriptor) {
    const int word = descriptor / 64;
    if (descriptor < 0 || (size_t)word >= sizeof owned_descriptors / sizeof *owned_descriptors) return;
    default_watch_forks();
    int used = atomic_load(&owned_words);
    while (used <= word && !atomic_compare_exchange_weak(&owned_words, &used, word + 1)) {}
    atomic_fetch_or(&owned_descriptors[word], UINT64_C(1) << descriptor % 64);
}

void default_close_descriptor(int descriptor) {
    const int word = descriptor / 64;
    if (word < atomic_load(&owned_words)) {
        atomic_fetch_and(&owned_descriptors[word], ~(UINT64_C(1) << descriptor % 64));
    }
    close(descriptor);
}

// Locks belong to the open file, which parent and child share: those of a parent that is killed would last as long as its
// child.
static void close_owned_descriptors(void) {
    for (int word = 0; word < atomic_load(&owned_words); word++) {
        uint64_t bits = atomic_exchange(&owned_descriptors[word], 0);
        for (; bits != 0; bits &= bits - 1) close(64 * word + __builtin_ctzll(bits));
    }
}

// Runs in the child, in which only the thread that called `fork` exists.
static void begin_child(void) {
    default_forget_guarded_memory();
    close_owned_descriptors();
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

// These systems have no `fork`, and the store that needs a thread and the program's end doesn't run on them.

void default_watch_forks(void) {}

int default_call_at_exit(void (*handler)(void *), void *object) {
    (void)handler;
    (void)object;
    return -1;
}

#endif
