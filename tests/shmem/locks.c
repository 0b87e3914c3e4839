/* Locks: one at a time, in request order, and the owner's puts are there for the next one. */
#include "check.h"

static long lock, other;
static long inside, count, order[64], turns;

int main(void)
{
    begin();
    for (int round = 0; round < 10; round++) {
        shmem_set_lock(&lock);
        CHECK(shmem_long_atomic_fetch_inc(&inside, 0) == 0);
        long seen = shmem_long_g(&count, 0);
        shmem_long_p(&count, seen + 1, 0); /* no other addition is lost in between */
        CHECK(shmem_long_atomic_fetch_add(&inside, -1, 0) == 1);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    CHECK(shmem_long_g(&count, 0) == 10 * all);
    CHECK(lock == 0);

    /* The first to ask is first: each asks when the one before has asked. */
    if (me == 0)
        shmem_set_lock(&lock);
    shmem_barrier_all();
    if (me > 0) {
        shmem_long_wait_until(&turns, SHMEM_CMP_EQ, me);
        if (right > 0)
            shmem_long_p(&turns, me + 1, right);
        shmem_set_lock(&lock);
        long place = shmem_long_atomic_fetch_inc(&inside, 0);
        shmem_long_p(&order[place], me, 0);
        shmem_clear_lock(&lock);
    } else if (all > 1) {
        CHECK(shmem_test_lock(&lock) == 1);
        shmem_long_p(&turns, 1, 1);
        while (shmem_test_lock(&lock) == 0)
            ;
        shmem_clear_lock(&lock);
    } else {
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    for (int i = 0; i < all - 1 && me == 0; i++)
        CHECK(order[i] > 0);

    /* Only one gets a lock that is free. */
    if (shmem_test_lock(&other) == 0)
        shmem_long_atomic_inc(&order[63], 0);
    shmem_barrier_all();
    CHECK(shmem_long_g(&order[63], 0) == 1);
    CHECK(shmem_test_lock(&other) == 1);
    end();
    return 0;
}
