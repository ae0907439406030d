#define _GNU_SOURCE
#include "COperationCounts.h"

#include <stdlib.h>

#if defined(__linux__) && defined(__GLIBC__)

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Allocations: the program's own functions replace those of the C library in everything that it loads.

static _Thread_local long allocations;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) {
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
    allocations++;
    return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size) {
    allocations++;
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    void *result = memalign(alignment, size);
    if (!result) return ENOMEM;
    *block = result;
    return 0;
}

// System calls: the tracer sees each call of the thread. Calls of `prctl` that mean nothing to the kernel are messages
// to the tracer.

enum { mark = 0x44464c54, begin = 1, end = 2 };

int operation_counts_available(void) {
    return 1;
}

static int writes(unsigned long number) {
    return number == SYS_write || number == SYS_pwrite64 || number == SYS_writev || number == SYS_pwritev
        || number == SYS_pwritev2;
}

static int trace(pid_t child) {
    int status;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return -1;
    if (ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)) return -1;
    struct operation_counts counts = {0, 0, 0};
    struct __ptrace_syscall_info entry = {0}, info;
    int counting = 0;
    long signal = 0;
    for (;;) {
        if (ptrace(PTRACE_SYSCALL, child, 0, signal)) return -1;
        signal = 0;
        if (waitpid(child, &status, __WALL) != child) return -1;
        if (WIFEXITED(status)) return WEXITSTATUS(status);
        if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
        if (WSTOPSIG(status) == SIGTRAP) continue;
        if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
            signal = WSTOPSIG(status);
            continue;
        }
        if (ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) <= 0) return -1;
        if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
            entry = info;
            if (entry.entry.nr == SYS_prctl && entry.entry.args[0] == mark) {
                counting = entry.entry.args[1] == begin;
                if (counting) {
                    counts.system_calls = counts.bytes_written = 0;
                } else {
                    ptrace(PTRACE_POKEDATA, child, entry.entry.args[2], counts.system_calls);
                    ptrace(PTRACE_POKEDATA, child, entry.entry.args[3], counts.bytes_written);
                }
            } else if (counting) {
                counts.system_calls++;
            }
        } else if (info.op == PTRACE_SYSCALL_INFO_EXIT && counting && writes(entry.entry.nr) && info.exit.rval > 0) {
            counts.bytes_written += info.exit.rval;
        }
    }
}

int operation_counts_run(char *const arguments[]) {
    pid_t child = fork();
    if (child < 0) return -1;
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0)) _exit(127);
        raise(SIGSTOP);
        execv(arguments[0], arguments);
        _exit(127);
    }
    return trace(child);
}

static long allocations_before;

void operation_counts_begin(void) {
    prctl(mark, begin, 0, 0, 0);
    allocations_before = allocations;
}

struct operation_counts operation_counts_end(void) {
    struct operation_counts counts = {allocations - allocations_before, -1, -1};
    prctl(mark, end, &counts.system_calls, &counts.bytes_written, 0);
    return counts;
}

#else

int operation_counts_available(void) {
    return 0;
}

int operation_counts_run(char *const arguments[]) {
    (void)arguments;
    return -1;
}

void operation_counts_begin(void) {}

struct operation_counts operation_counts_end(void) {
    struct operation_counts counts = {-1, -1, -1};
    return counts;
}

#endif
