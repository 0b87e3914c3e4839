/* Barrier, broadcast and reduction among all processes, alone or among other traffic (petrini2001;
 * garcia2005 s3.3).
 *
 * The call is repeated; its latency is the time from its beginning to its return, and all
 * processes' calls are the sample. With --background, every process keeps messages with that length
 * in flight to randomly drawn processes: petrini2001's uniform traffic. A process draws from its
 * own sequence, so that runs are equal. With --compute it computes for that time before each call,
 * as bulk-synchronous programs do.
 *
 *     mpiexec -n 64 ./collective --operation barrier
 *     mpiexec -n 64 ./collective --operation broadcast --size 4KB,1MB --background 256KB
 */
#include "bench.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BACKGROUND = 1 };

/* One process's traffic: one outgoing message, and room for incoming ones. */
struct traffic {
    size_t size;
    char *out, *in;
    MPI_Comm comm;
    MPI_Request send, receive;
    uint64_t state;
    int rank, ranks;
    /* Messages sent to each process, and received here. */
    long *sent, received;
};

static void send_next(struct traffic *traffic)
{
    int others = traffic->ranks - 1;
    int to = (int)(draw(&traffic->state) % (uint64_t)others);
    to += to >= traffic->rank;
    MPI_Isend(traffic->out, (int)traffic->size, MPI_BYTE, to, BACKGROUND, traffic->comm,
              &traffic->send);
    traffic->sent[to]++;
}

static void expect_next(struct traffic *traffic)
{
    MPI_Irecv(traffic->in, (int)traffic->size, MPI_BYTE, MPI_ANY_SOURCE, BACKGROUND, traffic->comm,
              &traffic->receive);
}

static void begin_traffic(struct traffic *traffic, size_t size)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &traffic->comm);
    MPI_Comm_rank(traffic->comm, &traffic->rank);
    MPI_Comm_size(traffic->comm, &traffic->ranks);
    traffic->size = size;
    traffic->received = 0;
    traffic->state = sequence(traffic->rank);
    if (size == 0)
        return;
    traffic->sent = calloc((size_t)traffic->ranks, sizeof *traffic->sent);
    if (!traffic->sent)
        fail("there is no memory for the counts of %d processes", traffic->ranks);
    traffic->out = buffer(size);
    traffic->in = buffer(size);
    expect_next(traffic);
    send_next(traffic);
}

/* Takes a message that has arrived, if one has, and makes room for the next. */
static void take(struct traffic *traffic)
{
    int over;
    MPI_Test(&traffic->receive, &over, MPI_STATUS_IGNORE);
    if (over) {
        traffic->received++;
        expect_next(traffic);
    }
}

/* Continues the traffic: restarts completed operations. */
static void keep_on(struct traffic *traffic)
{
    int over;
    if (traffic->size == 0)
        return;
    take(traffic);
    MPI_Test(&traffic->send, &over, MPI_STATUS_IGNORE);
    if (over)
        send_next(traffic);
}

/* Ends the traffic: all sent messages are received, and every process has their count. */
static void end_traffic(struct traffic *traffic)
{
    if (traffic->size > 0) {
        long expected = 0;
        int sent = 0, counted = 0;
        MPI_Request count;
        while (!sent) {
            take(traffic);
            MPI_Test(&traffic->send, &sent, MPI_STATUS_IGNORE);
        }
        MPI_Ireduce_scatter_block(traffic->sent, &expected, 1, MPI_LONG, MPI_SUM, traffic->comm,
                                  &count);
        while (!counted || traffic->received < expected) {
            take(traffic);
            if (!counted)
                MPI_Test(&count, &counted, MPI_STATUS_IGNORE);
        }
        MPI_Cancel(&traffic->receive);
        MPI_Wait(&traffic->receive, MPI_STATUS_IGNORE);
        free(traffic->sent);
        free(traffic->out);
        free(traffic->in);
    }
    MPI_Comm_free(&traffic->comm);
}

enum operation { BARRIER, BROADCAST, REDUCE };

