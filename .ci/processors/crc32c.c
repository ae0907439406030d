// Compares the processor's instruction for CRC-32C, where the library uses it, with a table made here from the polynomial, at
// every offset and length up to 400 bytes; and checks that the atomics of the header do what they say.
#include "CDefaultSystem.h"

#include <stdio.h>

static uint32_t table[256];

static void make_table(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t value = byte;
        for (int bit = 0; bit < 8; bit++) {
            value = (value >> 1) ^ (value & 1 ? 0x82F63B78 : 0);
        }
        table[byte] = value;
    }
}

static uint32_t by_table(uint32_t state, const unsigned char *bytes, size_t count) {
    for (; count > 0; bytes++, count--) {
        state = (state >> 8) ^ table[(state ^ *bytes) & 0xFF];
    }
    return state;
}

/// A kernel that knows of no instruction, for a build in which this is called instead of `getauxval`.
unsigned long reported(unsigned long type);

unsigned long reported(unsigned long type) {
    (void)type;
    return 0;
}

static int check_atomics(void) {
    _Alignas(8) uint64_t word = 5;
    int wrong = default_atomic_exchange(&word, 7) != 5;
    default_atomic_add(&word, UINT64_MAX);
    wrong += default_atomic_load(&word) != 6;
    default_atomic_add(&word, 3);
    wrong += default_atomic_load(&word) != 9;
    default_atomic_store(&word, 3);
    wrong += word != 3;
    return wrong;
}

int main(void) {
    if (check_atomics() != 0) {
        puts("The atomics are wrong.");
        return 1;
    }
    make_table();
    if (~by_table(~0u, (const unsigned char *)"123456789", 9) != 0xE3069283) {
        puts("The table is wrong.");
        return 1;
    }
    if (!default_crc32c_is_in_hardware()) {
        puts("no instruction");
        return 0;
    }
    _Alignas(8) unsigned char bytes[8 + 400];
    uint32_t random = 1;
    for (size_t index = 0; index < sizeof bytes; index++) {
        random = random * 1664525 + 1013904223;
        bytes[index] = random >> 24;
    }
    int cases = 0;
    for (size_t offset = 0; offset < 8; offset++) {
        for (size_t length = 0; length < 400; length++, cases++) {
            uint32_t expected = by_table(~0u, bytes + offset, length);
            uint32_t found = default_crc32c_in_hardware(~0u, bytes + offset, length);
            if (found != expected) {
                printf("offset %zu, length %zu: %08x, not %08x\n", offset, length, found, expected);
                return 1;
            }
        }
    }
    printf("%d cases by the instruction\n", cases);
    return 0;
}
