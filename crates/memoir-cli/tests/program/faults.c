// A file system that fails on demand, for LD_PRELOAD. FAULT says how and FAULT_AFTER how many calls go well
// first. Only regular files beyond standard output and error are concerned.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int calls;

static int due(const char *fault, int fd) {
    const char *wanted = getenv("FAULT"), *after = getenv("FAULT_AFTER");
    struct stat about;
    if (!wanted || strcmp(wanted, fault) || fd <= 2 || fstat(fd, &about) || !S_ISREG(about.st_mode)) return 0;
    return __sync_fetch_and_add(&calls, 1) >= (after ? atoi(after) : 0);
}

#define REAL(name, ...) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))(__VA_ARGS__)

ssize_t write(int fd, const void *bytes, size_t size) {
    if (due("full", fd)) return errno = ENOSPC, -1;
    if (size > 1 && due("short-writes", fd)) size /= 2;
    return REAL(write, fd, bytes, size);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (due("full", fd)) return errno = ENOSPC, -1;
    return REAL(writev, fd, parts, count);
}

ssize_t read(int fd, void *bytes, size_t size) {
    if (due("unreadable", fd)) return errno = EIO, -1;
    if (size > 1 && due("short-reads", fd)) size = size > 64 ? size / 3 : 1;
    return REAL(read, fd, bytes, size);
}

int fsync(int fd) { return due("unsynced", fd) ? (errno = EIO, -1) : REAL(fsync, fd); }

int fdatasync(int fd) { return due("unsynced", fd) ? (errno = EIO, -1) : REAL(fdatasync, fd); }
