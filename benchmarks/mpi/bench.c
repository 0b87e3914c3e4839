/* See bench.h. */
#define _POSIX_C_SOURCE 199309L /* nanosleep */
#include "bench.h"

#include <ctype.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void fail(const char *format, ...)
{
    /* Mostly all ranks fail alike: rank 0 goes first, so that no rank is ended in the middle of its
     * message. */
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct timespec second = {1, 0}, moment = {0, 100000000};
    if (rank > 0)
        nanosleep(&second, NULL);
    char message[512], line[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    snprintf(line, sizeof line, "error: %s\n", message);
    fputs(line, stderr);
    fflush(NULL);
    nanosleep(&moment,
              NULL); /* a launcher that is notified of the end first may drop the message */
    MPI_Abort(MPI_COMM_WORLD, 2);
    abort(); /* MPI_Abort does not return */
}

static void help(const char *program, const char *about, const struct option *options, int count)
{
    printf("%s: %s\n", program, about);
    for (int index = 0; index < count; index++)
        printf("  --%-12s %s (%s)\n", options[index].name, options[index].meaning,
               options[index].value);
}

void bench_begin(int *argc, char ***argv, const char *about, struct option *options, int count)
{
    MPI_Init(argc, argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int place = 1; place < *argc; place++) {
        const char *word = (*argv)[place];
        if (strcmp(word, "--help") == 0) {
            if (rank == 0)
                help((*argv)[0], about, options, count);
            MPI_Finalize();
            exit(0);
        }
        int found = -1;
        for (int index = 0; index < count; index++)
            if (strncmp(word, "--", 2) == 0 && strcmp(word + 2, options[index].name) == 0)
                found = index;
        if (found < 0)
            fail("there is no option %s; --help lists them", word);
        if (place + 1 == *argc)
            fail("%s needs a value: %s", word, options[found].meaning);
        options[found].value = (*argv)[++place];
    }
}

int bench_end(void)
{
    fflush(stdout);
    MPI_Finalize();
    return 0;
}

int option_parts(const struct option *option)
{
    int parts = 1;
    for (const char *letter = option->value; *letter; letter++)
        parts += *letter == ',';
    return parts;
}

/* A number and its unit, a factor in the list; the list ends with an empty name, for numbers
 * without unit. */
struct unit {
    const char *name;
    double factor;
};

static double quantity(const struct option *option, int part, const struct unit *units,
                       const char *example)
{
    const char *text = option->value;
    for (; part > 0; part--)
        text = strchr(text, ',') + 1;
    size_t length = strcspn(text, ",");
    char *end;
    double number = strtod(text, &end);
    while (isspace((unsigned char)*end))
        end++;
    size_t rest = (size_t)(text + length - end);
    for (const struct unit *unit = units; end > text && end <= text + length; unit++) {
        if (strlen(unit->name) == rest && strncmp(unit->name, end, rest) == 0 && number >= 0)
            return number * unit->factor;
        if (unit->factor == 0)
            break;
    }
    fail("--%s %.*s is not understood; write it as in %s", option->name, (int)length, text,
         example);
    return 0;
}

size_t option_size(const struct option *option, int part)
{
    static const struct unit units[] = {{"KB", 1024}, {"MB", 1024 * 1024}, {"B", 1}, {"", 0}};
    double size = quantity(option, part, units, "0B, 4KB or 1MB");
    if (size > 1 << 30)
        fail("--%s: more than 1024MB", option->name);
    return (size_t)size;
}

double option_time(const struct option *option, int part)
{
    static const struct unit units[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"", 0}};
    return quantity(option, part, units, "0us, 50us or 1ms");
}

long option_count(const struct option *option)
{
    char *end;
    long count = strtol(option->value, &end, 10);
    if (end == option->value || *end || count < 1)
        fail("--%s %s is no number of at least 1", option->name, option->value);
    return count;
}

char *buffer(size_t size)
{
    size_t bytes = size ? size : 1;
    char *memory = malloc(bytes);
    if (!memory)
        fail("there is no memory for %zu bytes", bytes);
    memset(memory, 1, bytes);
    return memory;
}

void compute_iterations(long iterations)
{
    /* A chain of dependent operations in registers. A value that the compiler cannot predict, and
     * has to store, keeps it from removing the chain. */
    static volatile double factor = 0.999999, result;
    double multiplier = factor, number = 0.5;
    for (long iteration = 0; iteration < iterations; iteration++)
        number = number * multiplier + 0.000001;
    result = number;
    (void)result;
}

double compute_rate(void)
{
    static double rate = -1;
    enum { RUNS = 200, ITERATIONS = 20000 };
    if (rate >= 0)
        return rate;
    rate = 0;
    for (int run = 0; run < RUNS; run++) {
        double begin = MPI_Wtime();
        compute_iterations(ITERATIONS);
        double elapsed = MPI_Wtime() - begin;
        if (elapsed > 0 && ITERATIONS / elapsed > rate)
            rate = ITERATIONS / elapsed;
    }
    return rate;
}

void compute(double seconds)
{
    if (seconds <= 0)
        return;
    double rate = compute_rate();
    if (rate > 0) {
        compute_iterations((long)(seconds * rate));
    } else {
        struct timespec time = {(time_t)seconds,
                                (long)((seconds - (double)(time_t)seconds) * 1e9 + 0.5)};
        nanosleep(&time, NULL);
    }
}

uint64_t sequence(int rank)
{
    return 0x9E3779B97F4A7C15ULL * (uint64_t)(rank + 1);
}

uint64_t draw(uint64_t *state)
{
    /* xorshift64* */
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717ULL;
}

static int ascending(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

struct summary summarise(double *sample, long count)
{
    qsort(sample, (size_t)count, sizeof *sample, ascending);
    double sum = 0;
    for (long index = 0; index < count; index++)
        sum += sample[index];
    struct summary summary = {
        .mean = sum / (double)count,
        .median = sample[count / 2],
        .p99 = sample[(count - 1) * 99 / 100],
        .largest = sample[count - 1],
    };
    return summary;
}
