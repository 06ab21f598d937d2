// A file system and a clock that fail on demand, for LD_PRELOAD. FAULT says how, FAULT_AFTER how many calls go
// well first, and FAULT_BYTES, for `full`, how many bytes. Only regular files beyond standard output and error
// are concerned.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int calls;
static long long written;

#define REAL(name, ...) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))(__VA_ARGS__)

static int wanted(const char *fault) {
    const char *given = getenv("FAULT");
    return given && !strcmp(given, fault);
}

static int is_due(void) {
    const char *after = getenv("FAULT_AFTER");
    return __sync_fetch_and_add(&calls, 1) >= (after ? atoi(after) : 0);
}

static int is_file(int fd) {
    struct stat about;
    return fd > 2 && !fstat(fd, &about) && S_ISREG(about.st_mode);
}

static int due(const char *fault, int fd) { return wanted(fault) && is_file(fd) && is_due(); }

// How much of `size` bytes still fits, or -1 if nothing does.
static ssize_t fits(int fd, size_t size) {
    const char *limit = getenv("FAULT_BYTES");
    if (!wanted("full") || !is_file(fd)) return size;
    if (!limit) return is_due() ? -1 : (ssize_t)size;
    long long left = atoll(limit) - __sync_fetch_and_add(&written, (long long)size);
    return left <= 0 && size > 0 ? -1 : left < (long long)size ? left : (ssize_t)size;
}

ssize_t write(int fd, const void *bytes, size_t size) {
    ssize_t part = fits(fd, size);
    if (part < 0) return errno = ENOSPC, -1;
    if (size > 1 && due("short-writes", fd)) part = size / 2;
    return REAL(write, fd, bytes, part);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset) {
    ssize_t part = fits(fd, size);
    if (part < 0) return errno = ENOSPC, -1;
    return REAL(pwrite64, fd, bytes, part, offset);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    // As a file system may: only the first part, so that the caller goes on with the rest.
    if (wanted("full") && is_file(fd)) return count > 0 ? write(fd, parts[0].iov_base, parts[0].iov_len) : 0;
    return REAL(writev, fd, parts, count);
}

ssize_t copy_file_range(int in, off64_t *in_offset, int out, off64_t *out_offset, size_t size, unsigned flags) {
    ssize_t part = fits(out, size);
    if (part < 0) return errno = ENOSPC, -1;
    return REAL(copy_file_range, in, in_offset, out, out_offset, part, flags);
}

ssize_t read(int fd, void *bytes, size_t size) {
    if (due("unreadable", fd)) return errno = EIO, -1;
    if (size > 1 && due("short-reads", fd)) size = size > 64 ? size / 3 : 1;
    return REAL(read, fd, bytes, size);
}

ssize_t pread64(int fd, void *bytes, size_t size, off64_t offset) {
    if (due("unreadable", fd)) return errno = EIO, -1;
    return REAL(pread64, fd, bytes, size, offset);
}

int fsync(int fd) { return due("unsynced", fd) ? (errno = EIO, -1) : REAL(fsync, fd); }

int fdatasync(int fd) { return due("unsynced", fd) ? (errno = EIO, -1) : REAL(fdatasync, fd); }

int rename(const char *from, const char *to) {
    return wanted("unnamed") && is_due() ? (errno = EIO, -1) : REAL(rename, from, to);
}

// Only files that are to be written: programs cannot even start without reading some.
int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    if ((flags & O_CREAT) && wanted("no-files") && is_due()) return errno = EMFILE, -1;
    return REAL(open64, path, flags, mode);
}

// The clock of the calendar jumps back by ten years and forth by twenty.
int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = REAL(clock_gettime, clock, now);
    if (clock == CLOCK_REALTIME && wanted("clock")) now->tv_sec += is_due() && calls % 2 ? 315360000 : -315360000;
    return result;
}
