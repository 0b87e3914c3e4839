/* Waiting for words, and testing them. */
#include "check.h"

#define WAIT(NAME, TYPE)                                                                           \
    do {                                                                                           \
        static volatile TYPE word;                                                                 \
        word = 0;                                                                                  \
        shmem_barrier_all();                                                                       \
        shmem_##NAME##_p((TYPE *)&word, 5, right);                                                 \
        shmem_##NAME##_wait_until(&word, SHMEM_CMP_EQ, 5);                                         \
        shmem_##NAME##_wait_until(&word, SHMEM_CMP_NE, 4);                                         \
        shmem_##NAME##_wait_until(&word, SHMEM_CMP_GT, 4);                                         \
        shmem_##NAME##_wait_until(&word, SHMEM_CMP_GE, 5);                                         \
        shmem_##NAME##_wait_until(&word, SHMEM_CMP_LT, 6);                                         \
        shmem_##NAME##_wait_until(&word, SHMEM_CMP_LE, 5);                                         \
        CHECK(shmem_##NAME##_test(&word, SHMEM_CMP_EQ, 5) &&                                       \
              !shmem_##NAME##_test(&word, SHMEM_CMP_NE, 5));                                       \
        CHECK(!shmem_##NAME##_test(&word, SHMEM_CMP_GT, 5) &&                                      \
              shmem_##NAME##_test(&word, SHMEM_CMP_GE, 5));                                        \
        CHECK(!shmem_##NAME##_test(&word, SHMEM_CMP_LT, 5) &&                                      \
              shmem_##NAME##_test(&word, SHMEM_CMP_LE, 5));                                        \
        shmem_barrier_all();                                                                       \
        shmem_##NAME##_p((TYPE *)&word, (TYPE) - 7, right);                                        \
        while (!shmem_##NAME##_test(&word, SHMEM_CMP_EQ, (TYPE) - 7))                              \
            ;                                                                                      \
        int is_signed = (TYPE) - 1 < (TYPE)1;                                                      \
        CHECK(shmem_##NAME##_test(&word, SHMEM_CMP_LT, 1) == is_signed);                           \
        shmem_barrier_all();                                                                       \
    } while (0)

int main(void)
{
    begin();
    WAIT(short, short);
    WAIT(int, int);
    WAIT(long, long);
    WAIT(longlong, long long);
    WAIT(ushort, unsigned short);
    WAIT(uint, unsigned int);
    WAIT(ulong, unsigned long);
    WAIT(ulonglong, unsigned long long);
    WAIT(int32, int32_t);
    WAIT(int64, int64_t);
    WAIT(uint32, uint32_t);
    WAIT(uint64, uint64_t);
    WAIT(size, size_t);
    WAIT(ptrdiff, ptrdiff_t);
    end();
    return 0;
}
