#ifndef CDEFAULTPROCESSOR_H
#define CDEFAULTPROCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Whether this processor computes CRC-32C itself.
bool default_crc32c_is_in_hardware(void);

/// Takes bytes into the state of a CRC-32C (not inverted), with the processor's instruction for it.
///
/// Only to be called where `default_crc32c_is_in_hardware` says so.
uint32_t default_crc32c_in_hardware(uint32_t state, const void *_Nonnull bytes, size_t count);

/// The number of the processor that the calling thread runs on at this moment; negative where the system doesn't report it.
///
/// With glibc 2.35 and later a look into the thread's own memory.
int default_processor_number(void);

#endif
