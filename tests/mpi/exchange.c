/* Both directions at once, as benchmarks/mpi/ping measures them, but with both processes at the
 * same instant of a common clock.
 *
 *     mpiexec -n 2 ./exchange SIZE... [--no-order]     SIZE: a message's bytes, or several
 *
 * An exchange's duration depends on how far apart the processes are when it starts: they stay in
 * the rhythm that they have found, early and late in turn. So only exchanges with equal starts can
 * be compared to a tenth of a nanosecond. For each size a line has the mean over four exchanges,
 * after one to warm up, in microseconds.
 */
#define _POSIX_C_SOURCE 200112L /* clock_nanosleep */
#include "check.h"

#include <mpi.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 4, LARGEST = 4 << 20, LATER = 5000000 };

/* Returns at the same time in both, LATER nanoseconds from now. */
static void together(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t when = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + LATER;
    MPI_Bcast(&when, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    struct timespec then = {(time_t)(when / 1000000000), (long)(when % 1000000000)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    require(ranks == 2, "there must be 2 processes, not %d", ranks);
    char *out = calloc(LARGEST, 1), *in = calloc(LARGEST, 1);
    require(out && in, "there is no memory");
    for (int place = 1; place < argc; place++) {
        long size = atol(argv[place]);
        require(size >= 0 && size <= LARGEST, "%s is no size of at most %d", argv[place], LARGEST);
        double begin = 0;
        together();
        for (int round = -1; round < ROUNDS; round++) {
            MPI_Request requests[2];
            if (round == 0)
                begin = MPI_Wtime();
            MPI_Irecv(in, (int)size, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(out, (int)size, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        }
        double elapsed = MPI_Wtime() - begin;
        say_order("%ld %.6f", size, elapsed / ROUNDS * 1e6);
    }
    free(out);
    free(in);
    return check_end();
}
