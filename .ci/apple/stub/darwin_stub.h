// What the sources use of the C library on Apple platforms, written from its documented interface. Above each group is the
// manual page (section 2 or 3 of macOS) or the part of POSIX that it is known from. Sizes and types are those of 64-bit
// macOS. The headers themselves were not consulted.
#ifndef DARWIN_STUB_H
#define DARWIN_STUB_H
#include <stdint.h>
#include <stddef.h>
#include <stdarg.h>
#pragma clang assume_nonnull begin

// POSIX <sys/types.h>, with macOS's sizes
typedef int32_t dev_t;
typedef uint64_t ino_t;
typedef uint16_t mode_t;
typedef uint16_t nlink_t;
typedef uint32_t uid_t;
typedef uint32_t gid_t;
typedef int64_t off_t;
typedef int64_t blkcnt_t;
typedef int32_t blksize_t;
typedef int32_t pid_t;
typedef long ssize_t;
typedef long time_t;
typedef uint32_t useconds_t;
typedef uint32_t sigset_t;

// POSIX <time.h>
struct timespec { time_t tv_sec; long tv_nsec; };
struct tm {
    int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
    long tm_gmtoff;
    char *_Null_unspecified tm_zone;
};
// stat(2), with 64-bit inodes
struct stat {
    dev_t st_dev; mode_t st_mode; nlink_t st_nlink; ino_t st_ino; uid_t st_uid; gid_t st_gid; dev_t st_rdev;
    struct timespec st_atimespec, st_mtimespec, st_ctimespec, st_birthtimespec;
    off_t st_size; blkcnt_t st_blocks; blksize_t st_blksize; uint32_t st_flags; uint32_t st_gen;
    int32_t st_lspare; int64_t st_qspare[2];
};
// dir(5), directory(3)
struct dirent { uint64_t d_ino; uint64_t d_seekoff; uint16_t d_reclen; uint16_t d_namlen; uint8_t d_type; char d_name[1024]; };
typedef struct { int __dd_fd; long __dd_loc; } DIR;

// clock_gettime(3), gmtime(3), time(3)
typedef enum { _CLOCK_REALTIME = 0, _CLOCK_MONOTONIC = 6 } clockid_t;
int clock_gettime(clockid_t clock, struct timespec *time);
time_t time(time_t *_Nullable);
struct tm *_Null_unspecified gmtime_r(const time_t *, struct tm *);
size_t strftime(char *_Null_unspecified, size_t, const char *_Null_unspecified, const struct tm *_Null_unspecified);

// pthread(3), pthread_mutex_lock(3), pthread_cond_wait(3), pthread_create(3), pthread_sigmask(2), sigsetops(3)
struct _opaque_pthread_t { long sig; void *_Nullable cleanup; char opaque[8176]; };
struct _opaque_pthread_attr_t { long sig; char opaque[56]; };
struct _opaque_pthread_mutex_t { long sig; char opaque[56]; };
struct _opaque_pthread_mutexattr_t { long sig; char opaque[8]; };
struct _opaque_pthread_cond_t { long sig; char opaque[40]; };
struct _opaque_pthread_condattr_t { long sig; char opaque[8]; };
typedef struct _opaque_pthread_t *pthread_t;
typedef struct _opaque_pthread_attr_t pthread_attr_t;
typedef struct _opaque_pthread_mutex_t pthread_mutex_t;
typedef struct _opaque_pthread_mutexattr_t pthread_mutexattr_t;
typedef struct _opaque_pthread_cond_t pthread_cond_t;
typedef struct _opaque_pthread_condattr_t pthread_condattr_t;
#define PTHREAD_MUTEX_NORMAL 0
#define PTHREAD_MUTEX_ERRORCHECK 1
#define PTHREAD_MUTEX_RECURSIVE 2
#define PTHREAD_CREATE_JOINABLE 1
#define PTHREAD_CREATE_DETACHED 2
int pthread_mutex_init(pthread_mutex_t *, const pthread_mutexattr_t *_Nullable);
int pthread_mutex_destroy(pthread_mutex_t *);
int pthread_mutex_lock(pthread_mutex_t *);
int pthread_mutex_trylock(pthread_mutex_t *);
int pthread_mutex_unlock(pthread_mutex_t *);
int pthread_mutexattr_init(pthread_mutexattr_t *);
int pthread_mutexattr_settype(pthread_mutexattr_t *, int);
int pthread_mutexattr_destroy(pthread_mutexattr_t *);
int pthread_cond_init(pthread_cond_t *, const pthread_condattr_t *_Nullable);
int pthread_cond_destroy(pthread_cond_t *);
int pthread_cond_signal(pthread_cond_t *);
int pthread_cond_broadcast(pthread_cond_t *);
int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *);
int pthread_cond_timedwait(pthread_cond_t *, pthread_mutex_t *, const struct timespec *_Nullable);
int pthread_cond_timedwait_relative_np(pthread_cond_t *, pthread_mutex_t *, const struct timespec *_Nullable);
int pthread_condattr_init(pthread_condattr_t *);
int pthread_condattr_destroy(pthread_condattr_t *);
int pthread_attr_init(pthread_attr_t *);
int pthread_attr_destroy(pthread_attr_t *);
int pthread_attr_setdetachstate(pthread_attr_t *, int);
int pthread_create(pthread_t _Nullable *_Nonnull, const pthread_attr_t *_Nullable, void *_Nullable (*_Nonnull)(void *), void *_Nullable);
pthread_t pthread_self(void);
int pthread_setname_np(const char *);
int pthread_sigmask(int, const sigset_t *_Nullable, sigset_t *_Nullable);
int sigfillset(sigset_t *);
int sigdelset(sigset_t *, int);
#define SIGBUS 10
#define SIG_BLOCK 1
#define SIG_UNBLOCK 2
#define SIG_SETMASK 3
// sched_yield(2), usleep(3), nanosleep(2)
int sched_yield(void);
int usleep(useconds_t);
int nanosleep(const struct timespec *, struct timespec *_Nullable);

