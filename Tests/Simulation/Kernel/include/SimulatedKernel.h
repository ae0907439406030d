#ifndef SIMULATED_KERNEL_H
#define SIMULATED_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A simulated machine below whole engines: files, a disk, locks, clocks and threads, one step at a time.
//
// Simulated processes are groups of tasks, which are coroutines of this one process. The linker has the engine call the functions of
// this kernel in place of the system's. Before and after each call the kernel decides which task goes on. Everything that isn't
// determined is a decision, and the decisions of a run are all that has to be known to repeat it.

/// What a run is given beside its decisions.
typedef struct {
    /// From which decisions are made.
    uint64_t seed;
    /// The decisions of a run that is repeated, after which each is 0; NULL to make new ones.
    const uint32_t *_Nullable decisions;
    size_t decision_count;
    /// Of so many chances to switch, a task lets one pass on average; 1 for a free choice at each.
    uint32_t stickiness;
    /// Whether taking a mutex is a step, as it has to be where a process has several threads.
    bool has_mutex_steps;
    /// The steps at which the running process is killed, up to eight; 0 for none.
    uint32_t kills[8];
    /// The steps at which the running task is stopped for up to a second, up to four; 0 for none.
    uint32_t stops[4];
    /// The step at which the power is lost; 0 for none.
    uint32_t power_loss;
    /// One of so many calls that can fail does; 0 for none.
    uint32_t failures;
    /// Whether the clock of file times is set, by up to an hour.
    bool has_clock_steps;
    /// Whether a new directory's name has to be synced to stay. Linux's file systems with a journal of their own
    /// soon write it anyhow.
    bool forgets_directories;
    /// Whether the file system's mappings don't show each write, so that the engine looks at sizes.
    bool has_no_mappings;
    /// Whether each step is printed.
    bool is_logged;
} sim_plan;

/// What happened in a run.
typedef struct {
    uint64_t steps, calls, switches, failed_calls, kills, kills_in_write, refused_locks;
    /// Of all calls and their results: the same for the same run.
    uint64_t hash;
    size_t decisions;
    /// Calls that gave something else on the real file system.
    uint64_t mirror_differences;
} sim_report;

typedef enum { SIM_ENDED, SIM_POWER_LOST, SIM_STUCK } sim_outcome;

/// Begins a run, with a disk that is empty.
void sim_begin(const sim_plan *_Nonnull plan);
/// Has all calls on files made in a directory of the real file system too, from the next run on.
void sim_mirror(const char *_Nonnull directory);
/// Adds a process without a task.
int sim_add_process(void);
/// Adds a task to a process.
///
/// - Parameter is_essential: Whether a run lasts until it has ended.
void sim_add_task(int process, bool is_essential, void (*_Nonnull body)(void *_Nonnull), void *_Nonnull context);
/// Runs until all essential tasks have ended, the power is lost, or no task can go on.
sim_outcome sim_run(void);
/// Makes the disk what a loss of power leaves of it. No task goes on.
void sim_lose_power(void);
/// Decides for a number below `count`.
uint32_t sim_choose(uint32_t count);
/// A step of a task, without a call.
void sim_step(const char *_Nonnull name);
/// The process whose task is running; -1 outside of `sim_run`.
int sim_process(void);
/// Has nothing killed, stopped or refused from now on, or again as planned.
void sim_spare(bool is_spared);
/// Has the power lost after so many steps, unless a loss is planned.
void sim_lose_power_after(uint32_t steps);

/// Gives each process a word of its own at an address, 0 at first, for all runs.
void sim_add_process_word(uint64_t *_Nonnull word);
/// Sets what is called, outside of any task, when a process was killed.
void sim_on_kill(void (*_Nonnull handler)(void));
/// Sets what is called, in the task that renames, after each rename.
void sim_on_rename(void (*_Nonnull handler)(void));

const sim_report *_Nonnull sim_current_report(void);
/// As many as the report says.
const uint32_t *_Nullable sim_decisions(void);

/// Calls a function for each content that a file may have after a loss of power at this moment, of which nothing is there that isn't
/// surely on the disk: one for each file that may have the name then.
void sim_for_each_image(
    const char *_Nonnull directory, const char *_Nonnull name,
    void (*_Nonnull body)(const void *_Nullable bytes, size_t size, void *_Nonnull context), void *_Nonnull context);

#endif
