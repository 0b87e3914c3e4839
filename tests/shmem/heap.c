/* The symmetric heap. */
#include "check.h"

static void *addresses[64];
static long sync_array[SHMEM_COLLECT_SYNC_SIZE];

/* Whether all have the same address. */
static int is_symmetric(void *at)
{
    shmem_barrier_all();
    shmem_fcollect64(addresses, &at, 1, 0, 0, all, sync_array);
    for (int pe = 0; pe < all; pe++)
        if (addresses[pe] != at)
            return 0;
    return 1;
}

int main(void)
{
    begin();
    CHECK(shmem_malloc(0) == NULL);
    char *one = shmem_malloc(1), *large = shmem_malloc(3 << 20), *page = shmem_align(4096, 10);
    CHECK(one && large && page && is_symmetric(one) && is_symmetric(large) && is_symmetric(page));
    CHECK((size_t)page % 4096 == 0);
    char *odd = shmem_align(65, 8);
    CHECK(odd && (size_t)odd % 128 == 0 && is_symmetric(odd));
    shmem_free(odd);

    int *zeros = shmem_calloc(1000, sizeof *zeros);
    for (int i = 0; i < 1000; i++)
        CHECK(zeros[i] == 0);
    for (int i = 0; i < 1000; i++)
        zeros[i] = me * 1000 + i;
    int *more = shmem_realloc(zeros, 100000 * sizeof *more);
    CHECK(is_symmetric(more));
    for (int i = 0; i < 1000; i++)
        CHECK(more[i] == me * 1000 + i);
    CHECK(shmem_int_g(&more[999], right) == right * 1000 + 999);
    int *less = shmem_realloc(more, 10 * sizeof *less);
    CHECK(less[9] == me * 1000 + 9 && is_symmetric(less));
    CHECK(shmem_realloc(less, 0) == NULL);

    shmem_free(large);
    char *again = shmem_malloc(2 << 20);
    CHECK(again == large);
    memset(again, me + 1, 2 << 20);
    shmem_free(again);
    shmem_free(NULL);
    int *clean = shmem_calloc(1 << 18, sizeof *clean);
    for (int i = 0; i < 1 << 18; i++)
        CHECK(clean[i] == 0);
    CHECK(shmem_malloc((size_t)1 << 50) == NULL); /* more than any heap has */
    shmem_free(clean);
    shmem_free(one);
    shmem_free(page);
    end();
    return 0;
}
