/* Permutations: every process sends to one partner without pause (petrini2003 s4.4, s5.4, figures
 * 13 and 14).
 *
 * Each process keeps --outstanding messages in flight to its partner, and as many posted receives
 * for the process that sends to it. After --warm-up, arrivals in --window are counted: a process's
 * bandwidth is the bytes in messages received within the window over the window. The mean covers
 * communicating processes; a process that is its own partner stays silent and is not averaged, as
 * in the paper. Lengths are drawn, by default from figure 14's exponential distribution. Comparable
 * with the series `saturation` and `size` in experiments/qsnet/permutations.toml.
 *
 *     mpiexec -n 64 ./permutation --pattern bit-reversal,complement --size 256KB
 */
#include "bench.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DATA, LAST };
enum {
    MOST = 64,   /* messages on their way */
    LONGEST = 8, /* the longest message, in means: an exponential one in 3,000 would be longer */
    LARGEST = 4 << 20, /* the largest mean */
};

/* A rank's partner, by the rank's binary digits. */
static int partner(const char *pattern, int rank, int ranks)
{
    int digits = 0, last = ranks / 2, reversed = 0;
    while (1 << digits < ranks)
        digits++;
    if (strcmp(pattern, "neighbor") == 0)
        return rank ^ 1;
    if (strcmp(pattern, "butterfly") == 0) /* first and last digit exchanged */
        return !(rank & 1) == !(rank & last) ? rank : rank ^ (last | 1);
    if (strcmp(pattern, "complement") == 0)
        return ranks - 1 - rank;
    if (strcmp(pattern, "shuffle") == 0) /* rotated left */
        return (rank << 1 | !!(rank & last)) & (ranks - 1);
    if (strcmp(pattern, "transpose") == 0) /* halves exchanged */
        return (rank << digits / 2 | rank >> digits / 2) & (ranks - 1);
    for (int digit = 0; digit < digits; digit++)
        reversed |= (rank >> digit & 1) << (digits - 1 - digit);
    return reversed;
}

/* How many ranks have a partner other than themselves. */
static int communicating(const char *pattern, int ranks)
{
    int count = 0;
    for (int rank = 0; rank < ranks; rank++)
        count += partner(pattern, rank, ranks) != rank;
    return count;
}

/* Reports an error if a pattern does not exist, or not for this rank count. */
static void check_pattern(const char *pattern, int ranks)
{
    static const char *names[] = {"neighbor", "butterfly", "complement",
                                  "shuffle",  "transpose", "bit-reversal"};
    int power = (ranks & (ranks - 1)) == 0, known = 0;
    for (int index = 0; index < 6; index++)
        known |= strcmp(pattern, names[index]) == 0;
    if (!known)
        fail("--pattern %s is unknown: neighbor, butterfly, complement, shuffle, transpose or "
             "bit-reversal",
             pattern);
    if (strcmp(pattern, "neighbor") == 0 && ranks % 2)
        fail("neighbor needs an even number of processes, not %d", ranks);
    if (strcmp(pattern, "transpose") == 0 && !(power && (ranks & 0x55555555)))
        fail("transpose needs a power of four of processes, not %d", ranks);
    if (strcmp(pattern, "neighbor") != 0 && !power)
        fail("%s needs a power of two of processes, not %d", pattern, ranks);
    if (communicating(pattern, ranks) == 0)
        fail("in %s, each of %d processes is its own partner", pattern, ranks);
}

/* One part of the pattern list. */
static const char *pattern_of(const struct option *option, int part, char *name, size_t size)
{
    const char *text = option->value;
    for (; part > 0; part--)
        text = strchr(text, ',') + 1;
    snprintf(name, size, "%.*s", (int)strcspn(text, ","), text);
    return name;
}

enum lengths { FIXED, UNIFORM, EXPONENTIAL };

static enum lengths lengths_of(const char *name)
{
    static const char *names[] = {"fixed", "uniform", "exponential"};
    for (int index = 0; index < 3; index++)
        if (strcmp(name, names[index]) == 0)
            return (enum lengths)index;
    fail("--lengths %s is unknown: fixed, uniform or exponential", name);
    return FIXED;
}

/* The length of the next message in a sequence: `mean` bytes on average, at least one, at most
 * LONGEST means. */
static int next_length(enum lengths lengths, size_t mean, uint64_t *state)
{
    double share = (double)(draw(state) >> 11) * 0x1p-53, factor = 1; /* 0 <= share < 1 */
    if (lengths == UNIFORM)
        factor = 2 * share;
    else if (lengths == EXPONENTIAL)
        factor = fmin(-log(1 - share), LONGEST);
    double length = floor(factor * (double)mean);
    return length < 1 ? 1 : (int)length;
}

/* A process's part in a measurement. */
struct exchange {
    int to, from, outstanding;
    enum lengths lengths;
    size_t mean;
    double warm_up, window;
};

/* A process's messages and receives. The n-th message from a source meets the n-th receive that was
 * posted for it, so that its length, drawn from the source's sequence, is known when that is
 * posted. */
struct traffic {
    const struct exchange *exchange;
    char *out, *in;
    size_t longest;
    uint64_t sent, expected;
    MPI_Request requests[2 * MOST]; /* first the receives, then the sends */
    int length[MOST];
};

static void post_receive(struct traffic *traffic, int slot)
{
    const struct exchange *exchange = traffic->exchange;
    traffic->length[slot] = next_length(exchange->lengths, exchange->mean, &traffic->expected);
    MPI_Irecv(traffic->in + traffic->longest * (size_t)slot, (int)traffic->longest, MPI_BYTE,
              exchange->from, MPI_ANY_TAG, MPI_COMM_WORLD, &traffic->requests[slot]);
}

