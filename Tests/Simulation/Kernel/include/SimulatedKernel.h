#ifndef SIMULATED_KERNEL_H
#define SIMULATED_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A simulated machine below whole engines: files, a disk, locks, clocks and threads, one step at a time.
//
// Simulated processes are groups of tasks, which are coroutines of this one process. The linker makes the engine call
// the functions of this kernel in place of the system's. Before and after each call the kernel decides which task goes
// on. Everything that isn't determined is a decision, so a run's decisions are all that is needed to repeat it.

/// The settings of a run, beside its decisions.
typedef struct {
    /// The seed of the decisions.
    uint64_t seed;
    /// The decisions to repeat, after which each is 0; NULL to make new ones.
    const uint32_t *_Nullable decisions;
    size_t decision_count;
    /// The number of chances to switch of which a task takes one on average; 1 for a free choice at each chance.
    uint32_t stickiness;
    /// Whether taking a mutex is a step, as it has to be where a process has several threads.
    bool has_mutex_steps;
    /// The steps at which the running process is killed, up to eight; 0 for none.
    uint32_t kills[8];
    /// The number of the write in the middle of which its process is killed; 0 for none.
    uint32_t torn_write;
    /// The steps at which the running task is stopped for up to a second, up to four; 0 for none.
    uint32_t stops[4];
    /// The step at which the power is lost; 0 for none.
    uint32_t power_loss;
    /// The number of calls of which one fails on average, among those that can fail; 0 for none.
    uint32_t failures;
    /// Whether renames, truncations and syncs take up to a second, and sleeps as much longer.
    bool has_delays;
    /// Whether the clock of file times is sometimes changed by up to an hour.
    bool has_clock_steps;
    /// Whether a new directory's name must be synced to last. Linux's journaling file systems write it soon anyway.
    bool forgets_directories;
    /// Whether mappings don't show each write, so that the engine looks at sizes.
    bool has_no_mappings;
    /// Whether each step is printed.
    bool is_logged;
} sim_plan;

/// The events of a run.
typedef struct {
    uint64_t steps, calls, switches, failed_calls, kills, kills_in_write, refused_locks;
    /// A hash of all calls and their results, the same for a repeated run.
    uint64_t hash;
    size_t decisions;
    /// The number of calls with another result on the real file system.
    uint64_t mirror_differences;
} sim_report;

typedef enum { SIM_ENDED, SIM_POWER_LOST, SIM_STUCK } sim_outcome;

/// Begins a run with an empty disk.
void sim_begin(const sim_plan *_Nonnull plan);
/// Repeats all calls on files in a directory of the real file system, from the next run on.
void sim_mirror(const char *_Nonnull directory);
/// Adds a process without a task.
int sim_add_process(void);
/// Adds a task to a process.
///
/// - Parameter is_essential: Whether the run lasts until the task has ended.
void sim_add_task(int process, bool is_essential, void (*_Nonnull body)(void *_Nonnull), void *_Nonnull context);
/// Runs until all essential tasks have ended, the power is lost, or no task can go on.
sim_outcome sim_run(void);
/// Reduces the disk to what a loss of power leaves of it. No task goes on.
void sim_lose_power(void);
/// Decides on a number below `count`.
uint32_t sim_choose(uint32_t count);
/// Makes a step of a task without a call.
void sim_step(const char *_Nonnull name);
/// The process whose task is running; -1 outside of `sim_run`.
int sim_process(void);
/// Turns planned kills, stops and failures off, or on again.
void sim_spare(bool is_spared);
/// Plans a loss of power after this many steps, unless one is planned already.
void sim_lose_power_after(uint32_t steps);

/// Gives each process its own word at an address, which is 0 at first, for all runs.
void sim_add_process_word(uint64_t *_Nonnull word);
/// Sets a function to call, outside any task, when a process was killed.
void sim_on_kill(void (*_Nonnull handler)(void));
/// Sets a function to call after each rename, in the task that renames.
void sim_on_rename(void (*_Nonnull handler)(void));

const sim_report *_Nonnull sim_current_report(void);
/// The decisions so far, as many as the report says.
const uint32_t *_Nullable sim_decisions(void);

/// Calls a function for each content that a file may have after a loss of power at this moment, at its worst: only the
/// part that is certainly on the disk, for each file that may have the name then.
void sim_for_each_image(
    const char *_Nonnull directory, const char *_Nonnull name,
    void (*_Nonnull body)(const void *_Nullable bytes, size_t size, void *_Nonnull context), void *_Nonnull context);

/// Calls a function with the content of an open file as processes see it now, unless another one has replaced it.
void sim_with_content(
    int descriptor, void (*_Nonnull body)(const void *_Nullable bytes, size_t size, void *_Nonnull context),
    void *_Nonnull context);

#endif
