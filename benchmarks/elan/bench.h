/* Common parts of the benchmarks: the base, the clock, command line sizes, table lines. */
#ifndef BENCH_H
#define BENCH_H

#include <elan/elan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Repetitions that are measured, after those that are not. */
enum { REPEATS = 20, FIRST = 2 };

static ELAN_BASE *base;
static ELAN_STATE *state;
static unsigned me, all;

static inline void begin(void)
{
    base = elan_baseInit(0);
    state = base->state;
    me = state->vp;
    all = state->nvp;
    if (me == 0)
        puts("what,bytes,us,MBps");
}

static inline double now_us(void)
{
    return (double)elan_clock(state) / 1e3;
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

#endif
