/* Common parts of the benchmarks: options, texts with units, the clock, computation, samples.
 *
 * Times are seconds from MPI_Wtime, sizes bytes, rates 10^6 bytes per second. Results go to
 * standard output as CSV, one line per measurement, from rank 0; errors go to standard error and
 * end all ranks with exit code 2.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>

/* A command line option, --name value. Sizes are written as 4KB or 1MB (factor 1,024), times as
 * 50us or 1ms. */
struct option {
    const char *name;
    const char *meaning;
    enum { SIZE, TIME, COUNT, NAME } kind;
    const char *value; /* the default, and then the given value */
};

/* Starts MPI and reads the `count` options; --help lists them. */
void bench_begin(int *argc, char ***argv, const char *about, struct option *options, int count);

/* Ends the program. */
int bench_end(void);

/* An option's value: with its kind, or one part of a list "a,b,c", counted from 0. */
size_t option_size(const struct option *option, int part);
double option_time(const struct option *option, int part);
long option_count(const struct option *option);

/* Parts of the list. */
int option_parts(const struct option *option);

/* Ends all ranks with a message, printf-like. */
void fail(const char *format, ...);

/* Memory for a message, at least a byte, written once so that it has its own pages. */
char *buffer(size_t size);

/* Computes for about this time, as calibrated at the first call, without memory accesses or MPI
 * calls. If the clock stands still meanwhile, as in a simulator that counts only communication, it
 * lets that time pass. */
void compute(double seconds);

/* Iterations of that computation per second, from the fastest of many short runs; 0 if the clock
 * stands still meanwhile. */
double compute_rate(void);

/* The same computation, a given number of iterations. */
void compute_iterations(long iterations);

/* A separate random number sequence for every rank, the same in every run: its state, and the next
 * number. */
uint64_t sequence(int rank);
uint64_t draw(uint64_t *state);

/* Mean, median, 99th percentile and largest value in a sample, which gets sorted. */
struct summary {
    double mean, median, p99, largest;
};
struct summary summarise(double *sample, long count);

#endif
