/* A processing element's threads that wait for each other: one waits for a word that changes only
 * after another one has called, while the other processing element tests and lets time pass; and
 * threads that take an OpenSHMEM lock in turns. */
#include "check.h"

#include <pthread.h>

enum { ROUNDS = 4, TURNS = 3 };

static long ask, answer, lock, count;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int next;

/* Asks after the first thread has begun to wait, most probably. */
static void *asks(void *round)
{
    for (volatile long idle = 0; idle < 3000000; idle++)
        ;
    shmem_long_p(&ask, *(long *)round, next);
    shmem_quiet();
    return round;
}

static void rounds(void)
{
    for (long round = 1; round <= ROUNDS; round++) {
        if (me % 2 == 0 && next != me) {
            pthread_t other;
            CHECK(pthread_create(&other, NULL, asks, &round) == 0);
            shmem_long_wait_until(&answer, SHMEM_CMP_EQ, round);
            CHECK(pthread_join(other, NULL) == 0);
        } else if (me % 2 == 1) {
            while (!shmem_long_test(&ask, SHMEM_CMP_EQ, round))
                ;
            shmem_long_p(&answer, round, me - 1);
            shmem_quiet();
        }
    }
}

/* An OpenSHMEM lock belongs to the processing element: its threads take turns. */
static void *takes(void *unused)
{
    for (int times = 0; times < TURNS; times++) {
        pthread_mutex_lock(&turn);
        shmem_set_lock(&lock);
        long found = shmem_long_g(&count, 0);
        shmem_long_p(&count, found + 1, 0);
        shmem_clear_lock(&lock);
        pthread_mutex_unlock(&turn);
    }
    return unused;
}

int main(void)
{
    int provided;
    pthread_t others[2];
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 &&
          provided == SHMEM_THREAD_MULTIPLE);
    me = shmem_my_pe();
    /* The last one in an odd number is alone. */
    all = shmem_n_pes();
    next = me + 1 < all ? me + 1 : me;
    rounds();
    shmem_barrier_all();
    for (int one = 0; one < 2; one++)
        CHECK(pthread_create(&others[one], NULL, takes, NULL) == 0);
    for (int one = 0; one < 2; one++)
        CHECK(pthread_join(others[one], NULL) == 0);
    shmem_barrier_all();
    if (me == 0)
        CHECK(count == 2L * TURNS * all);
    end();
    return 0;
}
