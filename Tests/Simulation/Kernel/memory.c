#include "kernel.h"

#include <sys/mman.h>

// A run never releases its memory: the next run begins at the start of the same memory.

enum { arena_size = 64 << 20 };
static uint8_t *arena, *arena_next;

void begin_memory(void) {
    if (!arena) {
        arena = mmap(NULL, arena_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    arena_next = arena;
}

void *take(size_t size) {
    size = (size + 15) & ~(size_t)15;
    if (size > (size_t)(arena + arena_size - arena_next)) {
        fprintf(stderr, "The simulation's memory is used up.\n");
        abort();
    }
    void *memory = arena_next;
    arena_next += size;
    return memset(memory, 0, size);
}

bool is_taken(const void *memory) {
    return (const uint8_t *)memory >= arena && (const uint8_t *)memory < arena + arena_size;
}
