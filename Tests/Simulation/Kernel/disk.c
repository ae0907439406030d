#include "kernel.h"

// The content of the disk, and the choice of what a loss of power leaves of the rest.
//
// A sync writes the changes before it. Of unsynced changes any part may be on the disk: single sectors of a write,
// later writes without earlier ones, names in any order. After a failed sync the system believes that nothing is left
// to write (https://lwn.net/Articles/752063/), and reports the failure once to each open file.

enum { sector_size = 512 };
static inode *inodes;
static uint64_t inode_count;

void begin_disk(void) {
    inodes = NULL;
    inode_count = 0;
    root = add_inode(true);
}

inode *add_inode(bool is_directory) {
    inode *node = take(sizeof *node);
    node->number = ++inode_count;
    node->is_directory = is_directory;
    node->links = 1;
    node->modified = node->changed = coarse(date());
    node->next = inodes;
    inodes = node;
    return node;
}

// Applies a change to the content of the disk.
static void write_to_disk(inode *node, bool is_truncation, uint64_t offset, const uint8_t *bytes, uint64_t size) {
    const uint64_t end = offset + size, old_size = node->disk_size;
    node->disk_size = is_truncation ? offset : end > old_size ? end : old_size;
    if (node->disk_size > old_size) {
        uint8_t *larger = take(node->disk_size);
        if (old_size) memcpy(larger, node->disk_bytes, old_size);
        node->disk_bytes = larger;
    }
    if (!is_truncation) memcpy(node->disk_bytes + offset, bytes, size);
}

static void write_name_to_disk(inode *directory, const name_change *change) {
    set_entry(&directory->disk_entries, &directory->disk_entry_count, change->name, change->node);
    if (*change->removed) set_entry(&directory->disk_entries, &directory->disk_entry_count, change->removed, NULL);
}

void note_file_change(inode *node, bool is_truncation, uint64_t offset, const void *bytes, uint64_t size) {
    GROW(node->changes, node->change_count);
    file_change *change = &node->changes[node->change_count++];
    *change = (file_change){ .is_truncation = is_truncation, .offset = offset, .size = size };
    if (size) change->bytes = memcpy(take(size), bytes, size);
}

void note_name_change(inode *directory, const char *name, inode *node, const char *removed) {
    GROW(directory->name_changes, directory->name_change_count);
    name_change *change = &directory->name_changes[directory->name_change_count++];
    snprintf(change->name, sizeof change->name, "%s", name);
    snprintf(change->removed, sizeof change->removed, "%s", removed);
    change->node = node;
}

void sync_names(inode *directory) {
    for (int index = 0; index < directory->name_change_count; index++) {
        write_name_to_disk(directory, &directory->name_changes[index]);
    }
    directory->name_change_count = 0;
}

void sync_file(inode *node) {
    for (int index = 0; index < node->change_count; index++) {
        file_change *change = &node->changes[index];
        // Changes that a failed sync lost may reach the disk before or after those synced now, which is decided only at
        // the loss of power.
        if (node->has_lost_changes) {
            if (!change->is_lost) change->is_synced = true;
        } else {
            write_to_disk(node, change->is_truncation, change->offset, change->bytes, change->size);
        }
    }
    if (!node->has_lost_changes) node->change_count = 0;
}

void lose_changes(inode *node) {
    for (int index = 0; index < node->change_count; index++) {
        if (!node->changes[index].is_synced) node->changes[index].is_lost = node->has_lost_changes = true;
    }
    node->sync_errors++;
}

// The unsynced changes that remain: none, all, or each part by its own decision.
typedef enum { NOTHING, EVERYTHING, PARTS, LOSS_COUNT = 4 } loss;

static bool is_left(loss loss) { return loss == EVERYTHING || (loss >= PARTS && sim_choose(2) == 1); }

static void decide_what_is_left(inode *node, loss loss) {
    for (int index = 0; index < node->name_change_count; index++) {
        if (is_left(loss)) write_name_to_disk(node, &node->name_changes[index]);
    }
    // Changes that remain are applied in the order of the calls. Each sector of a write is decided separately, since a
    // disk writes only sectors atomically.
    for (int index = 0; index < node->change_count; index++) {
        const file_change *change = &node->changes[index];
        if (change->is_truncation) {
            if (change->is_synced || is_left(loss)) write_to_disk(node, true, change->offset, NULL, 0);
            continue;
        }
        for (uint64_t done = 0, size; done < change->size; done += size) {
            const uint64_t offset = change->offset + done;
            size = sector_size - offset % sector_size;
            if (size > change->size - done) size = change->size - done;
            if (change->is_synced || is_left(loss)) write_to_disk(node, false, offset, change->bytes + done, size);
        }
    }
}

// Makes the inode that processes find after a loss of power, without names.
static inode *read_from_disk(const inode *node) {
    inode *new = add_inode(node->is_directory);
    new->changed = new->modified = node->modified;
    new->size = new->disk_size = node->disk_size;
    new->capacity = whole_pages(node->disk_size);
    if (node->disk_size) {
        new->bytes = memcpy(take(new->capacity), node->disk_bytes, node->disk_size);
        new->disk_bytes = memcpy(take(node->disk_size), node->disk_bytes, node->disk_size);
    }
    return new;
}

void sim_lose_power(void) {
    const loss loss = sim_choose(LOSS_COUNT);
    inode *before = inodes;
    inodes = NULL;
    // Restarting takes a minute, so that all files are old by then.
    now += 60000000000u;
    for (inode *node = before; node; node = node->next) decide_what_is_left(node, loss);
    for (inode *node = before; node; node = node->next) node->after_loss = read_from_disk(node);
    for (inode *node = before; node; node = node->next) {
        for (int index = 0; index < node->disk_entry_count; index++) {
            const directory_entry *entry = &node->disk_entries[index];
            inode *new = node->after_loss, *target = entry->node->after_loss;
            set_entry(&new->entries, &new->entry_count, entry->name, target);
            set_entry(&new->disk_entries, &new->disk_entry_count, entry->name, target);
        }
    }
    root = root->after_loss;
}

static void visit_image(
    const inode *node, const char *node_name, const char *name,
    void (*body)(const void *bytes, size_t size, void *context), void *context
) {
    if (!node || strcmp(node_name, name) != 0) return;
    if (!node->has_lost_changes) return body(node->disk_bytes, node->disk_size, context);
    // What was synced after a failed sync is there, and what that lost is not.
    inode image = *node;
    if (node->disk_size) image.disk_bytes = memcpy(take(node->disk_size), node->disk_bytes, node->disk_size);
    for (int index = 0; index < node->change_count; index++) {
        const file_change *change = &node->changes[index];
        if (!change->is_synced) continue;
        write_to_disk(&image, change->is_truncation, change->offset, change->bytes, change->size);
    }
    body(image.disk_bytes, image.disk_size, context);
}

void sim_for_each_image(
    const char *directory, const char *name,
    void (*body)(const void *bytes, size_t size, void *context), void *context
) {
    const inode *node = find_path(directory);
    if (!node) return;
    for (int index = 0; index < node->disk_entry_count; index++) {
        visit_image(node->disk_entries[index].node, node->disk_entries[index].name, name, body, context);
    }
    for (int index = 0; index < node->name_change_count; index++) {
        visit_image(node->name_changes[index].node, node->name_changes[index].name, name, body, context);
    }
}
