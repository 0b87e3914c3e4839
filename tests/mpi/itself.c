/* Messages from a rank to itself, which no network carries: 1 to 64 at a time, from a byte to 1 MB,
 * 16 MB in all at most, by their own requests or persistent ones, synchronous or not, all awaited
 * together or some at a time.
 *
 *     mpiexec -n 2 ./itself
 *
 * Meanwhile rank 1 sleeps for 20 s and then waits in a barrier: that may not hold up rank 0.
 */
#define _DEFAULT_SOURCE /* sleep */
#include "check.h"

#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 64, ALL = 16 << 20 };

static void exchange(int many, size_t size, int way, char *out, char *in)
{
    MPI_Request all[2 * MOST];
    int left = 2 * many, done, indices[2 * MOST], persistent = way & 4;
    for (int one = 0; one < many; one++) {
        fill(out + one * size, size, key_of(rank, rank, one + way));
        if (persistent)
            MPI_Recv_init(in + one * size, (int)size, MPI_BYTE, rank, one, MPI_COMM_WORLD,
                          &all[one]);
        else
            MPI_Irecv(in + one * size, (int)size, MPI_BYTE, rank, one, MPI_COMM_WORLD, &all[one]);
    }
    for (int one = 0; one < many; one++)
        if (persistent && way & 1)
            MPI_Ssend_init(out + one * size, (int)size, MPI_BYTE, rank, one, MPI_COMM_WORLD,
                           &all[many + one]);
        else if (persistent)
            MPI_Send_init(out + one * size, (int)size, MPI_BYTE, rank, one, MPI_COMM_WORLD,
                          &all[many + one]);
        else if (way & 1)
            MPI_Issend(out + one * size, (int)size, MPI_BYTE, rank, one, MPI_COMM_WORLD,
                       &all[many + one]);
        else
            MPI_Isend(out + one * size, (int)size, MPI_BYTE, rank, one, MPI_COMM_WORLD,
                      &all[many + one]);
    if (persistent)
        MPI_Startall(2 * many, all);
    if (way & 2)
        MPI_Waitall(2 * many, all, MPI_STATUSES_IGNORE);
    else
        for (; left > 0; left -= done)
            MPI_Waitsome(2 * many, all, &done, indices, MPI_STATUSES_IGNORE);
    for (int one = 0; one < many; one++)
        expect(in + one * size, size, key_of(rank, rank, one + way),
               "a message of the rank to itself");
    for (int one = 0; one < 2 * many && persistent; one++)
        MPI_Request_free(&all[one]);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    double begin = MPI_Wtime();
    size_t most = 1 << 20;
    char *out = malloc(ALL), *in = malloc(ALL);
    for (size_t size = 1; size <= most && rank == 0; size *= 32)
        for (int many = 1; many <= MOST && many * size <= ALL; many *= 4) {
            for (int way = 0; way < 8; way++)
                exchange(many, size, way, out, in);
            say("%d of %zu bytes", many, size);
        }
    require(rank > 0 || MPI_Wtime() - begin < 20, "%g s for messages that cross no network",
            MPI_Wtime() - begin);
    if (rank == 1)
        sleep(20);
    MPI_Barrier(MPI_COMM_WORLD);
    return check_end();
}
