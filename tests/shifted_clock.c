/* A wall clock that is ahead or behind: to be preloaded (LD_PRELOAD).

   CLOCK_OFFSET_NS in the environment of a process is added to whatever it asks of the wall clock. It is looked up each time,
   so that a process may set it for itself. The monotonic clocks, sleeping, waiting and the times of files are left alone. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define SECOND_NS 1000000000LL

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static void shift(struct timespec *at)
{
    const char *offset = getenv("CLOCK_OFFSET_NS");
    long long ns;

    if (!offset)
        return;
    ns = at->tv_sec * SECOND_NS + at->tv_nsec + strtoll(offset, NULL, 10);
    at->tv_sec = ns / SECOND_NS;
    at->tv_nsec = ns % SECOND_NS;
}

int clock_gettime(clockid_t clock, struct timespec *at)
{
    static int (*real)(clockid_t, struct timespec *);
    int failed;

    if (!real) {
        void *found = next("clock_gettime");
        memcpy(&real, &found, sizeof real);
    }
    failed = real(clock, at);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        shift(at);
    return failed;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone)
{
    struct timespec now;
    int failed = clock_gettime(CLOCK_REALTIME, &now);

    (void)zone;
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return failed;
}

time_t time(time_t *at)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (at)
        *at = now.tv_sec;
    return now.tv_sec;
}
