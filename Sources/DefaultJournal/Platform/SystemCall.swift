/// The system calls that the engine makes, by the name they have in an error message.
package enum SystemCall: String, Sendable, CaseIterable {
    case open, fstat, stat, pread, pwrite, lseek, ftruncate, fsync, fdatasync
    case rename, unlink, mkdir, opendir, getcwd, readlink, chmod
    case flock, fcntl, mmap, malloc
    case pthreadCreate = "pthread_create"
    case inotifyInit = "inotify_init1"
    case inotifyAddWatch = "inotify_add_watch"
}
