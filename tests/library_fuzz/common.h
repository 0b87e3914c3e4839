/* Common parts for both libraries: memory with known contents, and its record. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static unsigned char *heap, fixed[SIZE] __attribute__((aligned(64))),
    own[SIZE] __attribute__((aligned(64)));
static volatile uint64_t signals[SIGNALS];
static int me, all, records;

static inline void fill(void)
{
    unsigned char *regions[] = {heap, fixed, own};

    for (unsigned region = 0; region < 3; region++)
        for (unsigned i = 0; i < SIZE; i++)
            regions[region][i] =
                (unsigned char)((unsigned)me * 37 + region * 101 + i * 13 + (i >> 8) * 7 + 1);
    char path[4096];
    snprintf(path, sizeof path, "%s/%d", getenv("FUZZ_RECORDS"), me);
    records = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (records < 0)
        abort();
}

static inline void append(void)
{
    if (write(records, heap, SIZE) != SIZE || write(records, fixed, SIZE) != SIZE ||
        write(records, own, SIZE) != SIZE)
        abort();
}

static inline void delay(long microseconds)
{
    struct timespec time = {0, microseconds * 1000};

    nanosleep(&time, NULL);
}

static inline void await_by_loop(int number)
{
    while (!signals[number])
        ;
}
