/* Rank 0 waits for a thread that acts after a sleep of 0.1 s, in ways that give up later or never;
 * so they end with that sleep in simulated time. A line for each: its name, and how long it took by
 * MPI_Wtime, in us. The argument is the level of threads.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <time.h>
#include <unistd.h>

enum { SLEEP = 100000, LATER = 600000 }; /* us */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_t thread;
static atomic_int done;
static int ends[2], set;
static mqd_t queue;
static double begun;

static void *acts(void *unused)
{
    struct sembuf post = {.sem_op = 1};

    usleep(SLEEP);
    pthread_mutex_lock(&mutex);
    done = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    if (write(ends[1], "x", 1) != 1 || mq_send(queue, "x", 1, 0) || semop(set, &post, 1))
        abort();
    return unused;
}

static void begin(void)
{
    done = 0;
    begun = MPI_Wtime();
    pthread_create(&thread, NULL, acts, NULL);
}

static void end(const char *what, int good)
{
    struct sembuf take = {.sem_op = -1, .sem_flg = IPC_NOWAIT};
    struct timespec none = {0, 0};
    char text[8];

    printf("%-28s %9.1f%s\n", what, 1e6 * (MPI_Wtime() - begun), good ? "" : " (bad)");
    pthread_join(thread, NULL);
    if (read(ends[0], text, 1) != 1)
        abort();
    mq_timedreceive(queue, text, sizeof text, NULL, &none);
    semop(set, &take, 1);
}

static struct timespec in(long us)
{
    struct timespec moment;
    clock_gettime(CLOCK_REALTIME, &moment);
    moment.tv_nsec += 1000 * us;
    moment.tv_sec += moment.tv_nsec / 1000000000;
    moment.tv_nsec %= 1000000000;
    return moment;
}

static void waits(void)
{
    struct timespec moment, time = {0, 1000 * LATER}, brief = {0, 2000000};
    struct sembuf take = {.sem_op = -1};
    struct pollfd file = {.fd = ends[0], .events = POLLIN};
    char text[8];
    int got = 0;

    begin(), moment = in(LATER);
    pthread_mutex_lock(&mutex);
    while (!done && got == 0)
        got = pthread_cond_timedwait(&condition, &mutex, &moment);
    pthread_mutex_unlock(&mutex);
    end("cond_timedwait", done && got == 0);
    begin(), got = poll(&file, 1, LATER / 1000);
    end("poll", got == 1);
    begin(), got = poll(&file, 1, -1);
    end("poll without an end", got == 1);
    begin(), moment = in(LATER);
    got = (int)mq_timedreceive(queue, text, sizeof text, NULL, &moment);
    end("mq_timedreceive", got == 1);
    begin(), got = semtimedop(set, &take, 1, &time);
    end("semtimedop", got == 0);
    begin(), usleep(LATER);
    end("usleep", done);
    begin();
    while (!done)
        usleep(1000);
    end("short sleeps", 1);
    begin();
    while (!done)
        sched_yield();
    end("sched_yield", 1);
    begin();
    while (!done)
        MPI_Wtime();
    end("readings", 1);

    begun = MPI_Wtime(), moment = in(2000);
    got = (int)mq_timedreceive(queue, text, sizeof text, NULL, &moment);
    printf("%-28s %9.1f%s\n", "mq_timedreceive, in vain", 1e6 * (MPI_Wtime() - begun),
           got == -1 && errno == ETIMEDOUT ? "" : " (bad)");
    take.sem_op = -3, begun = MPI_Wtime(), got = semtimedop(set, &take, 1, &brief);
    printf("%-28s %9.1f%s\n", "semtimedop, in vain", 1e6 * (MPI_Wtime() - begun),
           got == -1 && errno == EAGAIN ? "" : " (bad)");
}

int main(int argc, char **argv)
{
    struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 8};
    char name[32];
    int rank, provided;

    MPI_Init_thread(&argc, &argv, argc > 1 ? atoi(argv[1]) : 0, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        snprintf(name, sizeof name, "/elanite-%d", (int)getpid());
        queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
        mq_unlink(name);
        set = semget(IPC_PRIVATE, 1, 0600);
        if (queue == (mqd_t)-1 || set == -1 || pipe(ends))
            abort();
        waits();
        semctl(set, 0, IPC_RMID);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
