#include "kernel.h"

#include <sys/mman.h>

// Decisions, tasks, and the steps between which the tasks take turns.

sim_plan plan;
sim_report report;
task *current;
uint64_t now;
static int64_t date_offset;

// Decisions

static uint64_t decision_state, salt_state;
static uint32_t *decisions;
static size_t decision_capacity;

// SplitMix64 (Steele, Lea and Flood, 2014).
static uint64_t next_random(uint64_t *state) {
    uint64_t word = (*state += 0x9E3779B97F4A7C15u);
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9u;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBu;
    return word ^ (word >> 31);
}

uint32_t sim_choose(uint32_t count) {
    if (count <= 1) return 0;
    uint32_t choice = 0;
    if (!plan.decisions) {
        choice = (uint32_t)(next_random(&decision_state) >> 33) % count;
    } else if (report.decisions < plan.decision_count) {
        choice = plan.decisions[report.decisions] % count;
    }
    if (report.decisions == decision_capacity) {
        decision_capacity = decision_capacity ? 2 * decision_capacity : 4096;
        decisions = realloc(decisions, decision_capacity * sizeof *decisions);
    }
    decisions[report.decisions++] = choice;
    return choice;
}

const uint32_t *sim_decisions(void) { return decisions; }

const sim_report *sim_current_report(void) { return &report; }

// The source of the standard library's salts and hash seeds: the same for the same seed, whatever is decided.

void swift_stdlib_random(void *buffer, size_t size) {
    for (size_t index = 0; index < size; index++) ((uint8_t *)buffer)[index] = (uint8_t)(next_random(&salt_state) >> 40);
}

// Tasks

enum { stack_size = 512 << 10, word_limit = 16 };
static task tasks[task_limit];
static int tasks_used, process_count;
static bool is_killed[process_limit];
static uint32_t write_count;
static void *outer_stack_pointer;
static sim_outcome outcome;
static bool is_spared;
// The task that goes on without interruption until its next call has ended.
static const task *hurried;
static bool has_hurried_call;
static void (*kill_handler)(void);

// The words that each process has for itself, and their values while it doesn't run. The first values are those outside
// of any process.
extern uint64_t default_forks;
static uint64_t *words[word_limit];
static int word_count;
static uint64_t values[process_limit + 1][word_limit];

void sim_add_process_word(uint64_t *word) { words[word_count++] = word; }

void sim_on_kill(void (*handler)(void)) { kill_handler = handler; }

void sim_spare(bool spared) { is_spared = spared; }

void hurry(void) { hurried = current; }

int sim_process(void) { return current ? current->process : -1; }

task *task_at(int index) { return &tasks[index]; }

int task_count(void) { return tasks_used; }

static void enter(int process) {
    for (int word = 0; word < word_count; word++) *words[word] = values[process + 1][word];
    // Each process counts as a child by `fork`, so that the library creates its state again.
    default_forks = (uint64_t)(process + 1);
}

static void leave(int process) {
    for (int word = 0; word < word_count; word++) values[process + 1][word] = *words[word];
}

// Pushes the registers that a function must preserve, changes to another stack, and pops the registers that were pushed
// there.
void change_stack(void **from, void *to);
__asm__(
    ".text\n"
    ".globl change_stack\n"
    ".type change_stack,@function\n"
    "change_stack:\n"
    "pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
    "movq %rsp,(%rdi)\n"
    "movq %rsi,%rsp\n"
    "popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n"
    "ret\n");

// Switches to a task, or to the code outside of all tasks.
static void go_on(task *next) {
    task *before = current;
    if (before == next) return;
    report.switches++;
    leave(before ? before->process : -1);
    current = next;
    enter(next ? next->process : -1);
    change_stack(before ? &before->stack_pointer : &outer_stack_pointer, next ? next->stack_pointer : outer_stack_pointer);
}

// Switches to the code outside of all tasks; no task goes on by itself.
static void stop(sim_outcome reason) {
    outcome = reason;
    go_on(NULL);
}

static bool can_run(const task *task) {
    switch (task->state) {
    case CAN_RUN: return true;
    case SLEEPS: return task->wakes_at <= now;
    case WAITS_FOR_MUTEX: return *(const int32_t *)task->waits_for == 0;
    case WAITS_FOR_CONDITION: return task->wakes_at <= now;
    default: return false;
    }
}

