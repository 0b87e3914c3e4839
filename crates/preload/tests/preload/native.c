/* Samples of all wrapped functions, and of MPI and C library calls that must work as before. Each
 * rank prints one line. */
#include <mpi.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    int provided, rank, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;

    double by_mpi = MPI_Wtime(), by_clock = seconds();
    usleep(20000);
    by_mpi = MPI_Wtime() - by_mpi;
    by_clock = seconds() - by_clock;
    int slept =
        by_mpi >= 0.02 && by_mpi < 2 && by_clock >= 0.02 && by_clock < 2 && MPI_Wtick() < 1e-3;

    /* Twelve arguments: six or more on the stack. */
    int mine[12], other[12];
    MPI_Status status;
    for (int i = 0; i < 12; i++)
        mine[i] = 100 * rank + i;
    MPI_Sendrecv(mine, 12, MPI_INT, next, 7, other, 12, MPI_INT, last, 7, MPI_COMM_WORLD, &status);
    int sum;
    MPI_Allreduce(&other[3], &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);

    MPI_Win window;
    int *memory, five = 5, before = -1;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    *memory = 10 * rank;
    MPI_Win_fence(0, window);
    MPI_Get_accumulate(&five, 1, MPI_INT, &before, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_SUM,
                       window);
    MPI_Win_fence(0, window);
    int after = *memory;
    MPI_Win_free(&window);

    int first = -1;
    MPI_Request requests[2];
    MPI_Irecv(&first, 1, MPI_INT, last, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(mine, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

    pid_t child = fork();
    if (child == 0)
        _exit(time(NULL) > 1700000000 ? 3 : 4);
    int end;
    waitpid(child, &end, 0);

    printf("%d of %d: %d tag %d sum %d window %d %d first %d child %d threads %s slept %s\n", rank,
           ranks, other[11], status.MPI_TAG, sum, before, after, first, WEXITSTATUS(end),
           provided == MPI_THREAD_MULTIPLE ? "many" : "few", slept ? "well" : "badly");
    MPI_Finalize();
    return 0;
}
