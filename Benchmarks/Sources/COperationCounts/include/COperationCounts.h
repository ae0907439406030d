#ifndef C_OPERATION_COUNTS_H
#define C_OPERATION_COUNTS_H

/// Counts of a thread between two points.
struct operation_counts {
    long allocations;
    long system_calls;
    long bytes_written;
};

/// Whether allocations and system calls can be counted on this system.
int operation_counts_available(void);

/// Runs a program and counts the system calls of its first thread between the points that it marks.
///
/// The argument is the program's path and its arguments, followed by a null pointer. The result is the exit status, or
/// -1 if the program could not be run and traced.
int operation_counts_run(char *const arguments[]);

/// Begins to count, on the first thread of a program that `operation_counts_run` runs.
void operation_counts_begin(void);

/// The counts of the thread since `operation_counts_begin`; `system_calls` is -1 if the program is not traced.
struct operation_counts operation_counts_end(void);

#endif
