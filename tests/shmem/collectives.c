/* Barriers, broadcasts, collects and exchanges on all elements and on active sets. The work arrays
 * may stay in use. */
#include "check.h"

#define MOST 300
static long psync[SHMEM_COLLECT_SYNC_SIZE + SHMEM_ALLTOALL_SYNC_SIZE + SHMEM_BCAST_SYNC_SIZE +
                  SHMEM_BARRIER_SYNC_SIZE];
static int64_t wide_to[8 * MOST], wide_from[8 * MOST];
static int32_t to[8 * MOST], from[8 * MOST];
static long counter;

/* This element's place in an active set, or -1. */
static int place_in(int start, int log, int size)
{
    int distance = me - start;
    return distance >= 0 && distance % (1 << log) == 0 && distance >> log < size ? distance >> log
                                                                                 : -1;
}

#define VALUE(pe, i) ((pe) * 1000 + (i))

static void fill(void)
{
    for (int i = 0; i < 8 * MOST; i++) {
        wide_to[i] = to[i] = -1;
        wide_from[i] = from[i] = VALUE(me, i);
    }
    shmem_barrier_all();
}

#define TEST_OF(BITS, TO, FROM)                                                                    \
    static void test##BITS(int start, int log, int size)                                           \
    {                                                                                              \
        int place = place_in(start, log, size);                                                    \
        for (int n = 0; n <= MOST; n = 4 * n + 1) {                                                \
            for (int root = 0; root < size; root += size > 1 ? size - 1 : 1) {                     \
                fill();                                                                            \
                if (place >= 0)                                                                    \
                    shmem_broadcast##BITS(TO, FROM, n, root, start, log, size, psync);             \
                shmem_barrier_all();                                                               \
                for (int i = 0; i < 8 * MOST; i++)                                                 \
                    CHECK(TO[i] == (place >= 0 && place != root && i < n                           \
                                        ? VALUE(start + (root << log), i)                          \
                                        : -1));                                                    \
            }                                                                                      \
            fill();                                                                                \
            if (place >= 0)                                                                        \
                shmem_fcollect##BITS(TO, FROM, n, start, log, size, psync);                        \
            shmem_barrier_all();                                                                   \
            for (int i = 0; i < 8 * MOST; i++)                                                     \
                CHECK(TO[i] ==                                                                     \
                      (place >= 0 && i < n * size ? VALUE(start + (i / n << log), i % n) : -1));   \
            fill();                                                                                \
            if (place >= 0)                                                                        \
                shmem_alltoall##BITS(TO, FROM, n, start, log, size, psync);                        \
            shmem_barrier_all();                                                                   \
            for (int i = 0; i < 8 * MOST; i++)                                                     \
                CHECK(TO[i] == (place >= 0 && i < n * size                                         \
                                    ? VALUE(start + (i / n << log), n * place + i % n)             \
                                    : -1));                                                        \
            fill();                                                                                \
            int m = n < MOST / 3 ? n : MOST / 3;                                                   \
            if (place >= 0)                                                                        \
                shmem_alltoalls##BITS(TO, FROM, 2, 3, m, start, log, size, psync);                 \
            shmem_barrier_all();                                                                   \
            for (int i = 0; i < 8 * MOST; i++) {                                                   \
                int k = i / 2, is_set = place >= 0 && i % 2 == 0 && k < m * size;                  \
                CHECK(TO[i] ==                                                                     \
                      (is_set ? VALUE(start + (k / m << log), 3 * (m * place + k % m)) : -1));     \
            }                                                                                      \
        }                                                                                          \
        /* Member k gives 2 * k + 1 elements. */                                                   \
        fill();                                                                                    \
        if (place >= 0)                                                                            \
            shmem_collect##BITS(TO, FROM, 2 * place + 1, start, log, size, psync);                 \
        shmem_barrier_all();                                                                       \
        int at = 0;                                                                                \
        for (int k = 0; k < size && place >= 0; k++)                                               \
            for (int i = 0; i < 2 * k + 1; i++, at++)                                              \
                CHECK(TO[at] == VALUE(start + (k << log), i));                                     \
        for (; at < 8 * MOST; at++)                                                                \
            CHECK(TO[at] == -1);                                                                   \
        shmem_barrier_all();                                                                       \
    }
TEST_OF(32, to, from)
TEST_OF(64, wide_to, wide_from)

/* No element is behind a barrier before all have come. */
static void barriers(int start, int log, int size)
{
    counter = 0;
    shmem_barrier_all();
    if (place_in(start, log, size) >= 0) {
        for (int round = 1; round <= 5; round++) {
            shmem_long_atomic_inc(&counter, start);
            shmem_barrier(start, log, size, psync);
            CHECK(shmem_long_atomic_fetch(&counter, start) == round * size);
            shmem_sync(start, log, size, psync);
        }
    }
    shmem_sync_all();
}

int main(void)
{
    begin();
    for (unsigned i = 0; i < sizeof psync / sizeof *psync; i++)
        psync[i] = SHMEM_SYNC_VALUE;
    int sets[][3] = {{0, 0, all},           {0, 0, 1},
                     {all - 1, 0, 1},       {all / 2, 0, all - all / 2},
                     {0, 1, (all + 1) / 2}, {1, 1, all / 2}};
    for (unsigned i = 0; i < sizeof sets / sizeof *sets; i++) {
        test32(sets[i][0], sets[i][1], sets[i][2]);
        test64(sets[i][0], sets[i][1], sets[i][2]);
        barriers(sets[i][0], sets[i][1], sets[i][2]);
    }
    for (unsigned i = 0; i < sizeof psync / sizeof *psync; i++)
        CHECK(psync[i] == SHMEM_SYNC_VALUE);
    end();
    return 0;
}
