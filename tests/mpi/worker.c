/* MPI in a thread, beside which the first one naps until it is done, as event loops do, or reads a
 * clock, with the argument "clock". Prints in us how long 100 exchanges took by MPI_Wtime, and then
 * a nap of the thread; with the argument "poll", "sleep" or "look", waits in its place with
 * time-outs, with naps, or by MPI_Iprobe, until another thread has computed for a while. */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static atomic_int done;
static int ends[2];
static char mode;

static void *computes(void *unused)
{
    for (volatile int i = 0; i < 150000000; i++)
        ;
    if (write(ends[1], "x", 1) != 1)
        abort();
    return unused;
}

static void awaits(void)
{
    struct pollfd file = {.events = POLLIN};
    pthread_t thread;
    int found;

    if (pipe(ends))
        abort();
    file.fd = ends[0];
    pthread_create(&thread, NULL, computes, NULL);
    if (mode == 'p')
        while (poll(&file, 1, 2) == 0)
            ;
    else
        while (poll(&file, 1, 0) == 0)
            if (mode == 's')
                usleep(100);
            else
                MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
}

static void *works(void *unused)
{
    int rank, provided, given = 0, got;
    double begun, exchanged;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    begun = MPI_Wtime();
    for (int i = 0; i < 100; i++)
        MPI_Sendrecv(&given, 1, MPI_INT, rank ^ 1, 0, &got, 1, MPI_INT, rank ^ 1, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    exchanged = MPI_Wtime();
    if (mode == 'p' || mode == 's' || mode == 'l')
        awaits();
    else
        usleep(7000);
    if (rank == 0)
        printf("%.1f %.1f\n", 1e6 * (exchanged - begun), 1e6 * (MPI_Wtime() - exchanged));
    MPI_Finalize();
    done = 1;
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    struct timespec now;

    mode = argc > 1 ? argv[1][0] : 0;
    pthread_create(&thread, NULL, works, NULL);
    while (!done) {
        if (mode == 'c')
            clock_gettime(CLOCK_MONOTONIC, &now);
        else
            usleep(10000);
    }
    pthread_join(thread, NULL);
    return 0;
}
