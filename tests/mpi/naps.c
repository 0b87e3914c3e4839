/* A thread of rank 0 sleeps 10 ms before its first MPI call, a send, while the main thread
   receives, and then while it waits for the thread's end. Rank 1 prints how many us after the
   thread's start the message has come. The start itself takes the host's time. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* The clock is no MPI call, and all ranks have the same. */
static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

static void *sends(void *unused)
{
    double start = seconds();

    usleep(10000);
    MPI_Send(&start, 1, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD);
    return unused;
}

int main(int argc, char **argv)
{
    static const char *const ways[] = {"receives", "joins"};
    int rank, provided;
    pthread_t thread;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int way = 0; way < 2; way++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            pthread_create(&thread, NULL, sends, NULL);
            if (way == 0)
                MPI_Recv(NULL, 0, MPI_BYTE, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            pthread_join(thread, NULL);
        } else if (rank == 1) {
            double start;
            MPI_Recv(&start, 1, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("%s %.0f\n", ways[way], 1e6 * (seconds() - start));
            if (way == 0)
                MPI_Send(NULL, 0, MPI_BYTE, 0, 8, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
