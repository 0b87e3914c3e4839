/* What the benchmarks share: options, texts with units, the clock, computation, samples.
 *
 * Times are seconds as MPI_Wtime tells them, sizes bytes, rates 10^6 bytes a second. Results go to standard output as CSV, one
 * line a measurement, from rank 0; whatever is wrong goes to standard error and ends all ranks with exit code 2.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>

/* An option of the command line, --name value. Sizes are written as 4KB or 1MB (of 1,024), times as 50us or 1ms. */
struct option {
    const char *name;
    const char *meaning;
    enum { SIZE, TIME, COUNT, NAME } kind;
    const char *value; /* the default, and then what was given */
};

/* Starts MPI and reads the options, of which there are `count`; --help lists them. */
void bench_begin(int *argc, char ***argv, const char *about, struct option *options, int count);

/* Ends the program. */
int bench_end(void);

/* The value of an option: of its kind, or of one part of a list "a,b,c", counted from 0. */
size_t option_size(const struct option *option, int part);
double option_time(const struct option *option, int part);
long option_count(const struct option *option);

/* Parts of the list. */
int option_parts(const struct option *option);

/* Ends all ranks with a message, printf-like. */
void fail(const char *format, ...);

/* Memory for a message, at least a byte, written once so that it has pages of its own. */
char *buffer(size_t size);

/* Computes for about so long, as calibrated when it is first called: it neither touches memory nor calls MPI. Where the clock
 * stands still meanwhile, as that of a simulator in whose time only communication counts, it lets that time pass. */
void compute(double seconds);

/* Iterations of that computation in a second, from the fastest of many short runs; 0 if the clock stands still meanwhile. */
double compute_rate(void);

/* The same computation, a given number of iterations. */
void compute_iterations(long iterations);

/* A sequence of random numbers of its own for every rank, the same in every run: its state, and the next number. */
uint64_t sequence(int rank);
uint64_t draw(uint64_t *state);

/* Mean, median, 99th percentile and largest of a sample, which gets sorted. */
struct summary {
    double mean, median, p99, largest;
};
struct summary summarise(double *sample, long count);

#endif
