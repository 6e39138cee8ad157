/* Loaded into every process of `make test-hard`: its calendar is ahead of that of the machine by the seconds in
 * the file that OTHER_CLOCK names, which all processes share, so a change reaches them at once. Waits are
 * measured on the monotonic clock, which stays as it is. libfaketime changes that one's sleeps too, and Python's
 * then fail. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct shared { int64_t ahead, began; };
static volatile struct shared none, *shared = &none;

/* Python calls this for a process that gets a file of its own. */
void other_clock_use(const char *path) {
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *read = mmap(NULL, sizeof(struct shared), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (read != MAP_FAILED) shared = read;
}

__attribute__((constructor)) static void begin(void) { other_clock_use(getenv("OTHER_CLOCK")); }

int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, clock, now);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += shared->ahead;
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    int failed = syscall(SYS_gettimeofday, now, zone);
    if (!failed) now->tv_sec += shared->ahead;
    return failed;
}

time_t time(time_t *kept) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (kept) *kept = now.tv_sec;
    return now.tv_sec;
}

/* What the run has written since it began is of its calendar; the sources and their bytecode are older. */
static int moved(int failed, struct stat *file) {
    if (failed || !shared->began) return failed;
    if (file->st_mtime >= shared->began) file->st_mtime += shared->ahead;
    if (file->st_ctime >= shared->began) file->st_ctime += shared->ahead;
    return failed;
}

int fstatat(int folder, const char *restrict path, struct stat *restrict file, int flags) {
    return moved(syscall(SYS_newfstatat, folder, path, file, flags), file);
}
int stat(const char *restrict path, struct stat *restrict file) { return fstatat(AT_FDCWD, path, file, 0); }
int lstat(const char *restrict path, struct stat *restrict file) {
    return fstatat(AT_FDCWD, path, file, AT_SYMLINK_NOFOLLOW);
}
int fstat(int number, struct stat *file) { return moved(syscall(SYS_fstat, number, file), file); }
int stat64(const char *path, struct stat64 *file) { return stat(path, (struct stat *)file); }
int lstat64(const char *path, struct stat64 *file) { return lstat(path, (struct stat *)file); }
int fstat64(int number, struct stat64 *file) { return fstat(number, (struct stat *)file); }
int fstatat64(int folder, const char *path, struct stat64 *file, int flags) {
    return fstatat(folder, path, (struct stat *)file, flags);
}

int utimensat(int folder, const char *path, const struct timespec times[2], int flags) {
    struct timespec back[2];
    if (!times) return syscall(SYS_utimensat, folder, path, NULL, flags);
    for (int which = 0; which < 2; which++) {
        back[which] = times[which];
        if (back[which].tv_sec >= shared->began) back[which].tv_sec -= shared->ahead;
    }
    return syscall(SYS_utimensat, folder, path, back, flags);
}
