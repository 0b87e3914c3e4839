/* Operations of 8 bytes from rank 0 to rank 1, for benches/puts.py: compiled with -DMPI messages,
   else OpenSHMEM puts. Arguments: stream (one after the other) or ping (there and back), and the
   count. */
#include <stdlib.h>
#include <string.h>
#ifdef MPI
#include <mpi.h>

int main(int argc, char **argv)
{
    int me, stream = argc > 1 && !strcmp(argv[1], "stream");
    long count = argc > 2 ? atol(argv[2]) : 1, word = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 0; i < count; i++) {
        if (me == 0)
            MPI_Send(&word, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD);
        if (me == 1)
            MPI_Recv(&word, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!stream && me == 1)
            MPI_Send(&word, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD);
        if (!stream && me == 0)
            MPI_Recv(&word, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
#else
#include <shmem.h>

int main(int argc, char **argv)
{
    static long word;
    int stream = argc > 1 && !strcmp(argv[1], "stream");
    long count = argc > 2 ? atol(argv[2]) : 1;

    shmem_init();
    int me = shmem_my_pe();
    shmem_barrier_all();
    for (long i = 1; i <= count; i++) {
        if (me == 0)
            shmem_long_p(&word, i, 1);
        if (me == 1 && !stream)
            shmem_long_wait_until(&word, SHMEM_CMP_EQ, i);
        if (me == 1 && !stream)
            shmem_long_p(&word, i, 0);
        if (me == 0 && !stream)
            shmem_long_wait_until(&word, SHMEM_CMP_EQ, i);
    }
    shmem_barrier_all();
    return 0;
}
#endif
