/* A thread of each rank exchanges messages with the other rank's, while the first thread does what
 * a letter of the program's word says; or several threads exchange messages (t), or none (a). For
 * each letter, rank 0 prints how long the exchange took alone, how long beside, and how long the
 * first thread was at its work; in ns.
 */
#define _GNU_SOURCE
#include "check.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MESSAGES = 60, THREADS = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t come = PTHREAD_COND_INITIALIZER;
static int received, number[THREADS];
static double ends[THREADS];
static atomic_int over;

static void exchange(int tag)
{
    int other = 1 - rank, in;
    for (int message = 0; message < MESSAGES; message++) {
        MPI_Sendrecv(&message, 1, MPI_INT, other, tag, &in, 1, MPI_INT, other, tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        require(in == message, "message %d is %d", message, in);
    }
}

static void *exchanges(void *argument)
{
    int thread = *(int *)argument;
    exchange(thread);
    ends[thread] = MPI_Wtime();
    over = 1;
    return NULL;
}

static void *receives(void *argument)
{
    (void)argument;
    for (int message = 0, in; message < MESSAGES; message++) {
        MPI_Recv(&in, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        pthread_mutex_lock(&lock);
        received++;
        pthread_cond_signal(&come);
        pthread_mutex_unlock(&lock);
    }
    ends[0] = MPI_Wtime();
    return NULL;
}

/* Sends each message when the thread beside has received the one before. */
static void sends(void)
{
    for (int message = 0; message < MESSAGES; message++) {
        MPI_Send(&message, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
        pthread_mutex_lock(&lock);
        while (received <= message)
            pthread_cond_wait(&come, &lock);
        pthread_mutex_unlock(&lock);
    }
}

/* The first thread's work. */
static void work(char what)
{
    int flag;
    switch (what) {
    case 'q': /* sends messages to a thread */
        sends();
        break;
    case 'c': /* reads the clock */
        while (!over)
            MPI_Wtime();
        break;
    case 'p': /* polls */
        while (!over)
            MPI_Iprobe(MPI_ANY_SOURCE, THREADS, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        break;
    case 's': /* sleeps, for longer than the exchange takes */
        usleep(1000);
        break;
    case 'n': /* sleeps for short times */
        for (int sleep = 0; sleep < 10; sleep++)
            usleep(20);
        break;
    case 'w': /* sleeps until the exchange has ended */
        while (!over)
            usleep(7);
    }
}

static void measure(char what)
{
    pthread_t threads[THREADS];
    int count = what == 't' ? THREADS : what != 'a';
    void *(*function)(void *) = what == 'q' ? receives : exchanges;
    received = over = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    exchange(0);
    double alone = MPI_Wtime() - begin, last = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int thread = 0; thread < count; thread++) {
        number[thread] = thread;
        require(!pthread_create(&threads[thread], NULL, function, &number[thread]), "no thread");
    }
    work(what);
    double lasted = MPI_Wtime() - begin;
    for (int thread = 0; thread < count; thread++) {
        pthread_join(threads[thread], NULL);
        if (ends[thread] - begin > last)
            last = ends[thread] - begin;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    say("%c %.0f %.0f %.0f", what, 1e9 * alone, 1e9 * last, 1e9 * lasted);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    require(provided == MPI_THREAD_MULTIPLE && ranks == 2, "level %d", provided);
    for (const char *what = argv[1]; *what; what++)
        measure(*what);
    return check_end();
}
