/* A program with ranks that compute different times in two regions, read the clock in one region,
 * name a part, and poll. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static volatile double sink;

static void work(long steps)
{
    double x = 1.0 + sink;
    for (long step = 0; step < steps; step++)
        x = x * 0.999999 + 1e-6;
    sink = x * 1e-300;
}

int main(int argc, char **argv)
{
    int rank, size, rounds = argc > 1 ? atoi(argv[1]) : 40;
    long steps = argc > 2 ? atol(argv[2]) : 20000;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double start = MPI_Wtime(), inner = 0;
    for (int round = 0; round < rounds; round++) {
        int token = round, done = 0;
        MPI_Request request;
        work(steps * (rank + 1));
        MPI_Allreduce(MPI_IN_PLACE, &token, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        double before = MPI_Wtime();
        work(steps);
        inner += MPI_Wtime() - before;
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        while (!done)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    MPI_Pcontrol(5);
    work(steps);
    MPI_Barrier(MPI_COMM_WORLD);
    work(steps);
    MPI_Pcontrol(1);
    if (rank == 0)
        printf("%.3f us in all, %.3f us within\n", 1e6 * (MPI_Wtime() - start), 1e6 * inner);
    MPI_Finalize();
    return 0;
}
