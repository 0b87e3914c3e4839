/* Threads of rank 0 that come to MPI late, while the main thread looks for a message there.
   Some send at once; they share a processor with a busy one, so that they begin late. One sleeps
   10 ms before its send, while the main thread receives, and then while it waits for the thread's
   end. Rank 1 prints how many of the first have begun later than the main thread has started them,
   in simulated time, and after how many us the others' messages have come. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { STARTS = 20 };

static pthread_attr_t attributes;
static atomic_int over;

struct late {
    int sleep;           /* us */
    double before, begun; /* when the main thread starts it, and when it begins */
};

/* The clock is no MPI call, and all ranks have the same. */
static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

static void *hogs(void *unused)
{
    while (!over)
        ;
    return unused;
}

/* New threads run on one processor. */
static void together(void)
{
    cpu_set_t all, one;

    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0 && cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    pthread_attr_setaffinity_np(&attributes, sizeof one, &one);
}

static void *sends(void *argument)
{
    struct late *late = argument;

    late->begun = seconds();
    if (late->sleep)
        usleep(late->sleep);
    MPI_Send(&late->before, 2, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD);
    return NULL;
}

/* Rank 0 starts a thread, and perhaps receives. Rank 1 returns when the thread has begun, and when
   its message has come, after the start in us. */
static struct late exchange(int rank, int sleep, int receives)
{
    struct late late = {.sleep = sleep};
    pthread_t thread;

    if (rank == 0) {
        late.before = seconds();
        pthread_create(&thread, &attributes, sends, &late);
        if (receives)
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        pthread_join(thread, NULL);
    } else if (rank == 1) {
        MPI_Recv(&late.before, 2, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        late.begun = 1e6 * (late.begun - late.before);
        late.before = 1e6 * (seconds() - late.before);
        if (receives)
            MPI_Send(NULL, 0, MPI_BYTE, 0, 8, MPI_COMM_WORLD);
    }
    return late;
}

int main(int argc, char **argv)
{
    int rank, provided, late = 0;
    double receives, joins;
    pthread_t hog;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_attr_init(&attributes);
    together();
    pthread_create(&hog, &attributes, hogs, NULL);
    for (int start = 0; start < STARTS; start++)
        late += exchange(rank, 0, 1).begun > 0;
    over = 1;
    pthread_join(hog, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    receives = exchange(rank, 10000, 1).before;
    MPI_Barrier(MPI_COMM_WORLD);
    joins = exchange(rank, 10000, 0).before;
    if (rank == 1)
        printf("late %d\nreceives %.0f\njoins %.0f\n", late, receives, joins);
    MPI_Finalize();
    return 0;
}
