// Shuts down the file system of a folder: shut-down FOLDER FLAGS [NUMBER COUNTED CREATED]. It prints what was promised
// by then, read as late as possible: the number that one file begins with, and the sizes of two others.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

// Of xfs, and of ext4 by the same number.
#define SHUTDOWN _IOR('X', 125, uint32_t)

int main(int count, char **arguments) {
    if (count != 3 && count != 6) return 64;
    uint32_t flags = (uint32_t)atoi(arguments[2]);
    int folder = open(arguments[1], O_RDONLY | O_DIRECTORY);
    int files[3] = {-1, -1, -1};
    for (int file = 0; file < count - 3; file++) files[file] = open(arguments[3 + file], O_RDONLY);
    int64_t number = 0;
    struct stat counted = {0}, created = {0};
    if (count == 6) {
        if (pread(files[0], &number, sizeof number, 0) != sizeof number || fstat(files[1], &counted) != 0 ||
            fstat(files[2], &created) != 0) {
            perror("What was promised can't be read");
            return 1;
        }
    }
    if (ioctl(folder, SHUTDOWN, &flags) != 0) {
        perror("ioctl");
        return 1;
    }
    printf("%lld %lld %lld\n", (long long)number, (long long)counted.st_size, (long long)created.st_size);
    return 0;
}
