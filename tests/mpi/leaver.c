/* The last rank ends early, as the argument names it, and the others continue among themselves, if
 * mpiexec lets them
 * (-disable-auto-cleanup):
 *
 *   abort     by MPI_Abort with code 7, on a communicator that it has for itself
 *   exit      with code 7
 *   busy      the same, while messages are on their way to it
 *   needed    the same, and rank 0 waits for a message from it
 *   world     by MPI_Abort with code 7 on MPI_COMM_WORLD
 *   signal    by a signal
 *   stays     not at all, and idles for ever
 */
#define _DEFAULT_SOURCE /* usleep */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 1000 };

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "abort";
    int rank, ranks, sum = 0;
    char bytes[SIZE] = {0};
    MPI_Comm part;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split(MPI_COMM_WORLD, rank == ranks - 1, rank, &part);
    if (rank == ranks - 1) {
        usleep(50);
        if (!strcmp(how, "abort"))
            MPI_Abort(part, 7);
        if (!strcmp(how, "world"))
            MPI_Abort(MPI_COMM_WORLD, 7);
        if (!strcmp(how, "signal"))
            raise(SIGSEGV);
        while (!strcmp(how, "stays"))
            usleep(100);
        _exit(7);
    }
    if (!strcmp(how, "busy"))
        MPI_Send(bytes, SIZE, MPI_CHAR, ranks - 1, 5, MPI_COMM_WORLD);
    for (int round = 0; round < 10; round++) {
        int one = 1;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, part);
        usleep(100000);
    }
    if (!strcmp(how, "needed") && rank == 0)
        MPI_Recv(bytes, SIZE, MPI_CHAR, ranks - 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(part);
    if (rank == 0)
        printf("%d ranks went on\n", sum);
    fflush(stdout);
    MPI_Comm_free(&part);
    MPI_Finalize();
    return 0;
}
