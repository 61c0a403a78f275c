/* Disk calls below one directory that fail, are cut short, or are a process's last: to be preloaded (LD_PRELOAD).

   DISK_FAULT="AT:WHAT:LASTING:PREFIX" in the environment of a process arms it. Its AT-th call on a path below PREFIX fails
   with errno WHAT; WHAT may also be "kill" (the process dies instead of making the call), "short" (a write takes half of
   what it was given) or "none". LASTING is 1 where each later call that changes something fails too, as on a full disk.
   DISK_CALLS names a file to which each such call is appended as "name path". DISK_SYNC=lies: fsync does nothing. */

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int armed, at, number, kills, is_short, lasting, calls, log_fd = -1;
static char prefix[PATH_MAX];
static size_t prefix_length;

static int is_armed(void)
{
    const char *fault, *log;
    char what[16];
    int place = 0;

    if (armed)
        return 1;
    fault = getenv("DISK_FAULT");
    if (!fault || sscanf(fault, "%d:%15[^:]:%d:%n", &at, what, &lasting, &place) < 3)
        return 0;
    snprintf(prefix, sizeof prefix, "%s", fault + place);
    prefix_length = strlen(prefix);
    kills = !strcmp(what, "kill");
    is_short = !strcmp(what, "short");
    number = atoi(what);
    log = getenv("DISK_CALLS");
    if (log)
        log_fd = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    armed = 1;
    return 1;
}

static int is_ours(const char *path)
{
    return !strncmp(path, prefix, prefix_length) && (path[prefix_length] == '/' || !path[prefix_length]);
}

