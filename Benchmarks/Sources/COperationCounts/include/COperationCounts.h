#ifndef C_OPERATION_COUNTS_H
#define C_OPERATION_COUNTS_H

/// What a thread did between two points.
struct operation_counts {
    long allocations;
    long system_calls;
    long bytes_written;
};

/// Whether allocations and system calls can be counted on this system.
int operation_counts_available(void);

/// Runs a program and counts the system calls of its first thread where it asks for it.
///
/// The program's path and its arguments, which end with a null pointer. The result is its exit status; -1 if it could not
/// be run and traced.
int operation_counts_run(char *const arguments[]);

/// In a program that `operation_counts_run` runs, on its first thread: begins to count.
void operation_counts_begin(void);

/// What the thread did since `operation_counts_begin`; `system_calls` is -1 if the program is not traced.
struct operation_counts operation_counts_end(void);

#endif
