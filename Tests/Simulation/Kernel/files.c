#include "kernel.h"

#include <dirent.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>

// The system calls on files and directories that the engine makes.
//
// The linker makes the engine call `__wrap_x` instead of `x`, which is then called `__real_x`. `openat` and `fcntl`
// have variable arguments and are called inside a library of Swift, so they are defined here, in place of those of the
// C library.

inode *root;
static struct {
    open_file *file;
    int process;
} descriptors[descriptor_limit];
static int descriptors_used;
static void (*rename_handler)(void);

void sim_on_rename(void (*handler)(void)) { rename_handler = handler; }

// Names

directory_entry *find_entry(inode *directory, const char *name, size_t length) {
    for (int index = 0; index < directory->entry_count; index++) {
        directory_entry *entry = &directory->entries[index];
        if (strlen(entry->name) == length && memcmp(entry->name, name, length) == 0) return entry;
    }
    return NULL;
}

void set_entry(directory_entry **entries, int *count, const char *name, inode *node) {
    for (int index = 0; index < *count; index++) {
        if (strcmp((*entries)[index].name, name) != 0) continue;
        if (node) (*entries)[index].node = node; else (*entries)[index] = (*entries)[--*count];
        return;
    }
    if (!node) return;
    GROW(*entries, *count);
    directory_entry *entry = &(*entries)[(*count)++];
    snprintf(entry->name, sizeof entry->name, "%s", name);
    entry->node = node;
}

// Finds the directory that a path leads to, and the last name in it; NULL if there is no such directory.
static inode *find_directory(int directory, const char *path, const char **last) {
    inode *node = *path == '/' ? root : is_simulated(directory) ? open_file_of(directory)->node : NULL;
    while (node) {
        while (*path == '/') path++;
        const char *slash = strchr(path, '/');
        *last = path;
        if (!slash) return node;
        const size_t length = (size_t)(slash - path);
        if (!(length == 1 && *path == '.')) {
            const directory_entry *entry = find_entry(node, path, length);
            node = entry && entry->node->is_directory ? entry->node : NULL;
        }
        path = slash;
    }
    return NULL;
}

static inode *find_from(int directory, const char *path) {
    const char *last = NULL;
    inode *node = find_directory(directory, path, &last);
    if (!node || !*last || strcmp(last, ".") == 0) return node;
    const directory_entry *entry = find_entry(node, last, strlen(last));
    return entry ? entry->node : NULL;
}

inode *find_path(const char *path) { return find_from(-1, path); }

// Descriptors

open_file *open_file_of(int descriptor) { return descriptors[descriptor - first_descriptor].file; }

static int add_descriptor(open_file *file) {
    int index = 0;
    while (index < descriptor_limit && descriptors[index].file) index++;
    if (index == descriptor_limit) abort();
    if (index >= descriptors_used) descriptors_used = index + 1;
    file->references++;
    descriptors[index].file = file;
    descriptors[index].process = sim_process();
    return first_descriptor + index;
}

static int open_inode(inode *node, int real) {
    open_file *file = take(sizeof *file);
    file->node = node;
    file->real = real;
    file->sync_errors = node->sync_errors;
    return add_descriptor(file);
}

static void close_descriptor(int descriptor) {
    const int index = descriptor - first_descriptor;
    open_file *file = descriptors[index].file;
    if (!file) return;
    descriptors[index].file = NULL;
    // The lock belongs to the open file, so it lasts until the last descriptor is closed.
    if (--file->references > 0) return;
    if (file->node->lock == file) file->node->lock = NULL;
    if (file->node->turnstile == file) file->node->turnstile = NULL;
    mirror_close(file);
}

void begin_files(void) {
    for (int index = 0; index < descriptors_used; index++) close_descriptor(first_descriptor + index);
    memset(descriptors, 0, sizeof descriptors);
    descriptors_used = 0;
}

void close_files(int process) {
    for (int index = 0; index < descriptors_used; index++) {
        if (descriptors[index].process == process) close_descriptor(first_descriptor + index);
    }
}