// Decides which task goes on, and returns when the current task is chosen again.
static void reschedule(bool gives_way) {
    while (true) {
        task *others[task_limit];
        uint32_t other_count = 0;
        bool is_ended = true, can_go_on = false;
        uint64_t first_time = never;
        for (int index = 0; index < tasks_used; index++) {
            task *task = &tasks[index];
            if (task->state == HAS_ENDED || task->state == IS_KILLED) continue;
            if (task->is_essential) is_ended = false;
            if (!can_run(task)) {
                const bool has_time = task->state == SLEEPS || task->state == WAITS_FOR_CONDITION;
                if (has_time && task->wakes_at < first_time) first_time = task->wakes_at;
            } else if (task == current) {
                can_go_on = true;
            } else {
                others[other_count++] = task;
            }
        }
        if (is_ended) return stop(SIM_ENDED);
        if (!can_go_on && other_count == 0) {
            if (first_time == never) return stop(SIM_STUCK);
            // Every task waits, so time jumps to the moment when the first of them wakes up.
            now = first_time;
            continue;
        }
        task *next = current;
        // A task that waits or yields doesn't choose itself. Otherwise the stickiness decides how often to switch: runs
        // with few switches reach deep into one call, runs with many interleave finely.
        if (!can_go_on || (gives_way && other_count > 0)) {
            next = others[sim_choose(other_count)];
        } else if (plan.stickiness == 1 || sim_choose(plan.stickiness) == 1) {
            const uint32_t choice = sim_choose(other_count + 1);
            if (choice > 0) next = others[choice - 1];
        }
        // The task goes on because its time is over, not because it was woken up.
        if (next->state == WAITS_FOR_CONDITION) next->waits_for = NULL;
        next->state = CAN_RUN;
        return go_on(next);
    }
}

static void run_task(void) {
    if (current->thread_body) current->thread_body(current->context); else current->body(current->context);
    current->state = HAS_ENDED;
    reschedule(true);
    // A task that has ended is never chosen again.
    abort();
}

