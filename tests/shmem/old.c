/* A program from the era of Cray, SGI and Quadrics. */
#include <mpp/shmem.h>
#include <stdio.h>
#include <stdlib.h>

static long pSync[_SHMEM_REDUCE_SYNC_SIZE], bSync[_SHMEM_BARRIER_SYNC_SIZE];
static int pWrk[_SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static int sum, mine;
static long flag, masked = 0x0f;
static float real = 1;

#define CHECK(condition)                                                                           \
    if (!(condition)) {                                                                            \
        printf("%d: %s\n", __LINE__, #condition);                                                  \
        abort();                                                                                   \
    }

int main(void)
{
    int me, all, right;
    long *block;

    start_pes(0);
    me = _my_pe();
    all = _num_pes();
    CHECK(me == shmem_my_pe() && all == shmem_n_pes());
    right = (me + 1) % all;
    for (int i = 0; i < _SHMEM_REDUCE_SYNC_SIZE; i++)
        pSync[i] = _SHMEM_SYNC_VALUE;
    block = shmalloc(100 * sizeof *block);
    block[0] = me;
    block = shrealloc(block, 200 * sizeof *block);
    CHECK(block[0] == me);
    shmem_barrier_all();
    CHECK(shmem_long_g(block, right) == right);
    shmem_long_put(block + 1, block, 1, right);
    shmem_udcflush();
    shmem_clear_cache_inv();
    shmem_set_cache_inv();
    shmem_set_cache_line_inv(block);
    shmem_clear_cache_line_inv(block);
    shmem_udcflush_line(block);
    shmem_barrier(0, 0, all, bSync);
    CHECK(block[1] == (me + all - 1) % all);
    shfree(block);
    shfree(shmemalign(256, 10));

    mine = me + 1;
    shmem_int_sum_to_all(&sum, &mine, 1, 0, 0, all, pWrk, pSync);
    CHECK(sum == all * (all + 1) / 2);

    CHECK(shmem_long_fadd(&flag, 0, right) == 0);
    shmem_barrier_all();
    CHECK(shmem_long_finc(&flag, right) == 0);
    shmem_wait(&flag, 0);
    shmem_long_add(&flag, 2, right);
    shmem_long_inc(&flag, right);
    shmem_long_wait_until(&flag, _SHMEM_CMP_EQ, 4);
    shmem_barrier_all();
    CHECK(shmem_swap(&flag, 9, right) == 4 && shmem_long_cswap(&flag, 9, 10, right) == 9);
    shmem_barrier_all();
    CHECK(flag == 10 && shmem_long_fetch(&flag, right) == 10);
    shmem_barrier_all();
    shmem_long_set(&flag, 11, right);
    CHECK(shmem_long_mswap(&masked, 0x3c, 0x30, right) == 0x0f);
    CHECK(shmem_float_swap(&real, 2, right) == 1);
    shmem_barrier_all();
    CHECK(flag == 11 && masked == 0x33 && real == 2 && shmem_mswap(&masked, 0, 1, me) == 0x33);
    shmem_barrier_all();
    if (me == 0)
        printf("well\n");
    return 0;
}