int openat(int directory, const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const int mode = va_arg(arguments, int);
    va_end(arguments);
    if (!current) return (int)syscall(SYS_openat, directory, path, flags, mode);
    begin_call("open", (uint64_t)flags, 0);
    const char *last = NULL;
    inode *parent = find_directory(directory, path, &last), *node = parent ? find_from(directory, path) : NULL;
    const bool creates = !node && parent && (flags & O_CREAT);
    const int refusal = creates ? planned_failure(ENOSPC) : 0;
    if (refusal) return (int)end_call(-1, refusal, path);
    int code = 0;
    if (node && (flags & O_CREAT) && (flags & O_EXCL)) code = EEXIST;
    if (!node && !creates) code = ENOENT;
    if (node && !node->is_directory && (flags & O_DIRECTORY)) code = ENOTDIR;
    const int real = mirror_open(directory, path, flags, mode, code);
    if (code) return (int)end_call(-1, code, path);
    if (creates) {
        node = add_inode(false);
        parent->modified = parent->changed = node->changed;
        set_entry(&parent->entries, &parent->entry_count, last, node);
        note_name_change(parent, last, node, "");
    }
    return (int)end_call(open_inode(node, real), 0, path);
}

static int lock_turnstile(int descriptor, const struct flock *lock) {
    open_file *file = open_file_of(descriptor);
    begin_call(lock->l_type == F_UNLCK ? "leave" : "enter", (uint64_t)descriptor, 0);
    void **turnstile = &file->node->turnstile;
    const bool is_refused = lock->l_type != F_UNLCK && *turnstile && *turnstile != file;
    mirror_turnstile(file, lock->l_type, is_refused ? EAGAIN : 0);
    if (is_refused) return (int)end_call(-1, EAGAIN, "");
    if (lock->l_type != F_UNLCK) *turnstile = file;
    else if (*turnstile == file) *turnstile = NULL;
    return (int)end_call(0, 0, "");
}

// The engine uses it only to duplicate descriptors and to take locks of open files.
int fcntl(int descriptor, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    const long argument = va_arg(arguments, long);
    va_end(arguments);
    if (!is_simulated(descriptor)) return (int)syscall(SYS_fcntl, descriptor, command, argument);
    if (command == F_OFD_SETLK) return lock_turnstile(descriptor, (const struct flock *)argument);
    return add_descriptor(open_file_of(descriptor));
}

int __real_close(int);
int __wrap_close(int descriptor) {
    if (!is_simulated(descriptor)) return __real_close(descriptor);
    if (current) begin_call("close", (uint64_t)descriptor, 0);
    close_descriptor(descriptor);
    return current ? (int)end_call(0, 0, "") : 0;
}

// Status

static struct timespec time_of(uint64_t nanoseconds) {
    return (struct timespec){ (time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000) };
}

static void describe(const inode *node, struct stat *status) {
    memset(status, 0, sizeof *status);
    status->st_dev = 1;
    status->st_ino = node->number;
    status->st_nlink = node->links;
    status->st_mode = node->is_directory ? S_IFDIR | 0700 : S_IFREG | 0600;
    status->st_uid = geteuid();
    status->st_size = node->is_directory ? page_size : (off_t)node->size;
    status->st_mtim = time_of(node->modified);
    status->st_ctim = time_of(node->changed);
}

int __real_fstat(int, struct stat *);
int __wrap_fstat(int descriptor, struct stat *status) {
    if (!is_simulated(descriptor)) return __real_fstat(descriptor, status);
    begin_call("fstat", (uint64_t)descriptor, 0);
    describe(open_file_of(descriptor)->node, status);
    mirror_fstat(open_file_of(descriptor));
    return (int)end_call(0, 0, "");
}

int __real_fstatat(int, const char *, struct stat *, int);
int __wrap_fstatat(int directory, const char *path, struct stat *status, int flags) {
    if (!current) return __real_fstatat(directory, path, status, flags);
    begin_call("stat", 0, 0);
    inode *node = find_from(directory, path);
    mirror_stat(directory, path, node);
    if (!node) return (int)end_call(-1, ENOENT, path);
    describe(node, status);
    return (int)end_call(0, 0, path);
}

