/* A wall clock that is ahead, for a program that this is preloaded into.
 *
 * Every way to ask for CLOCK_REALTIME through the C library adds the nanoseconds that stand in the
 * file $TOUCHSTONE_CLOCK, eight bytes in the machine's order, mapped so that a change is seen at
 * once. The monotonic clock is left alone, as it is when somebody sets a machine's date.
 *
 * libfaketime was tried first: it also wraps every timed wait, and a JVM under it needs 40 s to
 * print four lines.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int (*asked)(clockid_t, struct timespec *);
static const volatile long long *ahead;

__attribute__((constructor)) static void open_clock(void) {
    const char *path = getenv("TOUCHSTONE_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    asked = dlsym(RTLD_NEXT, "clock_gettime");
    if (file >= 0) {
        void *at = mmap(0, sizeof *ahead, PROT_READ, MAP_SHARED, file, 0);
        if (at != MAP_FAILED) ahead = at;
        close(file);
    }
}

int clock_gettime(clockid_t which, struct timespec *now) {
    if (!asked) asked = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = asked(which, now);
    if (!failed && ahead && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) {
        long long sum = now->tv_sec * 1000000000LL + now->tv_nsec + *ahead;
        now->tv_sec = sum / 1000000000LL;
        now->tv_nsec = sum % 1000000000LL;
    }
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    (void)zone;
    struct timespec exact;
    int failed = clock_gettime(CLOCK_REALTIME, &exact);
    if (!failed && now) {
        now->tv_sec = exact.tv_sec;
        now->tv_usec = exact.tv_nsec / 1000;
    }
    return failed;
}

time_t time(time_t *now) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (now) *now = exact.tv_sec;
    return exact.tv_sec;
}
