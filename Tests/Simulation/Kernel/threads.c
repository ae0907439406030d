#include "kernel.h"

#include <sched.h>
#include <sys/syscall.h>
#include <time.h>

// Clocks, threads, and the objects that they wait for. The simulation's mutex lies in the memory of the C library's.

typedef struct {
    /// The number of the task that has it, or 0.
    int32_t owner;
    int32_t depth;
    bool is_recursive;
} mutex;

// Clocks

int __real_clock_gettime(clockid_t, struct timespec *);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time) {
    if (!current) return __real_clock_gettime(clock, time);
    const bool is_date = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    const bool is_coarse = clock == CLOCK_REALTIME_COARSE || clock == CLOCK_MONOTONIC_COARSE;
    uint64_t nanoseconds = is_date ? date() : now;
    if (is_coarse) nanoseconds = coarse(nanoseconds);
    *time = (struct timespec){ (time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000) };
    return 0;
}

static uint64_t nanoseconds(const struct timespec *time) {
    return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
}

int __real_nanosleep(const struct timespec *, struct timespec *);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest) {
    if (!current) return __real_nanosleep(time, rest);
    current->wakes_at = now + nanoseconds(time) + lateness();
    current->state = SLEEPS;
    step(true);
    return 0;
}

// Threads

int __real_sched_yield(void);
int __wrap_sched_yield(void) {
    if (!current) return __real_sched_yield();
    step(true);
    return 0;
}

int __real_sched_getcpu(void);
int __wrap_sched_getcpu(void) { return current ? current->id : __real_sched_getcpu(); }

pthread_t __real_pthread_self(void);
pthread_t __wrap_pthread_self(void) { return current ? (pthread_t)current->id : __real_pthread_self(); }

int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *context) {
    if (!current) return __real_pthread_create(thread, attributes, body, context);
    task *task = add_task(current->process);
    task->thread_body = body;
    task->context = context;
    *thread = (pthread_t)task->id;
    return 0;
}

int __real_pthread_setname_np(pthread_t, const char *);
int __wrap_pthread_setname_np(pthread_t thread, const char *name) {
    return current ? 0 : __real_pthread_setname_np(thread, name);
}

// Mutexes

static int32_t owner_number(void) { return current ? current->id : INT32_MAX; }

int __wrap_pthread_mutex_init(pthread_mutex_t *memory, const pthread_mutexattr_t *attributes) {
    mutex *mutex = (void *)memory;
    int type = PTHREAD_MUTEX_NORMAL;
    if (attributes) pthread_mutexattr_gettype(attributes, &type);
    memset(memory, 0, sizeof *memory);
    mutex->is_recursive = type == PTHREAD_MUTEX_RECURSIVE;
    return 0;
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *memory) {
    (void)memory;
    return 0;
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *memory) {
    mutex *mutex = (void *)memory;
    if (mutex->owner && !(mutex->is_recursive && mutex->owner == owner_number())) return EBUSY;
    mutex->owner = owner_number();
    mutex->depth++;
    return 0;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *memory) {
    const mutex *mutex = (void *)memory;
    if (plan.has_mutex_steps && mutex->owner != owner_number()) sim_step("mutex");
    while (__wrap_pthread_mutex_trylock(memory) != 0) {
        if (!current) abort();
        current->state = WAITS_FOR_MUTEX;
        current->waits_for = memory;
        step(true);
    }
    return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *memory) {
    mutex *mutex = (void *)memory;
    if (--mutex->depth == 0) mutex->owner = 0;
    return 0;
}

// Conditions

int __wrap_pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes) {
    (void)attributes;
    memset(condition, 0, sizeof *condition);
    return 0;
}

int __wrap_pthread_cond_destroy(pthread_cond_t *condition) {
    (void)condition;
    return 0;
}

static void wake(pthread_cond_t *condition, bool wakes_all) {
    task *waiting[task_limit];
    uint32_t count = 0;
    for (int index = 0; index < task_count(); index++) {
        task *task = task_at(index);
        if (task->state == WAITS_FOR_CONDITION && task->waits_for == condition) waiting[count++] = task;
    }
    if (!wakes_all && count > 1) {
        waiting[0] = waiting[sim_choose(count)];
        count = 1;
    }
    for (uint32_t index = 0; index < count; index++) waiting[index]->state = CAN_RUN;
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition) {
    wake(condition, false);
    return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *condition) {
    wake(condition, true);
    return 0;
}

static int wait_until(uint64_t deadline, pthread_cond_t *condition, pthread_mutex_t *memory) {
    if (!current) abort();
    __wrap_pthread_mutex_unlock(memory);
    current->state = WAITS_FOR_CONDITION;
    current->waits_for = condition;
    current->wakes_at = deadline;
    step(true);
    // The scheduler has cleared the field if the time was over before a signal.
    const bool is_late = current->waits_for == NULL;
    __wrap_pthread_mutex_lock(memory);
    return is_late ? ETIMEDOUT : 0;
}

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *memory) {
    return wait_until(never, condition, memory);
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *memory, const struct timespec *time) {
    return wait_until(nanoseconds(time), condition, memory);
}

// Unoptimized code draws its random numbers inside a library of Swift, which calls this.

void swift_stdlib_random(void *, size_t);

ssize_t getrandom(void *buffer, size_t size, unsigned flags) {
    if (!current) return syscall(SYS_getrandom, buffer, size, flags);
    swift_stdlib_random(buffer, size);
    return (ssize_t)size;
}
