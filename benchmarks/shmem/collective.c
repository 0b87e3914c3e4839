/* Barriers and broadcasts over all processes, alone and among puts (petrini2001): the mean time per
 * call at process 0.
 *
 * The first word is the put length; before each call every process begins a put to the process half
 * the machine away, except with 0B. The others are broadcast lengths. A barrier before each
 * broadcast keeps the root from getting ahead.
 *
 *     elanite prun -n 64 --machine es40-qsnet ./collective 0B 4KB 64KB
 */
#include "bench.h"

static int me, all;
static long psync[SHMEM_BCAST_SYNC_SIZE];
static char *other_traffic;
static size_t background;

static void keep_busy(void)
{
    if (background > 0)
        shmem_putmem_nbi(other_traffic + background, other_traffic, background,
                         (me + all / 2) % all);
}

static void measure(size_t size)
{
    double sum = 0;
    char *from = shmem_malloc(size), *to = shmem_malloc(size);
    for (int i = 0; i < REPEATS + 2; i++) {
        keep_busy();
        if (size > 0)
            shmem_sync_all();
        double begin = now_us();
        if (size > 0)
            shmem_broadcast64(to, from, size / 8, 0, 0, 0, all, psync);
        else
            shmem_sync_all();
        if (i >= 2)
            sum += now_us() - begin;
    }
    shmem_quiet();
    if (me == 0)
        line(size > 0 ? "broadcast" : "barrier", size, sum / REPEATS);
    shmem_free(to);
    shmem_free(from);
}

int main(int count, char **words)
{
    shmem_init();
    me = shmem_my_pe();
    all = shmem_n_pes();
    background = count > 1 ? size_of(words[1]) : 0;
    other_traffic = shmem_malloc(2 * background);
    for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; i++)
        psync[i] = SHMEM_SYNC_VALUE;
    if (me == 0)
        head();
    measure(0);
    for (int i = 2; i < count; i++)
        measure(size_of(words[i]));
    shmem_finalize();
    return 0;
}
