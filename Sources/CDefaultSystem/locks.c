// A lock of an open file that the C library declares on request only.
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "CDefaultSystem.h"

#include <errno.h>
#if defined(__linux__)
#include <fcntl.h>
#include <unistd.h>
#endif

int default_lock_open_file(int file, bool takes) {
#if defined(__linux__)
    struct flock lock = { .l_type = takes ? F_WRLCK : F_UNLCK, .l_whence = SEEK_SET };
    return fcntl(file, F_OFD_SETLK, &lock);
#else
    (void)file, (void)takes;
    errno = ENOTSUP;
    return -1;
#endif
}
