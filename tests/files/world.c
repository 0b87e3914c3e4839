/* Barriers, a sum and two clocks, by calls that are linked (-DLINKED), or that are found by dlsym
   of the library's handle, as by languages with a foreign-function interface. With the word "half",
   odd ranks end before MPI_Init. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef LINKED
#define MPI(name) name
#else
static void *library;
#define MPI(name) ((__typeof__(&name))dlsym(library, #name))
#endif

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv)
{
    int rank, size, sum;

    if (argc > 1 && strcmp(argv[1], "half") == 0 && atoi(getenv("PMI_RANK")) % 2)
        return 0;
#ifndef LINKED
    library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library || dlsym(library, "MPI_Nonsense") || !dlsym(library, "PMPI_Init")) {
        fprintf(stderr, "%s\n", dlerror());
        return 5;
    }
#endif
    MPI(MPI_Init)(&argc, &argv);
    MPI(MPI_Comm_rank)(MPI_COMM_WORLD, &rank);
    MPI(MPI_Comm_size)(MPI_COMM_WORLD, &size);
    MPI(MPI_Allreduce)(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    double start = MPI(MPI_Wtime)(), clock = now();
    for (int i = 0; i < 10; i++)
        MPI(MPI_Barrier)(MPI_COMM_WORLD);
    clock = now() - clock;
    if (rank == 0)
        printf("%d ranks, sum %d, a barrier in %.3f us, by the clock %.3f us\n", size, sum,
               1e5 * (MPI(MPI_Wtime)() - start), 1e5 * clock);
    MPI(MPI_Finalize)();
    return 0;
}
