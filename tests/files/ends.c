/* An MPI program that ends in the way that its argument names; rank 1 is the one that fails. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "well";
    int rank, size, from = 0;

    if (!strcmp(how, "without"))
        return 0;
    if (!strcmp(how, "before"))
        return 6;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 3, &from, 1, MPI_INT,
                 (rank + size - 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        printf("from %d at %.9f\n", from, MPI_Wtime());
    if (rank == 1 && !strcmp(how, "signal"))
        raise(SIGSEGV);
    if (rank == 1 && !strcmp(how, "exit"))
        _exit(3);
    if (rank == 1 && !strcmp(how, "abort"))
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (rank == 1 && !strcmp(how, "error"))
        MPI_Send(&rank, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
    if (rank != 1 && !strcmp(how, "deadlock"))
        MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (!strcmp(how, "never"))
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return strcmp(how, "code") ? 0 : 5;
}
