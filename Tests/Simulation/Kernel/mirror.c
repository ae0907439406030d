#include "kernel.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The same calls on a real file system, at the moment when they take effect here: each must have the same result.
//
// Times, the effects of a loss of power, and calls that fail as planned are not compared. All descriptors belong to one
// process, which makes no difference to locks, since these belong to open files.

/// The directory that stands for the root; -1 without a mirror.
static int base = -1;
static int run_number;
static char *directory_path;

int __real_mkdir(const char *, mode_t);
int __real_close(int);
int __real_fstat(int, struct stat *);
int __real_fstatat(int, const char *, struct stat *, int);
int __real_renameat(int, const char *, int, const char *);
int __real_unlinkat(int, const char *, int);
int __real_ftruncate(int, off_t);
int __real_flock(int, int);
ssize_t __real_pread(int, void *, size_t, off_t);
ssize_t __real_pwrite(int, const void *, size_t, off_t);
off_t __real_lseek(int, off_t, int);

void sim_mirror(const char *path) { directory_path = strdup(path); }

void begin_mirror(void) {
    if (base >= 0) __real_close(base);
    base = -1;
    if (!directory_path) return;
    char path[300];
    snprintf(path, sizeof path, "%s/%d", directory_path, run_number++);
    if (__real_mkdir(path, 0700) != 0) abort();
    base = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (base < 0) abort();
}

static void expect(bool is_same, const char *call, const char *name) {
    if (is_same) return;
    report.mirror_differences++;
    if (report.mirror_differences > 3) return;
    fprintf(stderr, "step %lu: the real %s of %s gives something else (errno %d).\n", report.steps, call, name, errno);
}

static void expect_result(long real, long result, int code, const char *call, const char *name) {
    expect(real == result && (result >= 0 || errno == code), call, name);
}

/// The directory at which a path begins on the real file system.
static int start_of(int directory, const char **path) {
    if (**path != '/') return open_file_of(directory)->real;
    while (**path == '/') (*path)++;
    if (!**path) *path = ".";
    return base;
}

int mirror_open(int directory, const char *path, int flags, int mode, int code) {
    if (base < 0) return -1;
    const int start = start_of(directory, &path);
    const int descriptor = (int)syscall(SYS_openat, start, path, flags, mode);
    expect(code ? descriptor < 0 && errno == code : descriptor >= 0, "open", path);
    return descriptor;
}

void mirror_close(open_file *file) {
    if (base >= 0) expect(__real_close(file->real) == 0, "close", "a file");
}

static void compare_status(inode *node, const struct stat *status, const char *name) {
    // Each file here must always be the same file there.
    if (!node->real_number) node->real_number = status->st_ino;
    expect(node->real_number == status->st_ino, "identity", name);
    if (node->is_directory) return expect(S_ISDIR(status->st_mode), "kind", name);
    expect(S_ISREG(status->st_mode) && (uint64_t)status->st_size == node->size, "size", name);
    expect(status->st_nlink == node->links, "number of links", name);
}

void mirror_fstat(open_file *file) {
    struct stat status;
    if (base < 0) return;
    expect(__real_fstat(file->real, &status) == 0, "fstat", "a file");
    compare_status(file->node, &status, "a file");
}

void mirror_stat(int directory, const char *path, inode *node) {
    struct stat status;
    if (base < 0) return;
    const int start = start_of(directory, &path);
    expect_result(__real_fstatat(start, path, &status, AT_SYMLINK_NOFOLLOW), node ? 0 : -1, ENOENT, "stat", path);
    if (node) compare_status(node, &status, path);
}

void mirror_mkdir(const char *path, int code) {
    if (base < 0) return;
    const int start = start_of(-1, &path);
    expect_result(syscall(SYS_mkdirat, start, path, 0700), code ? -1 : 0, code, "mkdir", path);
}

void mirror_rename(int from, const char *name, int to, const char *target, int code) {
    if (base < 0) return;
    const int real_from = open_file_of(from)->real, real_to = open_file_of(to)->real;
    expect_result(__real_renameat(real_from, name, real_to, target), code ? -1 : 0, code, "rename", name);
}

void mirror_unlink(int directory, const char *path, int code) {
    if (base < 0) return;
    const int start = start_of(directory, &path);
    expect_result(__real_unlinkat(start, path, 0), code ? -1 : 0, code, "unlink", path);
}

void mirror_read(open_file *file, const void *bytes, uint64_t size, uint64_t count, uint64_t offset) {
    if (base < 0) return;
    uint8_t *real = take(count + 1);
    const bool is_same = __real_pread(file->real, real, count, (off_t)offset) == (ssize_t)size && memcmp(real, bytes, size) == 0;
    expect(is_same, "read", "a file");
}

void mirror_write(open_file *file, const void *bytes, uint64_t size, uint64_t offset) {
    if (base >= 0) expect(__real_pwrite(file->real, bytes, size, (off_t)offset) == (ssize_t)size, "write", "a file");
}

void mirror_seek(open_file *file, off_t offset, int whence, long result, int code) {
    if (base >= 0) expect_result(__real_lseek(file->real, offset, whence), result, code, "seek", "a file");
}

void mirror_truncate(open_file *file, off_t size) {
    if (base >= 0) expect(__real_ftruncate(file->real, size) == 0, "truncate", "a file");
}

void mirror_turnstile(open_file *file, int type, int code) {
    struct flock lock = { .l_type = (short)type, .l_whence = SEEK_SET };
    if (base < 0) return;
    const long result = syscall(SYS_fcntl, file->real, F_OFD_SETLK, &lock);
    expect_result(result, code ? -1 : 0, code, "fcntl", "a file");
}

void mirror_lock(open_file *file, int operation, int code) {
    if (base >= 0) expect_result(__real_flock(file->real, operation), code ? -1 : 0, code, "flock", "a file");
}