// Changes of names

int __real_mkdir(const char *, mode_t);
int __wrap_mkdir(const char *path, mode_t mode) {
    if (!current) return __real_mkdir(path, mode);
    begin_call("mkdir", 0, 0);
    const char *last = NULL;
    inode *parent = find_directory(-1, path, &last);
    const int code = !parent ? ENOENT : find_entry(parent, last, strlen(last)) ? EEXIST : 0;
    mirror_mkdir(path, code);
    if (code) return (int)end_call(-1, code, path);
    inode *node = add_inode(true);
    parent->modified = parent->changed = node->changed;
    set_entry(&parent->entries, &parent->entry_count, last, node);
    if (plan.forgets_directories) {
        note_name_change(parent, last, node, "");
    } else {
        set_entry(&parent->disk_entries, &parent->disk_entry_count, last, node);
    }
    return (int)end_call(0, 0, path);
}

int __real_renameat(int, const char *, int, const char *);
int __wrap_renameat(int from, const char *name, int to, const char *target) {
    if (!current) return __real_renameat(from, name, to, target);
    begin_call("rename", 0, 0);
    const int refusal = planned_failure(EIO);
    if (refusal) return (int)end_call(-1, refusal, name);
    inode *directory = open_file_of(from)->node;
    const directory_entry *entry = find_entry(directory, name, strlen(name));
    const directory_entry *replaced = find_entry(directory, target, strlen(target));
    const int code = !entry ? ENOENT : replaced && replaced->node->entry_count > 0 ? ENOTEMPTY : 0;
    mirror_rename(from, name, to, target, code);
    if (code) return (int)end_call(-1, code, code == ENOENT ? name : target);
    inode *node = entry->node;
    if (replaced) {
        replaced->node->links--;
        replaced->node->changed = coarse(date());
    }
    node->changed = directory->modified = directory->changed = coarse(date());
    set_entry(&directory->entries, &directory->entry_count, target, node);
    set_entry(&directory->entries, &directory->entry_count, name, NULL);
    // Linux's file systems write both names of a rename together.
    note_name_change(directory, target, node, name);
    if (rename_handler) rename_handler();
    delay();
    return (int)end_call(0, 0, name);
}

int __real_unlinkat(int, const char *, int);
int __wrap_unlinkat(int directory, const char *name, int flags) {
    if (!current) return __real_unlinkat(directory, name, flags);
    begin_call("unlink", 0, 0);
    const char *last = NULL;
    inode *parent = find_directory(directory, name, &last), *node = find_from(directory, name);
    mirror_unlink(directory, name, node ? 0 : ENOENT);
    if (!node) return (int)end_call(-1, ENOENT, name);
    node->links--;
    node->changed = parent->modified = parent->changed = coarse(date());
    set_entry(&parent->entries, &parent->entry_count, last, NULL);
    note_name_change(parent, last, NULL, "");
    return (int)end_call(0, 0, name);
}

// Contents

static void reserve(inode *node, uint64_t size) {
    if (size <= node->capacity) return;
    uint64_t capacity = node->capacity ? node->capacity : 2 * page_size;
    while (capacity < size) capacity *= 2;
    uint8_t *larger = take(capacity);
    if (node->capacity) memcpy(larger, node->bytes, node->capacity);
    node->bytes = larger;
    node->capacity = capacity;
}

static void write_bytes(open_file *file, uint64_t offset, const uint8_t *bytes, uint64_t size) {
    mirror_write(file, bytes, size, offset);
    inode *node = file->node;
    const uint64_t end = offset + size, old_pages = whole_pages(node->size);
    reserve(node, whole_pages(end));
    memcpy(node->bytes + offset, bytes, size);
    if (end > node->size) node->size = end;
    node->modified = node->changed = coarse(date());
    // A new page also shows its zeros.
    show_change(node, offset, whole_pages(end) > old_pages ? whole_pages(end) : end);
    note_file_change(node, false, offset, bytes, size);
}

