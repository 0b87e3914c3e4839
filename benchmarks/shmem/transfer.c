/* Puts and gets of process 0 to and from process 1, one after the other: the mean time per
 * operation, and the bandwidth.
 *
 *     elanite prun -n 2 --machine es40-qsnet ./transfer 8B 4KB 256KB
 */
#include "bench.h"

static void transfer(size_t size)
{
    char *here = shmem_malloc(size), *there = shmem_malloc(size);
    if (shmem_my_pe() == 0) {
        double begin = 0;
        for (int i = 0; i < REPEATS + 2; i++) {
            if (i == 2) {
                shmem_quiet();
                begin = now_us();
            }
            shmem_putmem(there, here, size, 1);
        }
        shmem_quiet();
        line("put", size, (now_us() - begin) / REPEATS);
        for (int i = 0; i < REPEATS + 2; i++) {
            if (i == 2)
                begin = now_us();
            shmem_getmem(here, there, size, 1);
        }
        line("get", size, (now_us() - begin) / REPEATS);
    }
    shmem_free(there);
    shmem_free(here);
}

int main(int count, char **words)
{
    shmem_init();
    if (shmem_n_pes() < 2) {
        fprintf(stderr, "transfers need 2 processes\n");
        shmem_global_exit(2);
    }
    if (shmem_my_pe() == 0)
        head();
    for (int i = 1; i < count; i++)
        transfer(size_of(words[i]));
    shmem_finalize();
    return 0;
}
