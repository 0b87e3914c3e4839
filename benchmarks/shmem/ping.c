/* Ping: half the round trip of a put that the other process answers when it sees its last word
 * (petrini2003 s4.1).
 *
 *     elanite prun -n 2 --machine es40-qsnet ./ping 8B 1KB 64KB
 */
#include "bench.h"

static void ping(size_t size)
{
    int me = shmem_my_pe(), other = 1 - me;
    char *out = shmem_malloc(size), *in = shmem_calloc(1, size);
    long *last_out = (long *)(out + size - sizeof(long)),
         *last_in = (long *)(in + size - sizeof(long));
    double begin = 0;
    for (long round = 1; round <= REPEATS + 2; round++) {
        if (round == 3)
            begin = now_us();
        *last_out = round;
        if (me == 0)
            shmem_putmem(in, out, size, other);
        shmem_long_wait_until(last_in, SHMEM_CMP_EQ, round);
        if (me == 1)
            shmem_putmem(in, out, size, other);
    }
    double each = (now_us() - begin) / (2 * REPEATS);
    if (me == 0)
        line("ping", size, each);
    shmem_free(in);
    shmem_free(out);
}

int main(int count, char **words)
{
    shmem_init();
    if (shmem_n_pes() != 2) {
        fprintf(stderr, "a ping needs 2 processes\n");
        shmem_global_exit(2);
    }
    if (shmem_my_pe() == 0)
        head();
    for (int i = 1; i < count; i++)
        ping(size_of(words[i]));
    shmem_finalize();
    return 0;
}
