#include "kernel.h"

#include <sys/mman.h>

// The parts of files that processes have mapped: copies that follow each write to the file.

typedef struct {
    uint8_t *memory;
    const inode *node;
    uint64_t offset, size;
    int process;
} mapping;

enum { mapping_limit = 256, range_limit = 64, range_size = 8 << 20 };
static mapping mappings[mapping_limit];
static int mapping_count;
static uint8_t *ranges[range_limit];
static int range_count;

void begin_mappings(void) {
    mapping_count = 0;
    range_count = 0;
}

static void show(const mapping *mapping, uint64_t start, uint64_t end) {
    if (start < mapping->offset) start = mapping->offset;
    if (end > mapping->offset + mapping->size) end = mapping->offset + mapping->size;
    if (end > whole_pages(mapping->node->size)) end = whole_pages(mapping->node->size);
    if (start < end) memcpy(mapping->memory + (start - mapping->offset), mapping->node->bytes + start, end - start);
}

void show_change(inode *node, uint64_t start, uint64_t end) {
    for (int index = 0; index < mapping_count; index++) {
        if (mappings[index].node == node) show(&mappings[index], start, end);
    }
}

static void show_ones(const mapping *mapping, uint64_t start, uint64_t end) {
    for (uint64_t page = start; page < end; page += page_size) {
        if (page < mapping->offset || page >= mapping->offset + mapping->size) continue;
        memset(mapping->memory + (page - mapping->offset), 0xFF, page_size);
    }
}

void show_lost_pages(inode *node, uint64_t start, uint64_t end) {
    for (int index = 0; index < mapping_count; index++) {
        if (mappings[index].node == node) show_ones(&mappings[index], start, end);
    }
}

static void remove_mapping(const void *memory) {
    for (int index = 0; index < mapping_count; index++) {
        if (mappings[index].memory != memory) continue;
        mappings[index] = mappings[--mapping_count];
        return;
    }
}

void remove_mappings(int process) {
    for (int index = mapping_count - 1; index >= 0; index--) {
        if (mappings[index].process == process) mappings[index] = mappings[--mapping_count];
    }
}

void *__real_default_reserve_guarded_memory(size_t);
void *__wrap_default_reserve_guarded_memory(size_t size) {
    if (!current) return __real_default_reserve_guarded_memory(size);
    if (size > range_size || range_count == range_limit) abort();
    if (!ranges[range_count]) {
        ranges[range_count] =
            mmap(NULL, range_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    return ranges[range_count++];
}

bool __real_default_has_coherent_mappings(int);
bool __wrap_default_has_coherent_mappings(int descriptor) {
    if (!is_simulated(descriptor)) return __real_default_has_coherent_mappings(descriptor);
    return !plan.has_no_mappings;
}

bool __real_default_map_guarded(void *, size_t, int, uint64_t);
bool __wrap_default_map_guarded(void *memory, size_t size, int descriptor, uint64_t offset) {
    if (!is_simulated(descriptor)) return __real_default_map_guarded(memory, size, descriptor, offset);
    begin_call("map", offset, size);
    const int code = planned_failure(ENOMEM);
    if (code) return end_call(false, code, "");
    remove_mapping(memory);
    if (mapping_count == mapping_limit) abort();
    mapping *mapping = &mappings[mapping_count++];
    mapping->memory = memory;
    mapping->node = open_file_of(descriptor)->node;
    mapping->offset = offset;
    mapping->size = size;
    mapping->process = sim_process();
    show(mapping, offset, offset + size);
    const uint64_t end = whole_pages(mapping->node->size);
    // The page behind the end reads as ones, as the engine's fault handler makes it.
    show_ones(mapping, end, end + page_size);
    return end_call(true, 0, "");
}

bool __real_default_map_ones(void *, size_t);
bool __wrap_default_map_ones(void *memory, size_t size) {
    if (!current) return __real_default_map_ones(memory, size);
    remove_mapping(memory);
    memset(memory, 0xFF, 8);
    return true;
}
