#ifndef KERNEL_H
#define KERNEL_H

// What the parts of the kernel share.

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

/// Takes back all memory of the run before.
void begin_memory(void);
/// Memory that is zero, and is taken back when the next run begins.
void *take(size_t size);
/// Whether memory was taken.
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
    /// Of a task that doesn't run: where its registers are.
    void *stack_pointer;
    void *stack;
    /// When a task that sleeps goes on, or one that waits for a condition gives up; `never` for one that doesn't.
    uint64_t wakes_at;
    /// The mutex or the condition that the task waits for; NULL if the wait for a condition took too long.
    void *waits_for;
    void (*body)(void *);
    void *(*thread_body)(void *);
    void *context;
} task;

enum { task_limit = 128, process_limit = 64 };
#define never UINT64_MAX

extern sim_plan plan;
extern sim_report report;
/// The task that is running; NULL outside of `sim_run`, where calls are the system's.
extern task *current;
/// Nanoseconds since the machine was started.
extern uint64_t now;

task *add_task(int process);
task *task_at(int index);
int task_count(void);
/// Ends what a process has, without a step of it.
void kill_process(int process);
/// A chance for other tasks, kills and so on. With `gives_way` the present task goes on only if no other one can.
void step(bool gives_way);
/// Lets nothing come in between before the present task's next call has ended, and that call succeed.
void hurry(void);
/// The time of the clock of file times and dates.
uint64_t date(void);
/// The time of a clock that advances in ticks.
uint64_t coarse(uint64_t time);

/// The first step of a call.
void begin_call(const char *name, uint64_t first, uint64_t second);
/// The last step of a call, which returns the result and sets the error number.
long end_call(long result, int code, const char *note);
/// The code with which the present call is to fail; 0 if it isn't.
int planned_failure(int code);

// disk.c, files.c

typedef struct inode inode;

typedef struct {
    char name[48];
    inode *node;
} directory_entry;

/// What was written to a file or made of its size, in order, and may not be on the disk yet.
typedef struct {
    bool is_truncation;
    /// Whether it is on the disk, and only waits for one before it that was lost.
    bool is_synced;
    /// Whether the system takes it for written, after a sync that failed.
    bool is_lost;
    uint64_t offset, size;
    uint8_t *bytes;
} file_change;

/// What happened to the names in a directory: one is another file's or nobody's, and another one may be gone at once.
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
    /// The open file that has the lock.
    void *lock;
    /// The one that has the lock of `fcntl`.
    void *turnstile;
    /// How many syncs have failed.
    uint32_t sync_errors;
    /// The number that the real file has, once it is known.
    uint64_t real_number;

    // Of a file, as processes see it and as it is on the disk.
    uint8_t *bytes, *disk_bytes;
    uint64_t size, capacity, disk_size;
    file_change *changes;
    int change_count;
    bool has_lost_changes;

    // Of a directory, likewise.
    directory_entry *entries, *disk_entries;
    int entry_count, disk_entry_count;
    name_change *name_changes;
    int name_change_count;
    /// What it has become by the loss of power.
    inode *after_loss;
};

/// An open file, which descriptors share.
typedef struct {
    inode *node;
    int references;
    /// How many of the file's failed syncs it has reported.
    uint32_t sync_errors;
    /// Its descriptor on the real file system that mirrors this one.
    int real;
} open_file;

extern inode *root;

void begin_files(void);
inode *add_inode(bool is_directory);
directory_entry *find_entry(inode *directory, const char *name, size_t length);
inode *find_path(const char *path);
void set_entry(directory_entry **entries, int *count, const char *name, inode *node);
void close_files(int process);
// The same calls on a real file system; a code that isn't 0 is that of a call that fails.

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
/// Shows a changed part of a file where processes have mapped it.
void show_change(inode *node, uint64_t start, uint64_t end);
/// Shows that a file has lost pages: they read as ones.
void show_lost_pages(inode *node, uint64_t start, uint64_t end);
void remove_mappings(int process);

void begin_disk(void);
void note_file_change(inode *node, bool is_truncation, uint64_t offset, const void *bytes, uint64_t size);
void note_name_change(inode *directory, const char *name, inode *node, const char *removed);
/// Writes all names of a directory to the disk.
void sync_names(inode *directory);
/// Writes a file to the disk, as far as the system knows that it has to.
void sync_file(inode *node);
/// What a failed sync leaves: what wasn't on the disk is taken for written.
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
