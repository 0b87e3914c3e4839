/* The names that choose the type by themselves. */
#include "check.h"

static long words[10];
static double reals[10];
static volatile unsigned short flag;
static unsigned long long bits = 12;
static signed char letter;
static const volatile int *nothing;

int main(void)
{
    begin();
    double values[10];
    shmem_ctx_t ctx;
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    for (int i = 0; i < 10; i++)
        values[i] = me + i / 4.0;
    shmem_put(reals, values, 5, right);
    shmem_put_nbi(ctx, &reals[5], &values[5], 5, right);
    shmem_ctx_quiet(ctx);
    shmem_p(words, 3, right);
    shmem_p(ctx, &words[1], me + 4, right);
    shmem_ctx_quiet(ctx);
    shmem_p(&letter, -3, right);
    shmem_barrier_all();
    for (int i = 0; i < 10; i++)
        CHECK(reals[i] == left + i / 4.0);
    CHECK(words[0] == 3 && words[1] == left + 4 && letter == -3);
    CHECK(shmem_g(&reals[3], right) == me + 0.75 && shmem_g(ctx, &words[1], right) == me + 4);
    shmem_get(values, reals, 10, right);
    shmem_get_nbi(ctx, values, reals, 10, right);
    shmem_ctx_quiet(ctx);
    CHECK(values[9] == me + 9 / 4.0);
    shmem_barrier_all();
    shmem_iput(reals, values, 2, 1, 5, right);
    shmem_iget(ctx, values, reals, 1, 2, 5, right);
    shmem_barrier_all();

    CHECK(shmem_atomic_fetch(&bits, right) == 12);
    shmem_barrier_all();
    shmem_atomic_add(&bits, 3, right);
    shmem_quiet();
    CHECK(shmem_atomic_fetch_and(ctx, &bits, 0x1a, right) == 15);
    CHECK(shmem_atomic_compare_swap(&bits, 10, 40, right) == 10);
    CHECK(shmem_atomic_swap(&bits, 41, right) == 40 && shmem_atomic_fetch_inc(&bits, right) == 41);
    shmem_atomic_xor(&bits, 2, right);
    shmem_barrier_all();
    CHECK(bits == 40);
    CHECK(shmem_atomic_swap(&reals[1], 0.5, right) != 0.5);
    shmem_barrier_all();
    CHECK(reals[1] == 0.5);
    shmem_atomic_set(&reals[1], 1.5, right);
    shmem_barrier_all();
    CHECK(reals[1] == 1.5);

    shmem_ushort_p((unsigned short *)&flag, 7, right);
    shmem_wait_until(&flag, SHMEM_CMP_GE, 7);
    CHECK(shmem_test(&flag, SHMEM_CMP_EQ, 7) && nothing == NULL);

    words[5] = 0;
    shmem_barrier_all();
    CHECK(shmem_fadd(&words[5], 2, right) == 0 && shmem_finc(&words[5], right) == 2);
    shmem_add(&words[5], 1, right);
    shmem_inc(&words[5], right);
    shmem_barrier_all();
    CHECK(shmem_fetch(&words[5], right) == 5 && shmem_cswap(&words[5], 5, 6, right) == 5);
    CHECK(shmem_swap(&words[5], 7, right) == 6);
    shmem_ctx_destroy(ctx);
    end();
    return 0;
}
