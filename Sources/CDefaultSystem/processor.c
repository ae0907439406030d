// What Swift can't say: an instruction that not every processor of an architecture has, and a function that the C library
// declares on request only. And what every C library has, under a module name of its own in Swift.
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "CDefaultSystem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !defined(_WIN32)
#include <errno.h>
#endif
#if defined(__linux__)
#include <fcntl.h>
#include <pwd.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#if defined(_WIN32) || defined(__wasi__)
uintptr_t default_current_thread(void) {
    static _Thread_local char own;
    return (uintptr_t)&own;
}
#else
#include <pthread.h>

// The address of a variable would cost the start of a program on Linux a library more.
uintptr_t default_current_thread(void) {
    return (uintptr_t)pthread_self();
}
#endif

int default_lock_open_file(int file, bool takes) {
#if defined(__linux__)
    struct flock lock = { .l_type = takes ? F_WRLCK : F_UNLCK, .l_whence = SEEK_SET };
    return fcntl(file, F_OFD_SETLK, &lock);
#else
    (void)file, (void)takes;
    errno = ENOTSUP;
    return -1;
#endif
}

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

void default_write_error(const void *bytes, size_t count) {
    fwrite(bytes, 1, count, stderr);
}

int default_processor_number(void) {
#if defined(__linux__)
    const int number = sched_getcpu();
    if (number >= 0) return number;
#endif
    // An address whose middle bits differ between threads.
    return (int)(((uint64_t)default_current_thread() * 0x9E3779B97F4A7C15u) >> 33);
}

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
