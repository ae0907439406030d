/// The system calls that the engine makes, by the name they have in an error message.
package enum SystemCall: String, Sendable, CaseIterable {
    case open
    case fstat
    case stat
    case pread
    case pwrite
    case lseek
    case ftruncate
    case fsync
    case fdatasync
    case rename
    case unlink
    case mkdir
    case flock
    case mmap
    case opendir
    case getcwd
    case malloc
    case pthreadCreate = "pthread_create"
    case inotifyInit = "inotify_init1"
    case inotifyAddWatch = "inotify_add_watch"
}
