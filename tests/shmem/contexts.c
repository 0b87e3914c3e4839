/* Contexts: all calls in them, and that they are waited for apart. */
#include "check.h"

static long word, words[100], got[100];
static float real;

int main(void)
{
    long options[] = {0, SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE,
                      SHMEM_CTX_NOSTORE | SHMEM_CTX_PRIVATE};
    begin();
    for (int k = 0; k < 4; k++) {
        shmem_ctx_t ctx, other;
        word = 0;
        memset(words, 0, sizeof words);
        shmem_barrier_all();
        CHECK(shmem_ctx_create(options[k], &ctx) == 0 && shmem_ctx_create(0, &other) == 0);
        CHECK(ctx != other && ctx != SHMEM_CTX_DEFAULT && other != SHMEM_CTX_DEFAULT);
        for (int i = 0; i < 100; i++)
            got[i] = me + i;
        shmem_ctx_long_put(ctx, words, got, 50, right);
        shmem_ctx_long_put_nbi(other, words + 50, got + 50, 50, right);
        shmem_ctx_fence(ctx);
        shmem_ctx_quiet(ctx);
        shmem_ctx_quiet(other);
        shmem_barrier_all();
        for (int i = 0; i < 100; i++)
            CHECK(words[i] == left + i);
        memset(got, 0, sizeof got);
        shmem_ctx_long_get(ctx, got, words, 50, right);
        shmem_ctx_long_get_nbi(ctx, got + 50, words + 50, 50, right);
        shmem_ctx_quiet(ctx);
        for (int i = 0; i < 100; i++)
            CHECK(got[i] == me + i);
        shmem_ctx_getmem(ctx, got, words + 1, sizeof *got, right);
        CHECK(got[0] == me + 1);
        shmem_ctx_long_p(ctx, &words[3], 33, right);
        shmem_ctx_quiet(ctx);
        CHECK(shmem_ctx_long_g(ctx, &words[3], right) == 33);
        shmem_ctx_put64(ctx, words, got, 1, right);
        shmem_ctx_long_iput(ctx, words + 10, got, 2, 1, 5, right);
        shmem_ctx_long_iget(ctx, got + 10, words + 10, 1, 2, 5, right);
        CHECK(shmem_ctx_long_atomic_fetch_add(ctx, &word, 5, right) == 0);
        shmem_ctx_long_atomic_inc(ctx, &word, right);
        shmem_ctx_quiet(ctx);
        CHECK(shmem_ctx_long_atomic_fetch(ctx, &word, right) == 6);
        CHECK(shmem_ctx_ulong_atomic_fetch_xor(ctx, (unsigned long *)&word, 3, right) == 6);
        CHECK(shmem_ctx_long_atomic_compare_swap(ctx, &word, 5, 9, right) == 5);
        shmem_ctx_float_atomic_set(ctx, &real, me + 0.5f, right);
        shmem_ctx_quiet(ctx);
        shmem_barrier_all();
        CHECK(real == left + 0.5f && word == 9);
        shmem_ctx_destroy(ctx);
        shmem_ctx_destroy(other);
        shmem_barrier_all();
    }
    shmem_ctx_quiet(SHMEM_CTX_DEFAULT);
    end();
    return 0;
}
