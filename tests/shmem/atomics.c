/* Atomic operations: every operation and type with known answers, and many callers at one word. */
#include "check.h"

#define EXCHANGE(NAME, TYPE)                                                                       \
    do {                                                                                           \
        static TYPE words[2] = {5, 77};                                                            \
        words[0] = 5;                                                                              \
        shmem_barrier_all();                                                                       \
        CHECK(shmem_##NAME##_atomic_fetch(words, right) == 5);                                     \
        shmem_barrier_all();                                                                       \
        shmem_##NAME##_atomic_set(words, (TYPE)(me + 6), right);                                   \
        shmem_barrier_all();                                                                       \
        CHECK(words[0] == (TYPE)(left + 6));                                                       \
        CHECK(shmem_##NAME##_atomic_swap(words, (TYPE)(me + 60), right) == (TYPE)(me + 6));        \
        shmem_barrier_all();                                                                       \
        CHECK(words[0] == (TYPE)(left + 60) && words[1] == 77);                                    \
    } while (0)

#define ARITHMETIC(NAME, TYPE)                                                                     \
    do {                                                                                           \
        static TYPE words[3];                                                                      \
        words[1] = 5;                                                                              \
        shmem_barrier_all();                                                                       \
        CHECK(shmem_##NAME##_atomic_compare_swap(&words[1], 4, 9, right) == 5);                    \
        CHECK(shmem_##NAME##_atomic_compare_swap(&words[1], 5, 9, right) == 5);                    \
        CHECK(shmem_##NAME##_atomic_fetch_inc(&words[1], right) == 9);                             \
        shmem_##NAME##_atomic_inc(&words[1], right);                                               \
        shmem_quiet();                                                                             \
        CHECK(shmem_##NAME##_atomic_fetch_add(&words[1], (TYPE) - 20, right) == 11);               \
        shmem_##NAME##_atomic_add(&words[1], 3, right);                                            \
        shmem_barrier_all();                                                                       \
        CHECK(words[1] == (TYPE) - 6 && words[0] == 0 && words[2] == 0);                           \
        shmem_barrier_all();                                                                       \
        words[0] = 0;                                                                              \
        words[1] = 0;                                                                              \
        shmem_barrier_all();                                                                       \
        TYPE ticket = shmem_##NAME##_atomic_fetch_inc(words, 0);                                   \
        CHECK(ticket < (TYPE)all);                                                                 \
        shmem_##NAME##_atomic_add(&words[1], ticket + 1, 0);                                       \
        shmem_barrier_all();                                                                       \
        if (me == 0)                                                                               \
            CHECK(words[0] == (TYPE)all && words[1] == (TYPE)(all * (all + 1) / 2));               \
    } while (0)

#define BITWISE(NAME, TYPE)                                                                        \
    do {                                                                                           \
        static TYPE word;                                                                          \
        word = 0x5a;                                                                               \
        shmem_barrier_all();                                                                       \
        CHECK(shmem_##NAME##_atomic_fetch_and(&word, 0x3c, right) == 0x5a);                        \
        CHECK(shmem_##NAME##_atomic_fetch_or(&word, 0x07, right) == 0x18);                         \
        CHECK(shmem_##NAME##_atomic_fetch_xor(&word, 0xff, right) == 0x1f);                        \
        CHECK(shmem_##NAME##_atomic_fetch(&word, right) == 0xe0);                                  \
        shmem_##NAME##_atomic_and(&word, 0x6f, right);                                             \
        shmem_##NAME##_atomic_or(&word, 0x0f, right);                                              \
        shmem_##NAME##_atomic_xor(&word, 0x11, right);                                             \
        shmem_barrier_all();                                                                       \
        CHECK(word == 0x7e);                                                                       \
        word = 0;                                                                                  \
        shmem_barrier_all();                                                                       \
        shmem_##NAME##_atomic_or(&word, (TYPE)1 << me, 0);                                         \
        shmem_barrier_all();                                                                       \
        if (me == 0)                                                                               \
            CHECK(word == ((TYPE)1 << all) - 1);                                                   \
        shmem_barrier_all();                                                                       \
    } while (0)

int main(void)
{
    begin();
    EXCHANGE(int, int);
    EXCHANGE(long, long);
    EXCHANGE(longlong, long long);
    EXCHANGE(uint, unsigned int);
    EXCHANGE(ulong, unsigned long);
    EXCHANGE(ulonglong, unsigned long long);
    EXCHANGE(int32, int32_t);
    EXCHANGE(int64, int64_t);
    EXCHANGE(uint32, uint32_t);
    EXCHANGE(uint64, uint64_t);
    EXCHANGE(size, size_t);
    EXCHANGE(ptrdiff, ptrdiff_t);
    EXCHANGE(float, float);
    EXCHANGE(double, double);
    ARITHMETIC(int, int);
    ARITHMETIC(long, long);
    ARITHMETIC(longlong, long long);
    ARITHMETIC(uint, unsigned int);
    ARITHMETIC(ulong, unsigned long);
    ARITHMETIC(ulonglong, unsigned long long);
    ARITHMETIC(int32, int32_t);
    ARITHMETIC(int64, int64_t);
    ARITHMETIC(uint32, uint32_t);
    ARITHMETIC(uint64, uint64_t);
    ARITHMETIC(size, size_t);
    ARITHMETIC(ptrdiff, ptrdiff_t);
    BITWISE(int, int);
    BITWISE(long, long);
    BITWISE(uint, unsigned int);
    BITWISE(ulong, unsigned long);
    BITWISE(ulonglong, unsigned long long);
    BITWISE(int32, int32_t);
    BITWISE(int64, int64_t);
    BITWISE(uint32, uint32_t);
    BITWISE(uint64, uint64_t);
    end();
    return 0;
}
