/* Two threads of each rank exchange messages with their likes in the next rank, each with its own
 * tag. */
#include "check.h"

#include <mpi.h>
#include <pthread.h>

enum { THREADS = 2, MESSAGES = 200, LENGTH = 500 };

static void *work(void *argument)
{
    int thread = *(int *)argument, left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    for (int number = 0; number < MESSAGES; number++) {
        char out[LENGTH], in[LENGTH], right_content[LENGTH];
        fill(out, LENGTH, key_of(rank, right, thread * MESSAGES + number));
        fill(right_content, LENGTH, key_of(left, rank, thread * MESSAGES + number));
        MPI_Sendrecv(out, LENGTH, MPI_BYTE, right, thread, in, LENGTH, MPI_BYTE, left, thread,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int place = 0; place < LENGTH; place++)
            require(in[place] == right_content[place], "thread %d: message %d is wrong at %d",
                    thread, number, place);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, numbers[THREADS];
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    require(provided == MPI_THREAD_MULTIPLE, "threads at level %d only", provided);
    for (int thread = 0; thread < THREADS; thread++) {
        numbers[thread] = thread;
        require(pthread_create(&threads[thread], NULL, work, &numbers[thread]) == 0, "no thread %d",
                thread);
    }
    for (int thread = 0; thread < THREADS; thread++)
        pthread_join(threads[thread], NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    say("%d threads exchanged %d messages each", THREADS * ranks, MESSAGES);
    return check_end();
}