static enum operation operation_of(const char *name)
{
    static const char *names[] = {"barrier", "broadcast", "reduce"};
    for (int index = 0; index < 3; index++)
        if (strcmp(name, names[index]) == 0)
            return (enum operation)index;
    fail("--operation %s is unknown: barrier, broadcast or reduce", name);
    return BARRIER;
}

/* One call; a process that has other traffic keeps that going meanwhile. */
static void call(enum operation operation, char *data, size_t size, struct traffic *traffic)
{
    MPI_Request request;
    int over = 0;
    static int64_t one = 1, sum;
    if (traffic->size == 0) {
        if (operation == BARRIER)
            MPI_Barrier(MPI_COMM_WORLD);
        else if (operation == BROADCAST)
            MPI_Bcast(data, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD);
        else
            MPI_Allreduce(&one, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        over = 1;
    } else if (operation == BARRIER)
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
    else if (operation == BROADCAST)
        MPI_Ibcast(data, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    else
        MPI_Iallreduce(&one, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, &request);
    while (!over) {
        keep_on(traffic);
        MPI_Test(&request, &over, MPI_STATUS_IGNORE);
    }
    if (operation == REDUCE && sum != traffic->ranks)
        fail("a sum of ones over %d processes is %lld", traffic->ranks, (long long)sum);
}

int main(int argc, char **argv)
{
    struct option options[] = {
        {"operation", "barrier, broadcast or reduce", NAME, "barrier"},
        {"size", "length of what is broadcast, or a list", SIZE, "4B"},
        {"background", "length of other messages, 0B for none", SIZE, "0B"},
        {"compute", "computation before each call", TIME, "0us"},
        {"repeats", "calls that are measured", COUNT, "100"},
    };
    bench_begin(&argc, &argv, "barrier, broadcast and reduction among all processes", options, 5);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks < 2)
        fail("a collective operation needs 2 processes or more: mpiexec -n 2");
    enum operation operation = operation_of(options[0].value);
    double seconds = option_time(&options[3], 0);
    long repeats = option_count(&options[4]);
    double *sample = (double *)buffer(sizeof(double) * (size_t)repeats);
    double *all =
        rank == 0 ? (double *)buffer(sizeof(double) * (size_t)repeats * (size_t)ranks) : NULL;
    struct traffic traffic;
    begin_traffic(&traffic, option_size(&options[2], 0));
    if (rank == 0)
        puts("operation,processes,bytes,background_bytes,compute_us,latency_us,median_us,p99_us,"
             "largest_us,bandwidth_MBps");
    int parts = operation == BROADCAST ? option_parts(&options[1]) : 1;
    compute(seconds); /* calibrates */
    for (int part = 0; part < parts; part++) {
        size_t size = operation == BROADCAST ? option_size(&options[1], part) : 0;
        char *data = buffer(size);
        for (long repeat = -2; repeat < repeats; repeat++) {
            if (operation == BROADCAST) /* so that the root cannot get ahead (petrini2001) */
                call(BARRIER, NULL, 0, &traffic);
            compute(seconds);
            double begin = MPI_Wtime();
            call(operation, data, size, &traffic);
            if (repeat >= 0)
                sample[repeat] = MPI_Wtime() - begin;
        }
        MPI_Gather(sample, (int)repeats, MPI_DOUBLE, all, (int)repeats, MPI_DOUBLE, 0,
                   MPI_COMM_WORLD);
        if (rank == 0) {
            struct summary summary = summarise(all, repeats * ranks);
            printf("%s,%d,%zu,%zu,%.3f,%.3f,%.3f,%.3f,%.3f,%.1f\n", options[0].value, ranks, size,
                   traffic.size, seconds * 1e6, summary.mean * 1e6, summary.median * 1e6,
                   summary.p99 * 1e6, summary.largest * 1e6,
                   summary.mean > 0 ? (double)size / summary.mean / 1e6 : 0.0);
        }
        free(data);
    }
    end_traffic(&traffic);
    free(sample);
    free(all);
    return bench_end();
}
