/* Signals, waits for several words, and nonblocking atomic operations, by OpenSHMEM 1.5. */
#include "check.h"

#define MOST 300
static int data[MOST], mine[MOST];
static uint64_t signal_word;
static long words[8], word;
static float real = 2.5f;

static void signals(void)
{
    for (int round = 1; round <= 6; round++) {
        int n = round % 2 ? MOST : 3;
        for (int i = 0; i < n; i++)
            mine[i] = me * 1000 + round * i;
        if (round % 3 == 0)
            shmem_put_signal(data, mine, n, &signal_word, round, SHMEM_SIGNAL_SET, right);
        else if (round % 3 == 1)
            shmem_int_put_signal_nbi(data, mine, n, &signal_word, 1, SHMEM_SIGNAL_ADD, right);
        else
            shmem_ctx_putmem_signal(SHMEM_CTX_DEFAULT, data, mine, n * sizeof *mine, &signal_word,
                                    1, SHMEM_SIGNAL_ADD, right);
        CHECK(shmem_signal_wait_until(&signal_word, SHMEM_CMP_GE, round) == (uint64_t)round);
        for (int i = 0; i < n; i++)
            CHECK(data[i] == left * 1000 + round * i);
        CHECK(shmem_signal_fetch(&signal_word) == (uint64_t)round);
        shmem_barrier_all();
    }
}

static void several(void)
{
    int ignored[8] = {0}, last = all < 8 ? all : 8;
    size_t places[8];
    long values[8];
    for (int i = 0; i < 8; i++)
        values[i] = i + 1;
    for (int pe = 0; pe < last; pe++)
        if (me < 8)
            shmem_p(&words[me], me + 1, pe);
    if (me < last) {
        shmem_wait_until_all(words, last, NULL, SHMEM_CMP_GT, 0);
        shmem_wait_until_all_vector(words, last, NULL, SHMEM_CMP_EQ, values);
        CHECK(shmem_wait_until_any(words, last, NULL, SHMEM_CMP_EQ, last) == (size_t)last - 1);
        CHECK(shmem_wait_until_some(words, last, places, NULL, SHMEM_CMP_GE, 2) ==
                  (size_t)last - 1 &&
              places[0] == 1);
        ignored[0] = 1;
        CHECK(shmem_test_any(words, last, ignored, SHMEM_CMP_NE, 0) == 1);
        CHECK(shmem_test_any(words, last, NULL, SHMEM_CMP_EQ, 100) == SIZE_MAX);
        CHECK(shmem_test_all(words, last, ignored, SHMEM_CMP_GE, 2) &&
              !shmem_test_all(words, last, NULL, SHMEM_CMP_GE, 2));
        CHECK(shmem_test_some(words, last, places, ignored, SHMEM_CMP_LE, 2) == 1 &&
              places[0] == 1);
        CHECK(shmem_test_some_vector(words, last, places, NULL, SHMEM_CMP_EQ, values) ==
              (size_t)last);
        memset(ignored, 1, sizeof ignored);
        CHECK(shmem_wait_until_any(words, last, ignored, SHMEM_CMP_EQ, 77) == SIZE_MAX);
        CHECK(shmem_wait_until_some(words, last, places, ignored, SHMEM_CMP_EQ, 77) == 0);
    }
    shmem_barrier_all();
}

int main(void)
{
    long old[6];
    float number;
    begin();
    signals();
    several();
    shmem_atomic_fetch_add_nbi(&old[0], &word, 5, right);
    shmem_quiet();
    shmem_long_atomic_fetch_inc_nbi(&old[1], &word, right);
    shmem_quiet();
    shmem_atomic_swap_nbi(SHMEM_CTX_DEFAULT, &old[2], &word, 40, right);
    shmem_quiet();
    shmem_atomic_compare_swap_nbi(&old[3], &word, 40, 50, right);
    shmem_quiet();
    shmem_ulong_atomic_fetch_xor_nbi((unsigned long *)&old[4], (unsigned long *)&word, 3, right);
    shmem_quiet();
    shmem_atomic_fetch_nbi(&old[5], &word, right);
    shmem_float_atomic_fetch_nbi(&number, &real, right);
    shmem_quiet();
    CHECK(old[0] == 0 && old[1] == 5 && old[2] == 6 && old[3] == 40 && old[4] == 50 &&
          old[5] == 49 && number == 2.5f);
    end();
    return 0;
}
