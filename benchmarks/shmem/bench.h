/* Common parts of the benchmarks: the clock, command line sizes, table lines. */
#ifndef BENCH_H
#define BENCH_H

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Repetitions that are measured, after two that are not. */
enum { REPEATS = 20 };

static inline double now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* The size named by a command line word, such as 64B, 4KB or 1MB (factor 1,024). */
static inline size_t size_of(const char *text)
{
    char *unit;
    size_t size = strtoul(text, &unit, 10);
    return *unit == 'K' ? size << 10 : *unit == 'M' ? size << 20 : size;
}

/* A line: the measured operation, its bytes, and the mean time. */
static inline void line(const char *what, size_t size, double us)
{
    printf("%s,%zu,%.3f,%.1f\n", what, size, us, (double)size / us);
}

static inline void head(void)
{
    puts("what,bytes,us,MBps");
}

#endif
