/* Reductions: every operation and type, on all elements and on active sets, in place too. */
#include "check.h"
#include <complex.h>

#define MOST 700
static union {
    char bytes[16 * MOST];
    long double first;
} target, source, work;
static long psync[SHMEM_REDUCE_SYNC_SIZE];

static int start, log_stride, size, place;

/* Element `i` of member `k`: small, so that the types' sums and products are exact. */
#define VALUE(k, i) (((k) * 5 + (i)) % 3 + 1)

#define SUM(a, b) ((a) + (b))
#define PRODUCT(a, b) ((a) * (b))
#define LEAST(a, b) ((a) < (b) ? (a) : (b))
#define MOST_OF(a, b) ((a) > (b) ? (a) : (b))
#define BOTH(a, b) ((a) & (b))
#define EITHER(a, b) ((a) | (b))
#define ONE(a, b) ((a) ^ (b))

#define REDUCTION(NAME, TYPE, call, COMBINE)                                                       \
    for (int way = 0; way < 3; way++) {                                                            \
        static const int lengths[] = {1, 17, MOST};                                                \
        int n = lengths[way];                                                                      \
        TYPE *from = (TYPE *)&source, *to = way == 1 ? from : (TYPE *)&target;                     \
        for (int i = 0; i < MOST; i++) {                                                           \
            to[i] = 99;                                                                            \
            from[i] = VALUE(place, i);                                                             \
        }                                                                                          \
        shmem_barrier_all();                                                                       \
        if (place >= 0) {                                                                          \
            shmem_##NAME##_##call##_to_all(to, from, n, start, log_stride, size, (TYPE *)&work,    \
                                           psync);                                                 \
            for (int i = 0; i < n; i++) {                                                          \
                TYPE expected = VALUE(0, i);                                                       \
                for (int k = 1; k < size; k++)                                                     \
                    expected = COMBINE(expected, (TYPE)VALUE(k, i));                               \
                CHECK(to[i] == expected);                                                          \
            }                                                                                      \
            for (int i = n; i < MOST; i++)                                                         \
                CHECK(to[i] == (way == 1 ? (TYPE)VALUE(place, i) : (TYPE)99));                     \
        }                                                                                          \
        shmem_barrier_all();                                                                       \
    }
#define SUMS(NAME, TYPE) REDUCTION(NAME, TYPE, sum, SUM) REDUCTION(NAME, TYPE, prod, PRODUCT)
#define ORDERED(NAME, TYPE)                                                                        \
    SUMS(NAME, TYPE) REDUCTION(NAME, TYPE, min, LEAST) REDUCTION(NAME, TYPE, max, MOST_OF)
#define INTEGER(NAME, TYPE)                                                                        \
    ORDERED(NAME, TYPE)                                                                            \
    REDUCTION(NAME, TYPE, and, BOTH)                                                               \
    REDUCTION(NAME, TYPE, or, EITHER) REDUCTION(NAME, TYPE, xor, ONE)

static void test(void)
{
    INTEGER(short, short)
    INTEGER(int, int)
    INTEGER(long, long)
    INTEGER(longlong, long long)
    ORDERED(float, float)
    ORDERED(double, double)
    ORDERED(longdouble, long double)
    SUMS(complexf, float complex)
    SUMS(complexd, double complex)
}

int main(void)
{
    begin();
    int sets[][3] = {
        {0, 0, all}, {all - 1, 0, 1}, {all / 2, 0, all - all / 2}, {0, 1, (all + 1) / 2}};
    for (unsigned i = 0; i < sizeof sets / sizeof *sets; i++) {
        start = sets[i][0];
        log_stride = sets[i][1];
        size = sets[i][2];
        int distance = me - start;
        place = distance >= 0 && distance % (1 << log_stride) == 0 && distance >> log_stride < size
                    ? distance >> log_stride
                    : -1;
        test();
    }
    end();
    return 0;
}