static void send_next(struct traffic *traffic, int slot)
{
    const struct exchange *exchange = traffic->exchange;
    MPI_Isend(traffic->out, next_length(exchange->lengths, exchange->mean, &traffic->sent),
              MPI_BYTE, exchange->to, DATA, MPI_COMM_WORLD, &traffic->requests[slot]);
}

/* Exchanges until the window is over and everything has arrived; returns the bytes that arrived in
 * the window. */
static double bytes_in_window(const struct exchange *exchange, int rank)
{
    int count = exchange->outstanding, running = 2 * count, ended[2 * MOST] = {0};
    size_t longest = exchange->mean * LONGEST + 1;
    struct traffic traffic = {.exchange = exchange,
                              .longest = longest,
                              .out = buffer(longest),
                              .in = buffer(longest * (size_t)count),
                              .sent = sequence(rank),
                              .expected = sequence(exchange->from)};
    double bytes = 0;
    for (int slot = 0; slot < count; slot++)
        post_receive(&traffic, slot);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime() + exchange->warm_up, end = begin + exchange->window;
    for (int slot = count; slot < 2 * count; slot++)
        send_next(&traffic, slot);
    while (running > 0) {
        int slot, length;
        MPI_Status status;
        MPI_Waitany(2 * count, traffic.requests, &slot, &status);
        double now = MPI_Wtime();
        if (slot < count && status.MPI_TAG == DATA) {
            MPI_Get_count(&status, MPI_BYTE, &length);
            if (length != traffic.length[slot])
                fail("process %d received %d bytes from %d, not %d", rank, length, exchange->from,
                     traffic.length[slot]);
            if (begin <= now && now < end)
                bytes += length;
            post_receive(&traffic, slot);
        } else if (slot >= count && now < end) {
            send_next(&traffic, slot);
        } else if (slot >= count && !ended[slot]) { /* one for each receive that is posted there */
            MPI_Isend(traffic.out, 0, MPI_BYTE, exchange->to, LAST, MPI_COMM_WORLD,
                      &traffic.requests[slot]);
            ended[slot] = 1;
        } else {
            running--;
        }
    }
    free(traffic.out);
    free(traffic.in);
    return bytes;
}

/* Measures a pattern with one message length; rank 0 writes the line. */
static void measure(struct exchange exchange, const char *pattern, int rank, int ranks)
{
    exchange.to = partner(pattern, rank, ranks);
    for (exchange.from = 0; partner(pattern, exchange.from, ranks) != rank;)
        exchange.from++;
    double rate = 0, *rates = (double *)buffer(sizeof(double) * (size_t)ranks);
    if (exchange.to != rank)
        rate = bytes_in_window(&exchange, rank) / exchange.window / 1e6;
    else
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Gather(&rate, 1, MPI_DOUBLE, rates, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        double sum = 0, least = INFINITY, most = 0;
        for (int other = 0; other < ranks; other++) {
            if (partner(pattern, other, ranks) == other)
                continue;
            sum += rates[other];
            least = fmin(least, rates[other]);
            most = fmax(most, rates[other]);
        }
        int count = communicating(pattern, ranks);
        printf("%s,%d,%d,%zu,%.1f,%.1f,%.1f\n", pattern, ranks, count, exchange.mean, sum / count,
               least, most);
        fflush(stdout);
    }
    free(rates);
}

int main(int argc, char **argv)
{
    struct option options[] = {
        {"pattern", "neighbor, butterfly, complement, shuffle, transpose, bit-reversal, or a list",
         NAME, "bit-reversal"},
        {"size", "mean length of a message, or a list", SIZE, "256KB"},
        {"lengths", "fixed, uniform or exponential", NAME, "exponential"},
        {"outstanding", "messages that a process keeps on their way", COUNT, "4"},
        {"warm-up", "time before the measurement", TIME, "10ms"},
        {"window", "time in which arrivals are counted", TIME, "30ms"},
    };
    bench_begin(&argc, &argv, "every process sends to one partner without pause", options, 6);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks < 2)
        fail("a permutation needs 2 processes or more: mpiexec -n 2");
    long outstanding = option_count(&options[3]);
    if (outstanding > MOST)
        fail("--outstanding %ld: more than %d", outstanding, MOST);
    struct exchange exchange = {.outstanding = (int)outstanding,
                                .lengths = lengths_of(options[2].value),
                                .warm_up = option_time(&options[4], 0),
                                .window = option_time(&options[5], 0)};
    if (exchange.window <= 0)
        fail("--window %s: nothing arrives in no time", options[5].value);
    char name[32];
    for (int part = 0; part < option_parts(&options[0]); part++)
        check_pattern(pattern_of(&options[0], part, name, sizeof name), ranks);
    for (int part = 0; part < option_parts(&options[1]); part++)
        if (option_size(&options[1], part) > LARGEST)
            fail("--size: more than %dMB", LARGEST >> 20);
    if (rank == 0)
        puts("pattern,processes,communicating,bytes,bandwidth_MBps,least_MBps,most_MBps");
    for (int one = 0; one < option_parts(&options[0]); one++) {
        for (int part = 0; part < option_parts(&options[1]); part++) {
            exchange.mean = option_size(&options[1], part);
            measure(exchange, pattern_of(&options[0], one, name, sizeof name), rank, ranks);
        }
    }
    return bench_end();
}
