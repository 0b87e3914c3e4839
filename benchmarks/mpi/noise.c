/* The noise test: one repeated computation on every process (garcia2005 s3.3, figure 3).
 *
 * Each computation is calibrated to take a given time without noise; the excess is the operating
 * system's processor time. Processes do not communicate meanwhile. The result is a histogram per
 * process, in one-microsecond bins; the last bin holds all longer times. `elanite noise` does the
 * same without MPI.
 *
 *     mpiexec -n 2 ./noise --compute 1ms --repeats 10000
 */
#include "bench.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 1000 };

int main(int argc, char **argv)
{
    struct option options[] = {
        {"compute", "a computation without noise", TIME, "1ms"},
        {"repeats", "computations of each process", COUNT, "10000"},
    };
    bench_begin(&argc, &argv, "what the operating system takes of the processors", options, 2);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double seconds = option_time(&options[0], 0);
    long repeats = option_count(&options[1]);
    if (compute_rate() == 0)
        fail("the clock stands still while this process computes: there is no noise to be seen");
    long iterations = (long)(seconds * compute_rate());
    long bins[BINS];
    memset(bins, 0, sizeof bins);
    double shortest = 1e9, *times = (double *)buffer(sizeof(double) * (size_t)repeats);
    MPI_Barrier(MPI_COMM_WORLD);
    for (long repeat = 0; repeat < repeats; repeat++) {
        double begin = MPI_Wtime();
        compute_iterations(iterations);
        times[repeat] = MPI_Wtime() - begin;
        if (times[repeat] < shortest)
            shortest = times[repeat];
    }
    for (long repeat = 0; repeat < repeats; repeat++) {
        long bin = (long)((times[repeat] - shortest) * 1e6);
        bins[bin < BINS ? bin : BINS - 1]++;
    }
    if (rank == 0)
        puts("process,shortest_us,longer_by_us,count");
    long others[BINS];
    for (int process = 0; process < ranks; process++) {
        if (process > 0 && rank == 0) {
            MPI_Recv(others, BINS, MPI_LONG, process, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(&shortest, 1, MPI_DOUBLE, process, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (process > 0 && rank == process) {
            MPI_Send(bins, BINS, MPI_LONG, 0, 0, MPI_COMM_WORLD);
            MPI_Send(&shortest, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        }
        for (int bin = 0; bin < BINS && rank == 0; bin++) {
            long count = process == 0 ? bins[bin] : others[bin];
            if (count > 0)
                printf("%d,%.3f,%d,%ld\n", process, shortest * 1e6, bin, count);
        }
    }
    free(times);
    return bench_end();
}