static void resize(inode *node, uint64_t size) {
    const uint64_t old_size = node->size;
    reserve(node, whole_pages(size > old_size ? size : old_size));
    if (size < old_size) memset(node->bytes + size, 0, whole_pages(old_size) - size);
    node->size = size;
    node->modified = node->changed = coarse(date());
    show_change(node, size < old_size ? size : old_size, whole_pages(size));
    show_lost_pages(node, whole_pages(size), whole_pages(old_size));
    note_file_change(node, true, size, NULL, 0);
}

ssize_t __real_pread(int, void *, size_t, off_t);
ssize_t __wrap_pread(int descriptor, void *buffer, size_t count, off_t start) {
    if (!is_simulated(descriptor)) return __real_pread(descriptor, buffer, count, start);
    const uint64_t offset = (uint64_t)start;
    begin_call("read", offset, count);
    const inode *node = open_file_of(descriptor)->node;
    size_t size = offset < node->size ? node->size - offset : 0;
    if (size > count) size = count;
    // A read isn't atomic: a write may come between two parts of it.
    const size_t first = size > 1 && sim_choose(4) == 1 ? sim_choose((uint32_t)size) : 0;
    if (first) {
        memcpy(buffer, node->bytes + offset, first);
        step(false);
    }
    // Bytes that were cut off in between read as zeros.
    if (size) memcpy((uint8_t *)buffer + first, node->bytes + offset + first, size - first);
    if (!first) mirror_read(open_file_of(descriptor), buffer, size, count, offset);
    return end_call((long)size, 0, "");
}

ssize_t __real_pwrite(int, const void *, size_t, off_t);
ssize_t __wrap_pwrite(int descriptor, const void *buffer, size_t count, off_t start) {
    if (!is_simulated(descriptor)) return __real_pwrite(descriptor, buffer, count, start);
    const uint64_t offset = (uint64_t)start;
    begin_call("write", offset, count);
    open_file *file = open_file_of(descriptor);
    if (planned_failure(ENOSPC)) {
        // A full disk writes a part, or nothing.
        const size_t part = sim_choose(2) == 1 ? sim_choose((uint32_t)count) : 0;
        if (part == 0) return end_call(-1, ENOSPC, "");
        count = part;
    }
    // A write isn't atomic: up to twice it stops after a part, and others may read that part, or the process may be
    // killed.
    size_t done = 0;
    const bool is_torn = tears_write();
    for (int pause = 0; pause < 2 && count - done > 1; pause++) {
        if (!is_torn && sim_choose(2) == 0) continue;
        const size_t part = 1 + sim_choose((uint32_t)(count - done - 1));
        write_bytes(file, offset + done, (const uint8_t *)buffer + done, part);
        done += part;
        step(false);
    }
    write_bytes(file, offset + done, (const uint8_t *)buffer + done, count - done);
    char note[32];
    snprintf(note, sizeof note, "of file %lu", file->node->number);
    return end_call((long)count, 0, note);
}

off_t __real_lseek(int, off_t, int);
off_t __wrap_lseek(int descriptor, off_t offset, int whence) {
    if (!is_simulated(descriptor)) return __real_lseek(descriptor, offset, whence);
    begin_call("seek", (uint64_t)offset, (uint64_t)whence);
    const off_t size = (off_t)open_file_of(descriptor)->node->size;
    // A position with data is itself the next data, since no file has holes here; at or behind the end there is none.
    const bool is_behind = whence != SEEK_END && offset >= size;
    const off_t result = is_behind ? -1 : whence == SEEK_END ? size : offset;
    const int code = is_behind ? ENXIO : 0;
    mirror_seek(open_file_of(descriptor), offset, whence, result, code);
    return end_call(result, code, "");
}

