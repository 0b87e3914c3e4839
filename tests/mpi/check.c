/* See check.h. */
#include "check.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rank, ranks, order_shown = 1;

static const uint64_t EMPTY = 0xCBF29CE484222325ULL;
static uint64_t own_digest = 0xCBF29CE484222325ULL;

void check_begin(int *argc, char ***argv, int least)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int place = 1; place < *argc; place++)
        if (strcmp((*argv)[place], "--no-order") == 0)
            order_shown = 0;
    require(ranks >= least, "there must be %d processes or more, not %d", least, ranks);
}

int check_end(void)
{
    fflush(stdout);
    MPI_Finalize();
    return 0;
}

void require(int condition, const char *format, ...)
{
    if (condition)
        return;
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fprintf(stderr, "error: rank %d: %s\n", rank, message);
    fflush(NULL);
    MPI_Abort(MPI_COMM_WORLD, 1);
    _Exit(1); /* should MPI_Abort return */
}

static void line(const char *format, va_list arguments)
{
    if (rank > 0)
        return;
    vprintf(format, arguments);
    putchar('\n');
    fflush(stdout);
}

void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    line(format, arguments);
    va_end(arguments);
}

void say_order(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (order_shown)
        line(format, arguments);
    va_end(arguments);
}

uint64_t key_of(int from, int to, int number)
{
    return (uint64_t)from << 40 | (uint64_t)to << 16 | (uint64_t)number;
}

/* The eight bytes at a place in a key's content (splitmix64). */
static uint64_t word_at(uint64_t key, size_t place)
{
    uint64_t word = key * 0x9E3779B97F4A7C15ULL + (place + 1) * 0xD1B54A32D192ED03ULL;
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9ULL;
    word = (word ^ word >> 27) * 0x94D049BB133111EBULL;
    return word ^ word >> 31;
}

void fill(void *memory, size_t size, uint64_t key)
{
    unsigned char *bytes = memory;
    for (size_t place = 0; place < size; place++)
        bytes[place] = (unsigned char)(word_at(key, place / 8) >> place % 8 * 8);
}

void expect(const void *memory, size_t size, uint64_t key, const char *what)
{
    const unsigned char *bytes = memory;
    for (size_t place = 0; place < size; place++) {
        unsigned char right = (unsigned char)(word_at(key, place / 8) >> place % 8 * 8);
        require(bytes[place] == right, "%s: byte %zu of %zu is %02x, not %02x", what, place, size,
                bytes[place], right);
    }
    digest(memory, size);
}

void digest(const void *memory, size_t size)
{
    const unsigned char *bytes = memory; /* FNV-1a */
    for (size_t place = 0; place < size; place++)
        own_digest = (own_digest ^ bytes[place]) * 0x100000001B3ULL;
}

void section(const char *name)
{
    uint64_t *all = malloc(sizeof *all * (size_t)ranks);
    require(all != NULL, "there is no memory for %d digests", ranks);
    MPI_Gather(&own_digest, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    own_digest = EMPTY;
    if (rank == 0) {
        digest(all, sizeof *all * (size_t)ranks);
        say("%s %016llx", name, (unsigned long long)own_digest);
        own_digest = EMPTY;
    }
    free(all);
    say_order("  at %.9f s", MPI_Wtime());
}
