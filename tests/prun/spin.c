/* A ping-pong that receives by polling a word, without a call: the other rank puts the word.
   Arguments: rounds, and how to wait: loop, count (a loop that counts), wait (a call). Prints the
   time per round. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile long word;
static unsigned long looks;

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static void receive(const char *how, long value)
{
    if (!strcmp(how, "loop"))
        while (word != value)
            ;
    else if (!strcmp(how, "count"))
        while (word != value)
            looks++;
    else
        shmem_long_wait_until((long *)&word, SHMEM_CMP_EQ, value);
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 10;
    const char *how = argc > 2 ? argv[2] : "loop";

    shmem_init();
    int me = shmem_my_pe(), other = 1 - me;
    shmem_barrier_all();
    double begin = now();
    for (long round = 1; round <= rounds; round++) {
        if (me == 0)
            shmem_long_p((long *)&word, round, other);
        receive(how, round);
        if (me == 1)
            shmem_long_p((long *)&word, round, other);
    }
    if (me == 0)
        printf("%.4f us a round\n", (now() - begin) / rounds);
    return 0;
}