task *add_task(int process) {
    task *task = NULL;
    for (int index = 0; index < tasks_used && !task; index++) {
        // The stack of the task that is just ending is still in use.
        if (tasks[index].state == HAS_ENDED && &tasks[index] != current) task = &tasks[index];
    }
    if (!task) {
        if (tasks_used == task_limit) abort();
        task = &tasks[tasks_used++];
        task->id = tasks_used;
    }
    void *stack = task->stack;
    if (!stack) {
        stack = mmap(NULL, stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    const int id = task->id;
    memset(task, 0, sizeof *task);
    task->state = CAN_RUN;
    task->id = id;
    task->process = process;
    task->wakes_at = never;
    task->stack = stack;
    // The stack as `change_stack` expects it: six registers, the function to return to, and a return address for that.
    void **top = (void **)((uint8_t *)stack + stack_size - 64);
    *--top = NULL;
    *--top = (void *)run_task;
    for (int index = 0; index < 6; index++) *--top = NULL;
    task->stack_pointer = top;
    return task;
}

void sim_add_task(int process, bool is_essential, void (*body)(void *), void *context) {
    task *task = add_task(process);
    task->is_essential = is_essential;
    task->body = body;
    task->context = context;
}

int sim_add_process(void) {
    if (process_count == process_limit) abort();
    is_killed[process_count] = false;
    memset(values[process_count + 1], 0, sizeof values[0]);
    return process_count++;
}

sim_outcome sim_run(void) {
    reschedule(true);
    return outcome;
}

void kill_process(int process) {
    if (is_killed[process]) return;
    is_killed[process] = true;
    for (int index = 0; index < tasks_used; index++) {
        if (tasks[index].process == process && tasks[index].state != HAS_ENDED) tasks[index].state = IS_KILLED;
    }
    close_files(process);
    remove_mappings(process);
}

void sim_begin(const sim_plan *new) {
    begin_memory();
    plan = *new;
    decision_state = plan.seed;
    salt_state = ~plan.seed;
    date_offset = 0;
    memset(&report, 0, sizeof report);
    tasks_used = 0;
    process_count = 0;
    write_count = 0;
    current = NULL;
    is_spared = false;
    hurried = NULL;
    now = 1000000000000u;
    begin_files();
    begin_mirror();
    begin_mappings();
    begin_disk();
}

// Time

uint64_t date(void) { return 1700000000000000000u + (uint64_t)date_offset + now; }

uint64_t coarse(uint64_t time) { return time - time % 4000000; }

// Steps

static const char *step_name = "";
static uint64_t step_arguments[2];

static void log_step(const char *text) {
    const double seconds = (double)(now - 1000000000000u) / 1e9;
    fprintf(stderr, "%6lu %10.6f  %d.%d  %s\n", report.steps, seconds, current->process, current->id, text);
}

static void kill_current_process(void) {
    if (plan.is_logged) log_step("killed");
    report.kills++;
    if (strcmp(step_name, "write") == 0) report.kills_in_write++;
    task *killed = current;
    kill_process(killed->process);
    // The handler runs outside of all processes, so that the successor doesn't share the killed one's words.
    leave(killed->process);
    current = NULL;
    enter(-1);
    if (kill_handler) kill_handler();
    leave(-1);
    current = killed;
    reschedule(true);
    abort();
}

static bool is_planned(const uint32_t *steps, size_t count) {
    for (size_t index = 0; index < count; index++) {
        if (steps[index] == report.steps) return true;
    }
    return false;
}

void sim_lose_power_after(uint32_t steps) {
    if (!plan.power_loss) plan.power_loss = (uint32_t)report.steps + 1 + steps;
}

void step(bool gives_way) {
    if (!current) return;
    report.steps++;
    // No run needs so many steps: the tasks wait for each other in a loop.
    if (report.steps > 2000000) return stop(SIM_STUCK);
    // A call takes less than three microseconds, or occasionally up to two seconds.
    now += 300 + sim_choose(8) * 400;
    if (current == hurried && current->state == CAN_RUN) return;
    if (sim_choose(128) == 1) now += (uint64_t)1000000 << sim_choose(12);
    if (plan.has_clock_steps && sim_choose(256) == 1) {
        date_offset = ((int64_t)sim_choose(7200) - 3600) * 1000000000;
    }
    if (!is_spared) {
        if (is_planned(plan.kills, 8)) kill_current_process();
        if (plan.power_loss == report.steps) {
            if (plan.is_logged) log_step("the power is lost");
            for (int process = 0; process < process_count; process++) kill_process(process);
            return stop(SIM_POWER_LOST);
        }
        if (is_planned(plan.stops, 4)) {
            if (plan.is_logged) log_step("stopped");
            current->state = SLEEPS;
            current->wakes_at = now + 10000000 * (1 + (uint64_t)sim_choose(100));
            gives_way = true;
        }
    }
    reschedule(gives_way);
}

// What a task must not do late may show after a millisecond or after half a second, so all magnitudes have a chance.
uint64_t lateness(void) {
    if (!plan.has_delays || is_spared || current == hurried || sim_choose(4) != 1) return 0;
    return sim_choose(2) == 1 ? sim_choose(1000) * (uint64_t)1000000 : (uint64_t)1000 << sim_choose(20);
}

void delay(void) {
    const uint64_t time = lateness();
    if (time == 0) return;
    current->state = SLEEPS;
    current->wakes_at = now + time;
    step(true);
}

void sim_step(const char *name) {
    step_name = name;
    step(false);
}

static void mix(uint64_t value) {
    report.hash = (report.hash ^ value) * 0x100000001B3u;
    report.hash ^= report.hash >> 29;
}

void begin_call(const char *name, uint64_t first, uint64_t second) {
    report.calls++;
    mix((uint64_t)name[0] << 56 ^ (uint64_t)current->id << 48 ^ first << 20 ^ second);
    has_hurried_call = current == hurried;
    step_name = name;
    step(false);
    step_name = name;
    step_arguments[0] = first;
    step_arguments[1] = second;
}

long end_call(long result, int code, const char *note) {
    mix((uint64_t)result ^ (uint64_t)code << 32);
    if (plan.is_logged) {
        char text[200];
        snprintf(
            text, sizeof text, "%-9s %lu %lu %s -> %ld %s", step_name, step_arguments[0], step_arguments[1], note, result,
            code ? strerrorname_np(code) : "");
        log_step(text);
    }
    if (current == hurried && has_hurried_call) hurried = NULL;
    step(false);
    errno = code;
    return result;
}

bool tears_write(void) {
    if (!plan.torn_write || is_spared || ++write_count != plan.torn_write) return false;
    plan.kills[7] = (uint32_t)report.steps + 1;
    return true;
}

int planned_failure(int code) {
    if (!plan.failures || is_spared || current == hurried || sim_choose(plan.failures) != 1) return 0;
    report.failed_calls++;
    return code;
}