int __real_ftruncate(int, off_t);
int __wrap_ftruncate(int descriptor, off_t size) {
    if (!is_simulated(descriptor)) return __real_ftruncate(descriptor, size);
    begin_call("truncate", (uint64_t)size, 0);
    const int code = planned_failure(EIO);
    if (code) return (int)end_call(-1, code, "");
    mirror_truncate(open_file_of(descriptor), size);
    resize(open_file_of(descriptor)->node, (uint64_t)size);
    delay();
    return (int)end_call(0, 0, "");
}

static int sync_descriptor(int descriptor) {
    begin_call("sync", (uint64_t)descriptor, 0);
    delay();
    open_file *file = open_file_of(descriptor);
    inode *node = file->node;
    // The failure concerns every open file, and each one reports it once, as on Linux.
    if (planned_failure(EIO)) lose_changes(node);
    if (file->sync_errors != node->sync_errors) {
        file->sync_errors = node->sync_errors;
        // Until this process has recorded the failure, a process that opened the file later could sync it without
        // effect. "Durability" states that limit.
        hurry();
        return (int)end_call(-1, EIO, "");
    }
    if (node->is_directory) sync_names(node); else sync_file(node);
    delay();
    return (int)end_call(0, 0, "");
}

int __real_fsync(int);
int __wrap_fsync(int descriptor) {
    return is_simulated(descriptor) ? sync_descriptor(descriptor) : __real_fsync(descriptor);
}

int __real_fdatasync(int);
int __wrap_fdatasync(int descriptor) {
    return is_simulated(descriptor) ? sync_descriptor(descriptor) : __real_fdatasync(descriptor);
}

void sim_with_content(int descriptor, void (*body)(const void *bytes, size_t size, void *context), void *context) {
    const inode *node = open_file_of(descriptor)->node;
    if (node->links > 0) body(node->bytes, node->size, context);
}

// The lock of an open file

int __real_flock(int, int);
int __wrap_flock(int descriptor, int operation) {
    if (!is_simulated(descriptor)) return __real_flock(descriptor, operation);
    open_file *file = open_file_of(descriptor);
    begin_call(operation & LOCK_UN ? "unlock" : "lock", (uint64_t)descriptor, 0);
    void **lock = &file->node->lock;
    const bool releases = operation & LOCK_UN, is_refused = !releases && *lock && *lock != file;
    mirror_lock(file, operation, is_refused ? EWOULDBLOCK : 0);
    if (is_refused) {
        report.refused_locks++;
        return (int)end_call(-1, EWOULDBLOCK, "");
    }
    if (!releases) *lock = file;
    if (releases && *lock == file) *lock = NULL;
    return (int)end_call(0, 0, "");
}

// Listings of directories, and the current directory

typedef struct {
    const inode *node;
    int index, descriptor;
    struct dirent entry;
} listing;

DIR *__real_fdopendir(int);
DIR *__wrap_fdopendir(int descriptor) {
    if (!is_simulated(descriptor)) return __real_fdopendir(descriptor);
    listing *listing = take(sizeof *listing);
    listing->node = open_file_of(descriptor)->node;
    listing->descriptor = descriptor;
    return (DIR *)listing;
}

struct dirent *__real_readdir(DIR *);
struct dirent *__wrap_readdir(DIR *directory) {
    if (!is_taken(directory)) return __real_readdir(directory);
    listing *listing = (void *)directory;
    if (listing->index >= listing->node->entry_count) return NULL;
    const char *name = listing->node->entries[listing->index++].name;
    snprintf(listing->entry.d_name, sizeof listing->entry.d_name, "%s", name);
    return &listing->entry;
}

int __real_closedir(DIR *);
int __wrap_closedir(DIR *directory) {
    if (!is_taken(directory)) return __real_closedir(directory);
    close_descriptor(((listing *)directory)->descriptor);
    return 0;
}

char *__real_getcwd(char *, size_t);
char *__wrap_getcwd(char *buffer, size_t size) { return current ? strdup("/") : __real_getcwd(buffer, size); }

// Refused, so that watchers poll.
int __real_inotify_init1(int);
int __wrap_inotify_init1(int flags) {
    if (!current) return __real_inotify_init1(flags);
    errno = EMFILE;
    return -1;
}