// open(2), fcntl(2), flock(2), mmap(2): the values are part of the system's binary interface
#define O_RDONLY 0x0000
#define O_WRONLY 0x0001
#define O_RDWR 0x0002
#define O_NONBLOCK 0x0004
#define O_NOFOLLOW 0x0100
#define O_CREAT 0x0200
#define O_TRUNC 0x0400
#define O_EXCL 0x0800
#define O_DIRECTORY 0x00100000
#define O_CLOEXEC 0x01000000
#define AT_FDCWD (-2)
#define AT_SYMLINK_NOFOLLOW 0x0020
#define AT_REMOVEDIR 0x0080
#define F_FULLFSYNC 51
#define F_DUPFD_CLOEXEC 67
#define F_BARRIERFSYNC 85
#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8
#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_ANON 0x1000
#define MAP_ANONYMOUS MAP_ANON
// open(2), fcntl(2): variadic functions, which Swift does not see; Darwin.swift has what it sees instead.
int open(const char *, int, ...);
int openat(int, const char *, int, ...);
int fcntl(int, int, ...);
// close(2), read(2), write(2), ftruncate(2), fsync(2), flock(2), stat(2), mkdir(2), rename(2), unlink(2)
int close(int);
#define STDERR_FILENO 2
ssize_t read(int, void *_Null_unspecified, size_t);
ssize_t write(int, const void *_Null_unspecified, size_t);
ssize_t pread(int, void *_Null_unspecified, size_t, off_t);
ssize_t readlink(const char *, char *, size_t);
ssize_t pwrite(int, const void *_Null_unspecified, size_t, off_t);
int ftruncate(int, off_t);
int fsync(int);
struct flock { off_t l_start, l_len; pid_t l_pid; short l_type, l_whence; };
int flock(int, int);
int fstat(int, struct stat *_Null_unspecified);
int stat(const char *_Null_unspecified, struct stat *_Null_unspecified);
int fstatat(int, const char *_Null_unspecified, struct stat *_Null_unspecified, int);
int mkdir(const char *_Null_unspecified, mode_t);
int rename(const char *, const char *);
int renameat(int, const char *, int, const char *);
int unlink(const char *);
int unlinkat(int, const char *, int);
// lseek(2)
off_t lseek(int, off_t, int);
#define SEEK_END 2
// directory(3), getcwd(3), getuid(2), getpid(2), mmap(2), malloc(3), strerror(3), memcpy(3), exit(3), atexit(3), getenv(3)
DIR *_Null_unspecified fdopendir(int);
struct dirent *_Null_unspecified readdir(DIR *_Null_unspecified);
int closedir(DIR *_Null_unspecified);
char *_Null_unspecified getcwd(char *_Null_unspecified, size_t);
uid_t geteuid(void);
uid_t getuid(void);
pid_t getpid(void);
int atexit(void (*)(void));
void *_Null_unspecified mmap(void *_Null_unspecified, size_t, int, int, int, off_t);
int munmap(void *_Null_unspecified, size_t);
void *_Null_unspecified malloc(size_t);
void free(void *_Null_unspecified);
char *_Null_unspecified strerror(int);
void *_Null_unspecified memcpy(void *_Null_unspecified, const void *_Null_unspecified, size_t);
void *_Null_unspecified memchr(const void *_Null_unspecified, int, size_t);
int memcmp(const void *_Null_unspecified, const void *_Null_unspecified, size_t);
int *_Nonnull __error(void);
_Noreturn void exit(int);
char *_Null_unspecified getenv(const char *);
// stdio(3)
typedef struct __sFILE FILE;
int fflush(FILE *_Nullable);
extern FILE *__stderrp;
#define stderr __stderrp
size_t fwrite(const void *_Null_unspecified, size_t, size_t, FILE *);
// Called by nothing; declared so that a mistaken use of them is found by its symbol: getattrlist(2), statfs(2), statvfs(3)
struct statfs { uint32_t f_bsize; uint64_t f_blocks, f_bfree, f_bavail; };
int statfs(const char *, struct statfs *);

// intro(2)
#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define EIO 5
#define ENXIO 6
#define EBADF 9
#define ENOMEM 12
#define EACCES 13
#define EEXIST 17
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define ENFILE 23
#define EMFILE 24
#define ENOTTY 25
#define EFBIG 27
#define ENOSPC 28
#define EROFS 30
#define EMLINK 31
#define EAGAIN 35
#define EWOULDBLOCK EAGAIN
#define ENOTSUP 45
#define ENOSYS 78
#define ELOOP 62
#define EDQUOT 69
#define EOPNOTSUPP 102
#pragma clang assume_nonnull end
#endif
