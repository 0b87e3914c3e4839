/* Shared by the programs: distinguishable bytes, and an exit on errors. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static inline void require(int well, const char *what, long of)
{
    if (!well) {
        fprintf(stderr, "rank %d: %s %ld is wrong\n", rank, what, of);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static inline unsigned char byte(long place, int key)
{
    return (unsigned char)(7 * place + 13 * key + place / 251);
}

static inline void fill(unsigned char *bytes, long length, int key)
{
    for (long place = 0; place < length; place++)
        bytes[place] = byte(place, key);
}

static inline void expect(const unsigned char *bytes, long length, int key, const char *what)
{
    long place = 0;
    while (place < length && bytes[place] == byte(place, key))
        place++;
    require(place == length, what, length);
}

static inline void begin(int *count, char ***words)
{
    MPI_Init(count, words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

static inline void end(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("all is well\n");
    MPI_Finalize();
}
