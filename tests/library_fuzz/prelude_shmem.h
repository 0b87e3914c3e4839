/* Programs for OpenSHMEM. */
#include <shmem.h>
#include "common.h"

static shmem_team_t teams[GROUPS];
static shmem_ctx_t extra;
static long locks[2], sync_words[SHMEM_SYNC_SIZE];

static inline void begin(void)
{
    shmem_init();
    me = shmem_my_pe();
    all = shmem_n_pes();
    heap = shmem_align(64, SIZE);
    (void)sync_words;
    if (shmem_ctx_create(0, &extra))
        abort();
    fill();
    shmem_barrier_all();
}

static inline void record(void)
{
    shmem_barrier_all();
    append();
    shmem_barrier_all();
}

static inline int finish(void)
{
    shmem_finalize();
    return 0;
}

static inline void await_by_call(int number)
{
    shmem_signal_wait_until((uint64_t *)&signals[number], SHMEM_CMP_EQ, 1000 + (uint64_t)number);
}

static inline void await_by_test(int number)
{
    while (!shmem_uint64_test((uint64_t *)&signals[number], SHMEM_CMP_NE, 0))
        ;
}

static inline void ticket(void *word, void *sum, uint64_t step, int pe)
{
    shmem_uint64_atomic_add(sum, shmem_uint64_atomic_fetch_add(word, step, pe), pe);
}

static inline void locked(void *word, uint64_t operand, int lock, int pe)
{
    shmem_set_lock(&locks[lock]);
    shmem_uint64_p(word, shmem_uint64_g(word, pe) + operand, pe);
    shmem_quiet();
    shmem_clear_lock(&locks[lock]);
}
