/* Messages in a ring, again and again, on a machine of which parts fail. Arguments: how many rounds, and "return" for errors
 * that are returned; then a rank that gets an error says which, and ends all ranks with code 3. */
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
    if (argc > 2 && !strcmp(argv[2], "return"))
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int round = 0; round < rounds; round++) {
        int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
        memset(out, rank + round, SIZE);
        int error = MPI_Sendrecv(out, SIZE, MPI_CHAR, to, 5, in, SIZE, MPI_CHAR, from, 5, MPI_COMM_WORLD,
                                 MPI_STATUS_IGNORE);
        if (error) {
            int class;
            MPI_Error_class(error, &class);
            printf("rank %d gets %s\n", rank, class == MPI_ERR_OTHER ? "MPI_ERR_OTHER" : "another error");
            fflush(stdout);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
        for (int byte = 0; byte < SIZE; byte++)
            if (in[byte] != (char)(from + round))
                MPI_Abort(MPI_COMM_WORLD, 9);
    }
    if (rank == 0)
        printf("done at %.9f\n", MPI_Wtime());
    MPI_Finalize();
    return 0;
}
