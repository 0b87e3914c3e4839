/* Rank 0 is blocked without a time-out until a thread acts after a sleep of 0.1 s: by a lock that
 * the thread holds, or by a file into which it writes; it may compute before, as OpenMP's threads
 * do before they wait for others. A line for each: its name, and how long it took by MPI_Wtime, in
 * us.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SLEEP = 100000 }; /* us */

static const char *const LOCKS[] = {"mutex", "rwlock", "spinlock"};
static const char *const FILES[] = {"pipe", "socket", "eventfd", "pipe, after a loop"};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;
static atomic_int held;

static void lock(int which)
{
    if (which == 0)
        pthread_mutex_lock(&mutex);
    else if (which == 1)
        pthread_rwlock_wrlock(&rwlock);
    else
        pthread_spin_lock(&spinlock);
}

static void unlock(int which)
{
    if (which == 0)
        pthread_mutex_unlock(&mutex);
    else if (which == 1)
        pthread_rwlock_unlock(&rwlock);
    else
        pthread_spin_unlock(&spinlock);
}

static void *holds(void *which)
{
    lock((int)(intptr_t)which);
    held = 1;
    usleep(SLEEP);
    unlock((int)(intptr_t)which);
    return NULL;
}

static void *writes(void *file)
{
    uint64_t one = 1;

    usleep(SLEEP);
    if (write((int)(intptr_t)file, &one, sizeof one) != sizeof one)
        abort();
    return NULL;
}

static void blocks(void)
{
    int files[4][2];
    double begun;
    pthread_t thread;
    uint64_t got;

    pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
    files[2][0] = files[2][1] = eventfd(0, 0);
    if (files[2][0] < 0 || pipe(files[0]) || pipe(files[3]) ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, files[1]))
        abort();
    for (int which = 0; which < 3; which++) {
        held = 0;
        begun = MPI_Wtime();
        pthread_create(&thread, NULL, holds, (void *)(intptr_t)which);
        while (!held)
            sched_yield();
        lock(which);
        printf("%-28s %9.1f\n", LOCKS[which], 1e6 * (MPI_Wtime() - begun));
        unlock(which);
        pthread_join(thread, NULL);
    }
    for (int which = 0; which < 4; which++) {
        begun = MPI_Wtime();
        pthread_create(&thread, NULL, writes, (void *)(intptr_t)files[which][1]);
        for (volatile int i = 0; which == 3 && i < 20000000; i++)
            ;
        if (read(files[which][0], &got, sizeof got) != sizeof got)
            abort();
        printf("%-28s %9.1f\n", FILES[which], 1e6 * (MPI_Wtime() - begun));
        pthread_join(thread, NULL);
    }
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        blocks();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
