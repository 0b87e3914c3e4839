/* Ranks that poll: livelock KIND. Rank 0 polls, the others wait for it. In kinds a to g no message
   comes any more; in m to r the loop ends by itself, or the awaited message is sent after long. */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static long counted;

static void until_told(void)
{
    int token = 0;
    MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void tell_all(int size)
{
    int token = 1;
    for (int other = 1; other < size; other++)
        MPI_Send(&token, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
}

static void computes(double seconds)
{
    volatile double sum = 0;
    for (double i = 0; i < seconds * 3e8; i++)
        sum = sum + i;
}

static void *waits(void *lock)
{
    pthread_mutex_lock(lock);
    return lock;
}

int main(int argc, char **argv)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t other;
    int rank, size, flag = 0, token = 0;
    long zero = 0, one = 1, found = 1;
    MPI_Win window;
    long *words;
    MPI_Request request;
    char kind;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    kind = argv[1][0];
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &words, &window);
    *words = 1; /* a lock that is taken */
    MPI_Win_lock_all(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0 && !(rank == 1 && (kind == 'n' || kind == 'N' || kind == 'o'))) {
        until_told();
    } else if (rank == 1) {
        if (kind == 'o')
            sleep(1);
        else
            computes(kind == 'n' ? 6 : 600);
        MPI_Send(&token, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
        until_told();
    } else {
        if (kind != 'b')
            MPI_Irecv(&token, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, &request);
        switch (kind) {
        case 'a': /* a test */
        case 'n': /* the same, and rank 1 computes for long, then sends */
        case 'N': /* the same, for longer than a test waits */
        case 'o': /* the same, and rank 1 sleeps for long */
            while (!flag)
                MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            break;
        case 'b': /* a probe, beside a thread that waits */
            pthread_mutex_lock(&lock);
            pthread_create(&other, NULL, waits, &lock);
            while (!flag)
                MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            break;
        case 'c': /* tests of all kinds, and sleep */
            while (!flag) {
                int index, outcount;
                MPI_Testall(1, &request, &flag, MPI_STATUSES_IGNORE);
                if (!flag)
                    MPI_Testany(1, &request, &index, &flag, MPI_STATUS_IGNORE);
                if (!flag)
                    MPI_Testsome(1, &request, &outcount, &index, MPI_STATUSES_IGNORE);
                usleep(50);
            }
            break;
        case 'd': /* a lock that is never freed */
            while (found != 0) {
                MPI_Compare_and_swap(&one, &zero, &found, MPI_LONG, 1, 0, window);
                MPI_Win_flush(1, window);
            }
            break;
        case 'e': /* a word that never changes */
            while (found != 7) {
                MPI_Fetch_and_op(&one, &found, MPI_LONG, 1, 0, MPI_NO_OP, window);
                MPI_Win_flush(1, window);
            }
            break;
        case 'f': /* the same, by gets */
            while (found != 7) {
                MPI_Get(&found, 1, MPI_LONG, 1, 0, 1, MPI_LONG, window);
                MPI_Win_flush(1, window);
            }
            break;
        case 'g': /* its own word */
            while (*(volatile long *)words != 7)
                MPI_Win_sync(window);
            break;
        case 'm': /* gives up after some looks */
            for (long i = 0; i < 150000 && !flag; i++)
                MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            break;
        case 'p': /* the same, and counts in a static variable */
            for (counted = 0; counted < 150000 && !flag; counted++)
                MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            break;
        case 'q': { /* gives up after a time */
            double end = MPI_Wtime() + 3;
            while (!flag && MPI_Wtime() < end)
                MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            break;
        }
        case 'r': /* counts to a number in another rank's memory */
            while (found < 60000) {
                MPI_Fetch_and_op(&one, &found, MPI_LONG, 1, 0, MPI_SUM, window);
                MPI_Win_flush(1, window);
            }
            break;
        }
        if (!flag && kind != 'b') {
            MPI_Cancel(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        tell_all(size);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    if (rank == 0)
        printf("ended\n");
    MPI_Finalize();
    return 0;
}