static int path_of(int fd, const char *name, char *path)
{
    char link[64];
    ssize_t length;

    if (name && name[0] == '/') {
        snprintf(path, PATH_MAX, "%s", name);
        return 1;
    }
    if (fd == AT_FDCWD)
        snprintf(link, sizeof link, "/proc/self/cwd");
    else
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = syscall(SYS_readlink, link, path, PATH_MAX - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    if (name && *name && (size_t)length + strlen(name) + 2 < PATH_MAX) {
        strcat(path, "/");
        strcat(path, name);
    }
    return 1;
}

/* 0: make the call. 1: it failed, errno is set. 2: do half of it. */
static int fault(const char *call, int changes, int fd, const char *name)
{
    static __thread char path[PATH_MAX], line[PATH_MAX + 64];
    int now, kept = errno;

    if (!is_armed() || !path_of(fd, name, path) || !is_ours(path)) {
        errno = kept;
        return 0;
    }
    now = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    if (log_fd >= 0) {
        int length = snprintf(line, sizeof line, "%s %s\n", call, path);
        syscall(SYS_write, log_fd, line, length);
    }
    errno = kept;
    if (now != at && !(lasting && changes && now > at))
        return 0;
    if (kills)
        syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    if (is_short)
        return 2;
    if (number) {
        errno = number;
        return 1;
    }
    return 0;
}

static int sync_lies(void)
{
    const char *how = getenv("DISK_SYNC");
    return how && !strcmp(how, "lies");
}

#define REAL(name, type) ((type)dlsym(RTLD_NEXT, name))
#define LOOK(call, result, failed, parameters, types, given, changes, fd, name)                                        \
    result call parameters                                                                                            \
    {                                                                                                                  \
        static result(*real) types;                                                                                    \
        if (!real)                                                                                                     \
            real = REAL(#call, result(*) types);                                                                       \
        if (fault(#call, changes, fd, name) == 1)                                                                      \
            return failed;                                                                                             \
        return real given;                                                                                             \
    }

#define OPEN(call)                                                                                                     \
    int call(const char *name, int flags, ...)                                                                         \
    {                                                                                                                  \
        static int (*real)(const char *, int, ...);                                                                    \
        va_list more;                                                                                                  \
        mode_t mode;                                                                                                   \
        va_start(more, flags);                                                                                         \
        mode = va_arg(more, int);                                                                                      \
        va_end(more);                                                                                                  \
        if (!real)                                                                                                     \
            real = REAL(#call, int (*)(const char *, int, ...));                                                       \
        if (fault("open", flags & (O_WRONLY | O_RDWR | O_CREAT), AT_FDCWD, name) == 1)                                 \
            return -1;                                                                                                 \
        return real(name, flags, mode);                                                                                \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(call)                                                                                                   \
    int call(int fd, const char *name, int flags, ...)                                                                 \
    {                                                                                                                  \
        static int (*real)(int, const char *, int, ...);                                                               \
        va_list more;                                                                                                  \
        mode_t mode;                                                                                                   \
        va_start(more, flags);                                                                                         \
        mode = va_arg(more, int);                                                                                      \
        va_end(more);                                                                                                  \
        if (!real)                                                                                                     \
            real = REAL(#call, int (*)(int, const char *, int, ...));                                                  \
        if (fault("open", flags & (O_WRONLY | O_RDWR | O_CREAT), fd, name) == 1)                                       \
            return -1;                                                                                                 \
        return real(fd, name, flags, mode);                                                                            \
    }
OPENAT(openat)
OPENAT(openat64)

#define WRITE(call, parameters, types, given, half)                                                                    \
    ssize_t call parameters                                                                                            \
    {                                                                                                                  \
        static ssize_t(*real) types;                                                                                   \
        int what;                                                                                                      \
        if (!real)                                                                                                     \
            real = REAL(#call, ssize_t(*) types);                                                                      \
        what = fault("write", 1, fd, NULL);                                                                            \
        if (what == 1)                                                                                                 \
            return -1;                                                                                                 \
        return what == 2 && size > 1 ? real half : real given;                                                         \
    }
WRITE(write, (int fd, const void *from, size_t size), (int, const void *, size_t), (fd, from, size), (fd, from, size / 2))
WRITE(pwrite, (int fd, const void *from, size_t size, off_t place), (int, const void *, size_t, off_t),
      (fd, from, size, place), (fd, from, size / 2, place))
WRITE(pwrite64, (int fd, const void *from, size_t size, off_t place), (int, const void *, size_t, off_t),
      (fd, from, size, place), (fd, from, size / 2, place))

LOOK(read, ssize_t, -1, (int fd, void *to, size_t size), (int, void *, size_t), (fd, to, size), 0, fd, NULL)
LOOK(pread, ssize_t, -1, (int fd, void *to, size_t size, off_t place), (int, void *, size_t, off_t), (fd, to, size, place),
     0, fd, NULL)
LOOK(pread64, ssize_t, -1, (int fd, void *to, size_t size, off_t place), (int, void *, size_t, off_t),
     (fd, to, size, place), 0, fd, NULL)
LOOK(ftruncate, int, -1, (int fd, off_t size), (int, off_t), (fd, size), 1, fd, NULL)
LOOK(ftruncate64, int, -1, (int fd, off_t size), (int, off_t), (fd, size), 1, fd, NULL)
LOOK(flock, int, -1, (int fd, int how), (int, int), (fd, how), 0, fd, NULL)
LOOK(fchmod, int, -1, (int fd, mode_t mode), (int, mode_t), (fd, mode), 1, fd, NULL)
LOOK(chmod, int, -1, (const char *name, mode_t mode), (const char *, mode_t), (name, mode), 1, AT_FDCWD, name)
LOOK(fstat, int, -1, (int fd, struct stat *to), (int, struct stat *), (fd, to), 0, fd, NULL)
LOOK(fstat64, int, -1, (int fd, struct stat64 *to), (int, struct stat64 *), (fd, to), 0, fd, NULL)
LOOK(stat, int, -1, (const char *name, struct stat *to), (const char *, struct stat *), (name, to), 0, AT_FDCWD, name)
LOOK(stat64, int, -1, (const char *name, struct stat64 *to), (const char *, struct stat64 *), (name, to), 0, AT_FDCWD, name)
LOOK(lstat, int, -1, (const char *name, struct stat *to), (const char *, struct stat *), (name, to), 0, AT_FDCWD, name)
LOOK(lstat64, int, -1, (const char *name, struct stat64 *to), (const char *, struct stat64 *), (name, to), 0, AT_FDCWD,
     name)
LOOK(fstatat, int, -1, (int fd, const char *name, struct stat *to, int how), (int, const char *, struct stat *, int),
     (fd, name, to, how), 0, fd, name)
LOOK(fstatat64, int, -1, (int fd, const char *name, struct stat64 *to, int how), (int, const char *, struct stat64 *, int),
     (fd, name, to, how), 0, fd, name)
LOOK(opendir, DIR *, NULL, (const char *name), (const char *), (name), 0, AT_FDCWD, name)
LOOK(fdopendir, DIR *, NULL, (int fd), (int), (fd), 0, fd, NULL)
LOOK(readdir, struct dirent *, NULL, (DIR * from), (DIR *), (from), 0, dirfd(from), NULL)
LOOK(readdir64, struct dirent64 *, NULL, (DIR * from), (DIR *), (from), 0, dirfd(from), NULL)
LOOK(rename, int, -1, (const char *from, const char *to), (const char *, const char *), (from, to), 1, AT_FDCWD, to)
LOOK(renameat, int, -1, (int from_fd, const char *from, int fd, const char *to), (int, const char *, int, const char *),
     (from_fd, from, fd, to), 1, fd, to)
LOOK(link, int, -1, (const char *from, const char *to), (const char *, const char *), (from, to), 1, AT_FDCWD, to)
LOOK(linkat, int, -1, (int from_fd, const char *from, int fd, const char *to, int how),
     (int, const char *, int, const char *, int), (from_fd, from, fd, to, how), 1, fd, to)
LOOK(symlink, int, -1, (const char *from, const char *to), (const char *, const char *), (from, to), 1, AT_FDCWD, to)
LOOK(unlink, int, -1, (const char *name), (const char *), (name), 1, AT_FDCWD, name)
LOOK(unlinkat, int, -1, (int fd, const char *name, int how), (int, const char *, int), (fd, name, how), 1, fd, name)
LOOK(rmdir, int, -1, (const char *name), (const char *), (name), 1, AT_FDCWD, name)
LOOK(mkdir, int, -1, (const char *name, mode_t mode), (const char *, mode_t), (name, mode), 1, AT_FDCWD, name)
LOOK(mkdirat, int, -1, (int fd, const char *name, mode_t mode), (int, const char *, mode_t), (fd, name, mode), 1, fd, name)
LOOK(utimensat, int, -1, (int fd, const char *name, const struct timespec when[2], int how),
     (int, const char *, const struct timespec *, int), (fd, name, when, how), 1, fd, name)

#define SYNC(call)                                                                                                     \
    int call(int fd)                                                                                                   \
    {                                                                                                                  \
        static int (*real)(int);                                                                                       \
        if (!real)                                                                                                     \
            real = REAL(#call, int (*)(int));                                                                          \
        if (fault("fsync", 1, fd, NULL) == 1)                                                                          \
            return -1;                                                                                                 \
        return sync_lies() ? 0 : real(fd);                                                                             \
    }
SYNC(fsync)
SYNC(fdatasync)

#define LOCK(call)                                                                                                     \
    int call(int fd, int what, ...)                                                                                    \
    {                                                                                                                  \
        static int (*real)(int, int, ...);                                                                             \
        va_list more;                                                                                                  \
        void *given;                                                                                                   \
        va_start(more, what);                                                                                          \
        given = va_arg(more, void *);                                                                                  \
        va_end(more);                                                                                                  \
        if (!real)                                                                                                     \
            real = REAL(#call, int (*)(int, int, ...));                                                                \
        if ((what == F_SETLK || what == F_SETLKW || what == F_GETLK) && fault("fcntl", 0, fd, NULL) == 1)              \
            return -1;                                                                                                 \
        return real(fd, what, given);                                                                                  \
    }
LOCK(fcntl)
LOCK(fcntl64)

int close(int fd)
{
    static int (*real)(int);
    int failed, why;

    if (!real)
        real = REAL("close", int (*)(int));
    failed = fault("close", 0, fd, NULL) == 1; /* Linux has closed it whatever it says */
    why = errno;
    if (failed) {
        real(fd);
        errno = why;
        return -1;
    }
    return real(fd);
}
