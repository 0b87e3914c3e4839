/* Messages in a ring, for the argument's number of rounds, on a machine with parts that may fail. A
 * byte that differs from the sent one ends all ranks with code 9. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 4096 };

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    int rank, ranks;
    static char out[SIZE], in[SIZE];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int round = 0; round < rounds; round++) {
        int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
        memset(out, rank + round, SIZE);
        MPI_Sendrecv(out, SIZE, MPI_CHAR, to, 5, in, SIZE, MPI_CHAR, from, 5, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (int byte = 0; byte < SIZE; byte++)
            if (in[byte] != (char)(from + round))
                MPI_Abort(MPI_COMM_WORLD, 9);
    }
    if (rank == 0)
        printf("done at %.9f\n", MPI_Wtime());
    MPI_Finalize();
    return 0;
}
