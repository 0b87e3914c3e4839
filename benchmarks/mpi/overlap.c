/* Post-compute-wait: communication while the process computes (garcia2005 s3.2, figure 2).
 *
 * In each round the worker, rank 0, posts a send to its partner and a receive from it, computes for
 * a given time, and waits for both; its three phases are timed apart. Availability is the total
 * time in compute phases over the total time in rounds; bandwidth the bytes in both directions over
 * the same. As the series in experiments/qsnet2/overlap.toml.
 *
 *     mpiexec -n 2 ./overlap --size 32KB --compute 0us,50us,100us,1ms
 */
#include "bench.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct phases {
    double call, compute, wait;
};

static struct phases run_round(int rank, char *out, char *in, int size, double seconds)
{
    MPI_Request requests[2];
    double begin = MPI_Wtime();
    MPI_Isend(out, size, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in, size, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    double called = MPI_Wtime();
    if (rank == 0)
        compute(seconds);
    double computed = MPI_Wtime();
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    struct phases phases = {called - begin, computed - called, MPI_Wtime() - computed};
    return phases;
}

int main(int argc, char **argv)
{
    struct option options[] = {
        {"size", "length of a message, or a list", SIZE, "8KB,32KB,128KB,256KB"},
        {"compute", "computation of a round, or a list", TIME,
         "0us,20us,50us,100us,200us,500us,1ms"},
        {"repeats", "rounds of each", COUNT, "100"},
    };
    bench_begin(&argc, &argv, "communication while a process computes", options, 3);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2)
        fail("post-compute-wait needs 2 processes, not %d: mpiexec -n 2", ranks);
    long repeats = option_count(&options[2]);
    if (rank == 0)
        puts("bytes,compute_us,call_us,compute_phase_us,wait_us,round_us,availability,bandwidth_"
             "MBps");
    for (int size_part = 0; size_part < option_parts(&options[0]); size_part++) {
        size_t size = option_size(&options[0], size_part);
        char *out = buffer(size), *in = buffer(size);
        for (int part = 0; part < option_parts(&options[1]); part++) {
            double seconds = option_time(&options[1], part);
            struct phases sum = {0, 0, 0};
            compute(seconds); /* calibrates before the first round */
            for (long repeat = -1; repeat < repeats; repeat++) {
                struct phases phases = run_round(rank, out, in, (int)size, seconds);
                if (repeat < 0)
                    continue;
                sum.call += phases.call;
                sum.compute += phases.compute;
                sum.wait += phases.wait;
            }
            double total = sum.call + sum.compute + sum.wait, rounds = (double)repeats;
            if (rank == 0)
                printf("%zu,%.3f,%.3f,%.3f,%.3f,%.3f,%.4f,%.1f\n", size, seconds * 1e6,
                       sum.call / rounds * 1e6, sum.compute / rounds * 1e6, sum.wait / rounds * 1e6,
                       total / rounds * 1e6, total > 0 ? sum.compute / total : 0.0,
                       total > 0 ? 2 * rounds * (double)size / total / 1e6 : 0.0);
        }
        free(out);
        free(in);
    }
    return bench_end();
}
