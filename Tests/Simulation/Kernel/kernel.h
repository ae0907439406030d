#ifndef KERNEL_H
#define KERNEL_H

// Declarations that the parts of the kernel share.

#define _GNU_SOURCE
#include "SimulatedKernel.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// memory.c

/// Releases all memory of the run before.
void begin_memory(void);
/// Takes zeroed memory, which is released when the next run begins.
void *take(size_t size);
/// Whether memory was taken from here.
bool is_taken(const void *memory);
/// Makes room for one more element in a list of taken memory, whose capacity is a power of two.
#define GROW(list, count) \
    do { \
        if (((count) & ((count) - 1)) == 0) { \
            void *larger = take(sizeof *(list) * ((count) ? 2 * (size_t)(count) : 1)); \
            if (count) memcpy(larger, (list), sizeof *(list) * (size_t)(count)); \
            (list) = larger; \
        } \
    } while (0)

// schedule.c

typedef enum { NO_TASK, CAN_RUN, SLEEPS, WAITS_FOR_MUTEX, WAITS_FOR_CONDITION, HAS_ENDED, IS_KILLED } task_state;

typedef struct {
    task_state state;
    int id, process;
    bool is_essential;
    /// The saved registers of a task that doesn't run.
    void *stack_pointer;
    void *stack;
    /// The time when a sleeping task goes on, or a wait for a condition expires; `never` without one.
    uint64_t wakes_at;
    /// The mutex or the condition that the task waits for; NULL after a wait for a condition has expired.
    void *waits_for;
    void (*body)(void *);
    void *(*thread_body)(void *);
    void *context;
} task;

enum { task_limit = 128, process_limit = 64 };
#define never UINT64_MAX

extern sim_plan plan;
extern sim_report report;
/// The running task; NULL outside of `sim_run`, where calls go to the system.
extern task *current;
/// Nanoseconds since the machine was started.
extern uint64_t now;

task *add_task(int process);
task *task_at(int index);
int task_count(void);
/// Ends a process and closes its files, without a step.
void kill_process(int process);
/// Gives other tasks, kills and other events a chance. With `gives_way` the current task goes on only if no other can.
void step(bool gives_way);
/// Lets up to a second pass for the current task, in some runs.
void delay(void);
/// The nanoseconds by which the current task is late, for ``delay`` and sleeps.
uint64_t lateness(void);
/// Keeps anything from happening before the current task's next call has ended, and makes that call succeed.
void hurry(void);
/// The time of the clock of file times and dates.
uint64_t date(void);
/// The time of a clock that advances in ticks.
uint64_t coarse(uint64_t time);

/// Makes the first step of a call.
void begin_call(const char *name, uint64_t first, uint64_t second);
/// Makes the last step of a call, returns the result and sets the error number.
long end_call(long result, int code, const char *note);
/// Whether the current call is the write in which its process is killed, which is planned for the next step then.
bool tears_write(void);
/// The error with which the current call is to fail; 0 if it isn't to fail.
int planned_failure(int code);

// disk.c, files.c

typedef struct inode inode;

typedef struct {
    char name[48];
    inode *node;
} directory_entry;

/// A write to a file, or a change of its size, that may not be on the disk yet; they are kept in order.
typedef struct {
    bool is_truncation;
    /// Whether the change is on the disk, and only waits for an earlier one that was lost.
    bool is_synced;
    /// Whether the system takes the change for written, after a failed sync.
    bool is_lost;
    uint64_t offset, size;
    uint8_t *bytes;
} file_change;

/// A change of the names in a directory: one now belongs to another file or to none, and another may be removed with
/// it.
typedef struct {
    char name[48];
    inode *node;
    char removed[48];
} name_change;

struct inode {
    inode *next;
    uint64_t number;
    bool is_directory;
    uint64_t links, modified, changed;
    /// The open file that holds the lock.
    void *lock;
    /// The open file that holds the lock of `fcntl`.
    void *turnstile;
    /// The number of failed syncs.
    uint32_t sync_errors;
    /// The number of the real file, once it is known.
    uint64_t real_number;

    // The content of a file, as processes see it and as it is on the disk.
    uint8_t *bytes, *disk_bytes;
    uint64_t size, capacity, disk_size;
    file_change *changes;
    int change_count;
    bool has_lost_changes;

    // The names in a directory, likewise.
    directory_entry *entries, *disk_entries;
    int entry_count, disk_entry_count;
    name_change *name_changes;
    int name_change_count;
    /// The inode that replaces this one after a loss of power.
    inode *after_loss;
};

/// An open file, which descriptors share.
typedef struct {
    inode *node;
    int references;
    /// The number of the file's failed syncs that it has reported.
    uint32_t sync_errors;
    /// The descriptor on the real file system that mirrors this one.
    int real;
} open_file;

extern inode *root;

void begin_files(void);
inode *add_inode(bool is_directory);
directory_entry *find_entry(inode *directory, const char *name, size_t length);
inode *find_path(const char *path);
void set_entry(directory_entry **entries, int *count, const char *name, inode *node);
void close_files(int process);
// The same calls on a real file system; a code other than 0 is that of a call that fails.

void begin_mirror(void);
int mirror_open(int directory, const char *path, int flags, int mode, int code);
void mirror_close(open_file *file);
void mirror_fstat(open_file *file);
void mirror_stat(int directory, const char *path, inode *node);
void mirror_mkdir(const char *path, int code);
void mirror_rename(int from, const char *name, int to, const char *target, int code);
void mirror_unlink(int directory, const char *path, int code);
void mirror_read(open_file *file, const void *bytes, uint64_t size, uint64_t count, uint64_t offset);
void mirror_write(open_file *file, const void *bytes, uint64_t size, uint64_t offset);
void mirror_seek(open_file *file, off_t offset, int whence, long result, int code);
void mirror_truncate(open_file *file, off_t size);
void mirror_lock(open_file *file, int operation, int code);
void mirror_turnstile(open_file *file, int type, int code);

void begin_mappings(void);
/// Shows a changed part of a file to processes that have mapped it.
void show_change(inode *node, uint64_t start, uint64_t end);
/// Makes pages that a file has lost read as ones.
void show_lost_pages(inode *node, uint64_t start, uint64_t end);
void remove_mappings(int process);

void begin_disk(void);
void note_file_change(inode *node, bool is_truncation, uint64_t offset, const void *bytes, uint64_t size);
void note_name_change(inode *directory, const char *name, inode *node, const char *removed);
/// Writes all names of a directory to the disk.
void sync_names(inode *directory);
/// Writes the changes of a file to the disk that the system still considers unwritten.
void sync_file(inode *node);
/// Marks unsynced changes as written, as a failed sync does.
void lose_changes(inode *node);

enum { page_size = 4096, first_descriptor = 1000, descriptor_limit = 4096 };

static inline uint64_t whole_pages(uint64_t size) {
    return (size + page_size - 1) / page_size * page_size;
}

open_file *open_file_of(int descriptor);

/// Whether a descriptor is one of the simulation's.
static inline bool is_simulated(int descriptor) {
    return descriptor >= first_descriptor && descriptor < first_descriptor + descriptor_limit;
}

#endif
