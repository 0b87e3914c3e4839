/* Ping: latency and bandwidth between two processes (petrini2003 s4.1, s4.2; garcia2005 s3.1,
 * figure 1).
 *
 * One direction: half the round trip of a message that is sent back immediately. Both: from
 * MPI_Irecv and MPI_Isend, which both processes call, to the end of both. Bandwidth is size over
 * latency, in each direction. Comparable with the series `ping` in experiments/qsnet2/ping.toml.
 *
 *     mpiexec -n 2 ./ping --size 0B,1KB,1MB --repeats 100
 */
#include "bench.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ONE, BOTH };

static void exchange(int directions, int rank, char *out, char *in, int size)
{
    int other = 1 - rank;
    if (directions == BOTH) {
        MPI_Request requests[2];
        MPI_Irecv(in, size, MPI_BYTE, other, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, size, MPI_BYTE, other, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (rank == 0) {
        MPI_Send(out, size, MPI_BYTE, other, 0, MPI_COMM_WORLD);
        MPI_Recv(in, size, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(in, size, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, size, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    struct option options[] = {
        {"size", "length of a message, or a list", SIZE, "0B,64B,1KB,4KB,16KB,64KB,256KB,1MB,4MB"},
        {"repeats", "messages of each length", COUNT, "100"},
    };
    bench_begin(&argc, &argv, "latency and bandwidth between two processes", options, 2);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2)
        fail("a ping needs 2 processes, not %d: mpiexec -n 2", ranks);
    long repeats = option_count(&options[1]);
    double *sample = (double *)buffer(sizeof(double) * (size_t)repeats);
    if (rank == 0)
        puts("directions,bytes,latency_us,median_us,p99_us,largest_us,bandwidth_MBps");
    for (int directions = ONE; directions <= BOTH; directions++) {
        for (int part = 0; part < option_parts(&options[0]); part++) {
            size_t size = option_size(&options[0], part);
            char *out = buffer(size), *in = buffer(size);
            MPI_Barrier(MPI_COMM_WORLD);
            /* Two to warm up. No barrier between rounds: the last to leave it would post its
             * receive too late. */
            for (long repeat = -2; repeat < repeats; repeat++) {
                double begin = MPI_Wtime();
                exchange(directions, rank, out, in, (int)size);
                double elapsed = MPI_Wtime() - begin;
                if (repeat >= 0)
                    sample[repeat] = directions == BOTH ? elapsed : elapsed / 2;
            }
            struct summary summary = summarise(sample, repeats);
            if (rank == 0)
                printf("%s,%zu,%.3f,%.3f,%.3f,%.3f,%.1f\n", directions == BOTH ? "both" : "one",
                       size, summary.mean * 1e6, summary.median * 1e6, summary.p99 * 1e6,
                       summary.largest * 1e6,
                       summary.mean > 0 ? (double)size / summary.mean / 1e6 : 0.0);
            free(out);
            free(in);
        }
    }
    free(sample);
    return bench_end();
}
