/* Strided put and get. */
#include "check.h"

#define LENGTH 120
static union {
    char bytes[16 * LENGTH];
    long double first;
} target, source;

static const int strides[][2] = {{1, 1}, {1, 3}, {4, 1}, {2, 5}};

#define STRIDED(NAME, TYPE, SIZED)                                                                 \
    static void test_##SIZED(void)                                                                 \
    {                                                                                              \
        TYPE *to = (TYPE *)&target, *from = (TYPE *)&source;                                       \
        for (unsigned k = 0; k < 8; k++) {                                                         \
            int dst = strides[k % 4][0], sst = strides[k % 4][1], n = 20;                          \
            for (int i = 0; i < LENGTH; i++) {                                                     \
                memset(&to[i], 0, sizeof *to);                                                     \
                memset(&from[i], (me + 5) * (i + 1) % 127, sizeof *from);                          \
            }                                                                                      \
            shmem_barrier_all();                                                                   \
            if (k < 4)                                                                             \
                shmem_##NAME##iput##SIZED(to, from, dst, sst, n, right);                           \
            else                                                                                   \
                shmem_##NAME##iget##SIZED(to, from, dst, sst, n, left);                            \
            shmem_barrier_all();                                                                   \
            for (int i = 0; i < LENGTH; i++) {                                                     \
                int place = i / dst * sst;                                                         \
                char expected = i % dst == 0 && i / dst < n ? (left + 5) * (place + 1) % 127 : 0;  \
                for (unsigned j = 0; j < sizeof *to; j++)                                          \
                    CHECK(((char *)&to[i])[j] == expected);                                        \
            }                                                                                      \
            shmem_barrier_all();                                                                   \
        }                                                                                          \
    }
STRIDED(, char, 8)
STRIDED(, short, 16)
STRIDED(, int, 32)
STRIDED(, long, 64)
STRIDED(, long double, 128)

/* The names with types. */
#define TYPED(NAME, TYPE)                                                                          \
    do {                                                                                           \
        TYPE *to = (TYPE *)&target, *from = (TYPE *)&source;                                       \
        for (int i = 0; i < 30; i++)                                                               \
            from[i] = (TYPE)(me + i);                                                              \
        shmem_barrier_all();                                                                       \
        shmem_##NAME##_iput(to, from, 2, 3, 10, right);                                            \
        shmem_barrier_all();                                                                       \
        for (int i = 0; i < 10; i++)                                                               \
            CHECK(to[2 * i] == (TYPE)(left + 3 * i));                                              \
        shmem_##NAME##_iget(to, from, 3, 2, 10, right);                                            \
        for (int i = 0; i < 10; i++)                                                               \
            CHECK(to[3 * i] == (TYPE)(right + 2 * i));                                             \
        shmem_barrier_all();                                                                       \
    } while (0)

int main(void)
{
    begin();
    test_8();
    test_16();
    test_32();
    test_64();
    test_128();
    TYPED(float, float);
    TYPED(double, double);
    TYPED(longdouble, long double);
    TYPED(char, char);
    TYPED(schar, signed char);
    TYPED(short, short);
    TYPED(int, int);
    TYPED(long, long);
    TYPED(longlong, long long);
    TYPED(uchar, unsigned char);
    TYPED(ushort, unsigned short);
    TYPED(uint, unsigned int);
    TYPED(ulong, unsigned long);
    TYPED(ulonglong, unsigned long long);
    TYPED(int8, int8_t);
    TYPED(int16, int16_t);
    TYPED(int32, int32_t);
    TYPED(int64, int64_t);
    TYPED(uint8, uint8_t);
    TYPED(uint16, uint16_t);
    TYPED(uint32, uint32_t);
    TYPED(uint64, uint64_t);
    TYPED(size, size_t);
    TYPED(ptrdiff, ptrdiff_t);
    end();
    return 0;
}
