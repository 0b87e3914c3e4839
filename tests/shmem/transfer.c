/* Put, get, p and g: every type, every element size, short and long, blocking and not, in static
 * data and in the heap. */
#include "check.h"

#define MOST 600
static union {
    char bytes[16 * MOST];
    long double first;
} target, source;

/* Element `i` in `pe`'s data. */
#define VALUE(TYPE, pe, i) ((TYPE)((pe) * 37 + (i) % 59 + 1))

#define TYPE_TEST(NAME, TYPE)                                                                      \
    static void test_##NAME(TYPE *to, TYPE *from)                                                  \
    {                                                                                              \
        static const int lengths[] = {0, 1, 4, 5, 33, MOST};                                       \
        for (unsigned k = 0; k < sizeof lengths / sizeof *lengths; k++) {                          \
            int n = lengths[k];                                                                    \
            for (int way = 0; way < 4; way++) {                                                    \
                memset(to, 0, MOST * sizeof *to);                                                  \
                for (int i = 0; i < MOST; i++)                                                     \
                    from[i] = VALUE(TYPE, me, i);                                                  \
                shmem_barrier_all();                                                               \
                switch (way) {                                                                     \
                case 0:                                                                            \
                    shmem_##NAME##_put(to, from, n, right);                                        \
                    memset(from, 0, MOST * sizeof *from); /* the source may be used again */       \
                    break;                                                                         \
                case 1:                                                                            \
                    shmem_##NAME##_put_nbi(to, from, n, right);                                    \
                    break;                                                                         \
                case 2:                                                                            \
                    shmem_##NAME##_get(to, from, n, left);                                         \
                    break;                                                                         \
                case 3:                                                                            \
                    shmem_##NAME##_get_nbi(to, from, n, left);                                     \
                    shmem_quiet();                                                                 \
                }                                                                                  \
                shmem_barrier_all();                                                               \
                for (int i = 0; i < MOST; i++)                                                     \
                    CHECK(to[i] == (i < n ? VALUE(TYPE, left, i) : 0));                            \
            }                                                                                      \
        }                                                                                          \
        shmem_##NAME##_p(&to[2], VALUE(TYPE, me, 7), right);                                       \
        shmem_barrier_all();                                                                       \
        CHECK(to[2] == VALUE(TYPE, left, 7));                                                      \
        CHECK(shmem_##NAME##_g(&to[2], right) == VALUE(TYPE, me, 7));                              \
        shmem_barrier_all();                                                                       \
    }
#define TYPES(X)                                                                                   \
    X(float, float)                                                                                \
    X(double, double) X(longdouble, long double) X(char, char) X(schar, signed char)               \
        X(short, short) X(int, int) X(long, long) X(longlong, long long) X(uchar, unsigned char)   \
            X(ushort, unsigned short) X(uint, unsigned int) X(ulong, unsigned long)                \
                X(ulonglong, unsigned long long) X(int8, int8_t) X(int16, int16_t)                 \
                    X(int32, int32_t) X(int64, int64_t) X(uint8, uint8_t) X(uint16, uint16_t)      \
                        X(uint32, uint32_t) X(uint64, uint64_t) X(size, size_t)                    \
                            X(ptrdiff, ptrdiff_t)
TYPES(TYPE_TEST)

/* Elements without a type. */
#define SIZE_TEST(NAME, SIZE)                                                                      \
    static void test_size_##NAME(char *to, char *from)                                             \
    {                                                                                              \
        for (int way = 0; way < 4; way++) {                                                        \
            memset(to, 0, 16 * MOST);                                                              \
            for (int i = 0; i < 16 * MOST; i++)                                                    \
                from[i] = VALUE(char, me, i);                                                      \
            shmem_barrier_all();                                                                   \
            switch (way) {                                                                         \
            case 0:                                                                                \
                shmem_put##NAME(to, from, MOST - 1, right);                                        \
                break;                                                                             \
            case 1:                                                                                \
                shmem_put##NAME##_nbi(to, from, MOST - 1, right);                                  \
                break;                                                                             \
            case 2:                                                                                \
                shmem_get##NAME(to, from, MOST - 1, left);                                         \
                break;                                                                             \
            case 3:                                                                                \
                shmem_get##NAME##_nbi(to, from, MOST - 1, left);                                   \
                shmem_quiet();                                                                     \
            }                                                                                      \
            shmem_barrier_all();                                                                   \
            for (int i = 0; i < 16 * MOST; i++)                                                    \
                CHECK(to[i] == (i < SIZE * (MOST - 1) ? VALUE(char, left, i) : 0));                \
        }                                                                                          \
    }
#define SIZES(X) X(mem, 1) X(8, 1) X(16, 2) X(32, 4) X(64, 8) X(128, 16)
SIZES(SIZE_TEST)

/* A megabyte, and to and from oneself. */
static void large(void)
{
    int n = 1 << 20;
    unsigned char *to = shmem_malloc(n), *from = malloc(n);
    for (int pe = me, k = 0; k < 2; pe = right, k++) {
        for (int i = 0; i < n; i++)
            from[i] = VALUE(unsigned char, me, i);
        shmem_barrier_all();
        shmem_putmem(to, from, n, pe);
        shmem_barrier_all();
        for (int i = 0; i < n; i++)
            CHECK(to[i] == VALUE(unsigned char, k ? left : me, i));
        shmem_getmem(from, to, n, pe);
        for (int i = 0; i < n; i++)
            CHECK(from[i] == VALUE(unsigned char, me, i));
    }
    shmem_free(to);
    free(from);
}

/* Puts to one processing element that are ordered. */
static void order(void)
{
    static volatile long data, flag;
    for (long round = 1; round < 50; round++) {
        shmem_long_p((long *)&data, round + me, right);
        shmem_fence();
        shmem_long_p((long *)&flag, round, right);
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, round);
        CHECK(data == round + left);
        shmem_barrier_all();
    }
}

int main(void)
{
    begin();
    void *to = shmem_malloc(16 * MOST), *from = shmem_malloc(16 * MOST);
#define RUN(NAME, TYPE)                                                                            \
    test_##NAME((TYPE *)&target, (TYPE *)&source);                                                 \
    test_##NAME(to, from);
    TYPES(RUN)
#define RUN_SIZE(NAME, SIZE) test_size_##NAME(to, source.bytes);
    SIZES(RUN_SIZE)
    large();
    order();
    end();
    return 0;
}
