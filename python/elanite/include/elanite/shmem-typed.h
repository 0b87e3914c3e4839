/*
 * The functions of OpenSHMEM with a type in their names, for <shmem.h>: each is inline, and calls a
 * function of the library that knows only sizes. The lists of types are those of the standard.
 */
#ifndef ELANITE_SHMEM_TYPED_H
#define ELANITE_SHMEM_TYPED_H

#ifdef __cplusplus
extern "C" {
#endif

/* What the library has, by bytes of an element. */
void elanite_shmem_iput(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst,
                        ptrdiff_t sst, size_t nelems, size_t bytes, int pe);
void elanite_shmem_iget(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst,
                        ptrdiff_t sst, size_t nelems, size_t bytes, int pe);
/* Changes a word; the first returns what the word was, and the second does not wait for that. */
uint64_t elanite_shmem_fetching(shmem_ctx_t ctx, const void *dest, int what, size_t bytes,
                                uint64_t operand, uint64_t compare, int pe);
void elanite_shmem_changing(shmem_ctx_t ctx, void *dest, int what, size_t bytes, uint64_t operand,
                            int pe);
/* Compares a word, of a width and with a sign or without one, with a value, until the comparison
 * holds or once. */
void elanite_shmem_wait_until(const volatile void *ivar, size_t bytes, int has_sign, int cmp,
                              uint64_t value);
int elanite_shmem_test(const volatile void *ivar, size_t bytes, int has_sign, int cmp,
                       uint64_t value);
/* Combines the vectors of an active set; `combine` does it for types that the library does not
 * know. */
void elanite_shmem_reduce(void *dest, const void *source, size_t nreduce, int operation, int kind,
                          size_t bytes, int PE_start, int logPE_stride, int PE_size);
void elanite_shmem_reduce_by(void *dest, const void *source, size_t nreduce, size_t bytes,
                             int operation,
                             void (*combine)(const void *in, void *inout, size_t count),
                             int PE_start, int logPE_stride, int PE_size);

/* OpenSHMEM 1.5: an atomic operation that stores the old word later; a put with a signal; several
 * words, of which all, any or some are waited for or tested; collective calls of teams. */
void elanite_shmem_fetching_nbi(shmem_ctx_t ctx, void *fetch, const void *dest, int what,
                                size_t bytes, uint64_t operand, uint64_t compare, int pe);
void elanite_shmem_put_signal(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes,
                              uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
size_t elanite_shmem_several(const volatile void *ivars, size_t nelems, size_t *indices,
                             const int *status, int how_many, int blocks, size_t bytes,
                             int has_sign, int cmp, const void *values, int is_vector);
int elanite_shmem_team_broadcast(shmem_team_t team, void *dest, const void *source, size_t bytes,
                                 int PE_root);
int elanite_shmem_team_collect(shmem_team_t team, void *dest, const void *source, size_t bytes);
int elanite_shmem_team_fcollect(shmem_team_t team, void *dest, const void *source, size_t bytes);
int elanite_shmem_team_alltoall(shmem_team_t team, void *dest, const void *source, ptrdiff_t dst,
                                ptrdiff_t sst, size_t nelems, size_t bytes);
int elanite_shmem_team_reduce(shmem_team_t team, void *dest, const void *source, size_t nreduce,
                              int operation, int kind, size_t bytes);
int elanite_shmem_team_reduce_by(shmem_team_t team, void *dest, const void *source, size_t nreduce,
                                 size_t bytes, int operation,
                                 void (*combine)(const void *in, void *inout, size_t count));

/* What an atomic operation does to its word. */
enum {
    ELANITE_FETCH,
    ELANITE_SET,
    ELANITE_SWAP,
    ELANITE_CSWAP,
    ELANITE_ADD,
    ELANITE_AND,
    ELANITE_OR,
    ELANITE_XOR
};
/* What a reduction does, and with what. */
enum {
    ELANITE_RAND,
    ELANITE_ROR,
    ELANITE_RXOR,
    ELANITE_RMIN,
    ELANITE_RMAX,
    ELANITE_RSUM,
    ELANITE_RPROD
};
enum { ELANITE_SIGNED, ELANITE_UNSIGNED, ELANITE_FLOATING, ELANITE_COMPLEX };

/* Types of put, get, p and g. */
#define ELANITE_RMA_TYPES(X)                                                                       \
    X(float, float)                                                                                \
    X(double, double) X(longdouble, long double) X(char, char) X(schar, signed char)               \
        X(short, short) X(int, int) X(long, long) X(longlong, long long) X(uchar, unsigned char)   \
            X(ushort, unsigned short) X(uint, unsigned int) X(ulong, unsigned long)                \
                X(ulonglong, unsigned long long) X(int8, int8_t) X(int16, int16_t)                 \
                    X(int32, int32_t) X(int64, int64_t) X(uint8, uint8_t) X(uint16, uint16_t)      \
                        X(uint32, uint32_t) X(uint64, uint64_t) X(size, size_t)                    \
                            X(ptrdiff, ptrdiff_t)
/* Integers of atomic operations; those of `and`, `or`, `xor`; those of the names before
 * OpenSHMEM 1.4. */
#define ELANITE_AMO_TYPES(X)                                                                       \
    X(int, int)                                                                                    \
    X(long, long) X(longlong, long long) X(uint, unsigned int) X(ulong, unsigned long)             \
        X(ulonglong, unsigned long long) X(int32, int32_t) X(int64, int64_t) X(uint32, uint32_t)   \
            X(uint64, uint64_t) X(size, size_t) X(ptrdiff, ptrdiff_t)
#define ELANITE_BIT_TYPES(X)                                                                       \
    X(int, int)                                                                                    \
    X(long, long) X(longlong, long long) X(uint, unsigned int) X(ulong, unsigned long)             \
        X(ulonglong, unsigned long long) X(int32, int32_t) X(int64, int64_t) X(uint32, uint32_t)   \
            X(uint64, uint64_t)
#define ELANITE_OLD_AMO_TYPES(X) X(int, int) X(long, long) X(longlong, long long)
/* Types of words that are waited for. */
#define ELANITE_WAIT_TYPES(X)                                                                      \
    X(short, short)                                                                                \
    X(int, int) X(long, long) X(longlong, long long) X(ushort, unsigned short)                     \
        X(uint, unsigned int) X(ulong, unsigned long) X(ulonglong, unsigned long long)             \
            X(int32, int32_t) X(int64, int64_t) X(uint32, uint32_t) X(uint64, uint64_t)            \
                X(size, size_t) X(ptrdiff, ptrdiff_t)

/* Put and get. The call without a context is the call in the default context. */
#define ELANITE_COPY(NAME, TYPE, ELEMENT, call)                                                    \
    static inline void shmem_ctx_##NAME(shmem_ctx_t ctx, TYPE *dest, const TYPE *source,           \
                                        size_t nelems, int pe)                                     \
    { shmem_ctx_##call(ctx, dest, source, nelems * (ELEMENT), pe); }                               \
    static inline void shmem_##NAME(TYPE *dest, const TYPE *source, size_t nelems, int pe)         \
    { shmem_ctx_##call(SHMEM_CTX_DEFAULT, dest, source, nelems * (ELEMENT), pe); }
#define ELANITE_STRIDED(NAME, TYPE, ELEMENT, call)                                                 \
    static inline void shmem_ctx_##NAME(shmem_ctx_t ctx, TYPE *dest, const TYPE *source,           \
                                        ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)       \
    { elanite_shmem_##call(ctx, dest, source, dst, sst, nelems, ELEMENT, pe); }                    \
    static inline void shmem_##NAME(TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst,  \
                                    size_t nelems, int pe)                                         \
    { elanite_shmem_##call(SHMEM_CTX_DEFAULT, dest, source, dst, sst, nelems, ELEMENT, pe); }
#define ELANITE_RMA(NAME, TYPE)                                                                    \
    ELANITE_COPY(NAME##_put, TYPE, sizeof(TYPE), putmem)                                           \
    ELANITE_COPY(NAME##_get, TYPE, sizeof(TYPE), getmem)                                           \
    ELANITE_COPY(NAME##_put_nbi, TYPE, sizeof(TYPE), putmem_nbi)                                   \
    ELANITE_COPY(NAME##_get_nbi, TYPE, sizeof(TYPE), getmem_nbi)                                   \
    ELANITE_STRIDED(NAME##_iput, TYPE, sizeof(TYPE), iput)                                         \
    ELANITE_STRIDED(NAME##_iget, TYPE, sizeof(TYPE), iget)                                         \
    static inline void shmem_ctx_##NAME##_p(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe)       \
    { shmem_ctx_putmem(ctx, dest, &value, sizeof(TYPE), pe); }                                     \
    static inline void shmem_##NAME##_p(TYPE *dest, TYPE value, int pe)                            \
    { shmem_ctx_putmem(SHMEM_CTX_DEFAULT, dest, &value, sizeof(TYPE), pe); }                       \
    static inline TYPE shmem_ctx_##NAME##_g(shmem_ctx_t ctx, const TYPE *source, int pe)           \
    {                                                                                              \
        TYPE value;                                                                                \
        shmem_ctx_getmem(ctx, &value, source, sizeof(TYPE), pe);                                   \
        return value;                                                                              \
    }                                                                                              \
    static inline TYPE shmem_##NAME##_g(const TYPE *source, int pe)                                \
    { return shmem_ctx_##NAME##_g(SHMEM_CTX_DEFAULT, source, pe); }
ELANITE_RMA_TYPES(ELANITE_RMA)

#define ELANITE_SIZED(BITS)                                                                        \
    ELANITE_COPY(put##BITS, void, BITS / 8, putmem)                                                \
    ELANITE_COPY(get##BITS, void, BITS / 8, getmem)                                                \
    ELANITE_COPY(put##BITS##_nbi, void, BITS / 8, putmem_nbi)                                      \
    ELANITE_COPY(get##BITS##_nbi, void, BITS / 8, getmem_nbi)                                      \
    ELANITE_STRIDED(iput##BITS, void, BITS / 8, iput)                                              \
    ELANITE_STRIDED(iget##BITS, void, BITS / 8, iget)
ELANITE_SIZED(8)
ELANITE_SIZED(16)
ELANITE_SIZED(32)
ELANITE_SIZED(64)
ELANITE_SIZED(128)

/* The word that holds a value, and back: floating-point numbers travel as they lie in memory. */
#define ELANITE_WORD(NAME, TYPE)                                                                   \
    static inline uint64_t elanite_word_##NAME(TYPE value) { return (uint64_t)value; }             \
    static inline TYPE elanite_value_##NAME(uint64_t word) { return (TYPE)word; }
#define ELANITE_BITS(NAME, TYPE, WORD)                                                             \
    static inline uint64_t elanite_word_##NAME(TYPE value)                                         \
    {                                                                                              \
        WORD word;                                                                                 \
        memcpy(&word, &value, sizeof word);                                                        \
        return word;                                                                               \
    }                                                                                              \
    static inline TYPE elanite_value_##NAME(uint64_t whole)                                        \
    {                                                                                              \
        WORD word = (WORD)whole;                                                                   \
        TYPE value;                                                                                \
        memcpy(&value, &word, sizeof value);                                                       \
        return value;                                                                              \
    }
ELANITE_AMO_TYPES(ELANITE_WORD)
ELANITE_BITS(float, float, uint32_t)
ELANITE_BITS(double, double, uint64_t)

/* Atomic operations: of no operand, of one, that return the old word or nothing. */
#define ELANITE_FETCHING(NAME, TYPE, call, WHAT)                                                   \
    static inline TYPE shmem_ctx_##NAME##_##call(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe)  \
    {                                                                                              \
        return elanite_value_##NAME(elanite_shmem_fetching(ctx, dest, WHAT, sizeof(TYPE),          \
                                                           elanite_word_##NAME(value), 0, pe));    \
    }                                                                                              \
    static inline TYPE shmem_##NAME##_##call(TYPE *dest, TYPE value, int pe)                       \
    { return shmem_ctx_##NAME##_##call(SHMEM_CTX_DEFAULT, dest, value, pe); }
#define ELANITE_CHANGING(NAME, TYPE, call, WHAT)                                                   \
    static inline void shmem_ctx_##NAME##_##call(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe)  \
    { elanite_shmem_changing(ctx, dest, WHAT, sizeof(TYPE), elanite_word_##NAME(value), pe); }     \
    static inline void shmem_##NAME##_##call(TYPE *dest, TYPE value, int pe)                       \
    {                                                                                              \
        elanite_shmem_changing(SHMEM_CTX_DEFAULT, dest, WHAT, sizeof(TYPE),                        \
                               elanite_word_##NAME(value), pe);                                    \
    }
#define ELANITE_READING(NAME, TYPE, call)                                                          \
    static inline TYPE shmem_ctx_##NAME##_##call(shmem_ctx_t ctx, const TYPE *source, int pe)      \
    {                                                                                              \
        return elanite_value_##NAME(                                                               \
            elanite_shmem_fetching(ctx, source, ELANITE_FETCH, sizeof(TYPE), 0, 0, pe));           \
    }                                                                                              \
    static inline TYPE shmem_##NAME##_##call(const TYPE *source, int pe)                           \
    { return shmem_ctx_##NAME##_##call(SHMEM_CTX_DEFAULT, source, pe); }
#define ELANITE_COMPARING(NAME, TYPE, call)                                                        \
    static inline TYPE shmem_ctx_##NAME##_##call(shmem_ctx_t ctx, TYPE *dest, TYPE cond,           \
                                                 TYPE value, int pe)                               \
    {                                                                                              \
        return elanite_value_##NAME(elanite_shmem_fetching(ctx, dest, ELANITE_CSWAP, sizeof(TYPE), \
                                                           elanite_word_##NAME(value),             \
                                                           elanite_word_##NAME(cond), pe));        \
    }                                                                                              \
    static inline TYPE shmem_##NAME##_##call(TYPE *dest, TYPE cond, TYPE value, int pe)            \
    { return shmem_ctx_##NAME##_##call(SHMEM_CTX_DEFAULT, dest, cond, value, pe); }
#define ELANITE_COUNTING(NAME, TYPE, fetching, changing)                                           \
    static inline TYPE shmem_ctx_##NAME##_##fetching(shmem_ctx_t ctx, TYPE *dest, int pe)          \
    {                                                                                              \
        return elanite_value_##NAME(                                                               \
            elanite_shmem_fetching(ctx, dest, ELANITE_ADD, sizeof(TYPE), 1, 0, pe));               \
    }                                                                                              \
    static inline TYPE shmem_##NAME##_##fetching(TYPE *dest, int pe)                               \
    { return shmem_ctx_##NAME##_##fetching(SHMEM_CTX_DEFAULT, dest, pe); }                         \
    static inline void shmem_ctx_##NAME##_##changing(shmem_ctx_t ctx, TYPE *dest, int pe)          \
    { elanite_shmem_changing(ctx, dest, ELANITE_ADD, sizeof(TYPE), 1, pe); }                       \
    static inline void shmem_##NAME##_##changing(TYPE *dest, int pe)                               \
    { elanite_shmem_changing(SHMEM_CTX_DEFAULT, dest, ELANITE_ADD, sizeof(TYPE), 1, pe); }
#define ELANITE_EXCHANGE(NAME, TYPE)                                                               \
    ELANITE_READING(NAME, TYPE, atomic_fetch)                                                      \
    ELANITE_CHANGING(NAME, TYPE, atomic_set, ELANITE_SET)                                          \
    ELANITE_FETCHING(NAME, TYPE, atomic_swap, ELANITE_SWAP)
#define ELANITE_AMO(NAME, TYPE)                                                                    \
    ELANITE_EXCHANGE(NAME, TYPE)                                                                   \
    ELANITE_COMPARING(NAME, TYPE, atomic_compare_swap)                                             \
    ELANITE_COUNTING(NAME, TYPE, atomic_fetch_inc, atomic_inc)                                     \
    ELANITE_FETCHING(NAME, TYPE, atomic_fetch_add, ELANITE_ADD)                                    \
    ELANITE_CHANGING(NAME, TYPE, atomic_add, ELANITE_ADD)
#define ELANITE_BITWISE(NAME, TYPE)                                                                \
    ELANITE_FETCHING(NAME, TYPE, atomic_fetch_and, ELANITE_AND)                                    \
    ELANITE_FETCHING(NAME, TYPE, atomic_fetch_or, ELANITE_OR)                                      \
    ELANITE_FETCHING(NAME, TYPE, atomic_fetch_xor, ELANITE_XOR)                                    \
    ELANITE_CHANGING(NAME, TYPE, atomic_and, ELANITE_AND)                                          \
    ELANITE_CHANGING(NAME, TYPE, atomic_or, ELANITE_OR)                                            \
    ELANITE_CHANGING(NAME, TYPE, atomic_xor, ELANITE_XOR)
ELANITE_AMO_TYPES(ELANITE_AMO)
ELANITE_EXCHANGE(float, float)
ELANITE_EXCHANGE(double, double)
ELANITE_BIT_TYPES(ELANITE_BITWISE)

/* The names before OpenSHMEM 1.4. */
#define ELANITE_OLD_EXCHANGE(NAME, TYPE)                                                           \
    ELANITE_READING(NAME, TYPE, fetch)                                                             \
    ELANITE_CHANGING(NAME, TYPE, set, ELANITE_SET)                                                 \
    ELANITE_FETCHING(NAME, TYPE, swap, ELANITE_SWAP)
#define ELANITE_OLD_AMO(NAME, TYPE)                                                                \
    ELANITE_OLD_EXCHANGE(NAME, TYPE)                                                               \
    ELANITE_COMPARING(NAME, TYPE, cswap)                                                           \
    ELANITE_COUNTING(NAME, TYPE, finc, inc)                                                        \
    ELANITE_FETCHING(NAME, TYPE, fadd, ELANITE_ADD)                                                \
    ELANITE_CHANGING(NAME, TYPE, add, ELANITE_ADD)                                                 \
    /* Swaps the bits of the mask. */                                                              \
    static inline TYPE shmem_##NAME##_mswap(TYPE *dest, TYPE mask, TYPE value, int pe)             \
    {                                                                                              \
        TYPE old = shmem_##NAME##_fetch(dest, pe);                                                 \
        for (;;) {                                                                                 \
            TYPE found = shmem_##NAME##_cswap(dest, old, (old & ~mask) | (value & mask), pe);      \
            if (found == old)                                                                      \
                return old;                                                                        \
            old = found;                                                                           \
        }                                                                                          \
    }
ELANITE_OLD_AMO_TYPES(ELANITE_OLD_AMO)
ELANITE_OLD_EXCHANGE(float, float)
ELANITE_OLD_EXCHANGE(double, double)

static inline long shmem_swap(long *dest, long value, int pe)
{
    return shmem_long_swap(dest, value, pe);
}

static inline long shmem_mswap(long *dest, long mask, long value, int pe)
{
    return shmem_long_mswap(dest, mask, value, pe);
}

/* Waiting for a word of one's own. */
#define ELANITE_WAIT(NAME, TYPE)                                                                   \
    static inline void shmem_##NAME##_wait_until(const volatile TYPE *ivar, int cmp,               \
                                                 TYPE cmp_value)                                   \
    {                                                                                              \
        elanite_shmem_wait_until(ivar, sizeof(TYPE), (TYPE) - 1 < (TYPE)1, cmp,                    \
                                 (uint64_t)cmp_value);                                             \
    }                                                                                              \
    static inline void shmem_##NAME##_wait(const volatile TYPE *ivar, TYPE cmp_value)              \
    { shmem_##NAME##_wait_until(ivar, SHMEM_CMP_NE, cmp_value); }                                  \
    static inline int shmem_##NAME##_test(const volatile TYPE *ivar, int cmp, TYPE cmp_value)      \
    {                                                                                              \
        return elanite_shmem_test(ivar, sizeof(TYPE), (TYPE) - 1 < (TYPE)1, cmp,                   \
                                  (uint64_t)cmp_value);                                            \
    }
ELANITE_WAIT_TYPES(ELANITE_WAIT)

static inline void shmem_wait_until(const volatile long *ivar, int cmp, long cmp_value)
{
    shmem_long_wait_until(ivar, cmp, cmp_value);
}

static inline void shmem_wait(const volatile long *ivar, long cmp_value)
{
    shmem_long_wait(ivar, cmp_value);
}

/* Reductions of active sets. */
#define ELANITE_REDUCTION(NAME, TYPE, call, OPERATION, KIND)                                       \
    static inline void shmem_##NAME##_##call##_to_all(TYPE *dest, const TYPE *source, int nreduce, \
                                                      int PE_start, int logPE_stride, int PE_size, \
                                                      TYPE *pWrk, long *pSync)                     \
    {                                                                                              \
        (void)pWrk;                                                                                \
        (void)pSync;                                                                               \
        elanite_shmem_reduce(dest, source, (size_t)nreduce, OPERATION, KIND, sizeof(TYPE),         \
                             PE_start, logPE_stride, PE_size);                                     \
    }
#define ELANITE_SUMS(NAME, TYPE, KIND)                                                             \
    ELANITE_REDUCTION(NAME, TYPE, sum, ELANITE_RSUM, KIND)                                         \
    ELANITE_REDUCTION(NAME, TYPE, prod, ELANITE_RPROD, KIND)
#define ELANITE_ORDERED(NAME, TYPE, KIND)                                                          \
    ELANITE_SUMS(NAME, TYPE, KIND)                                                                 \
    ELANITE_REDUCTION(NAME, TYPE, min, ELANITE_RMIN, KIND)                                         \
    ELANITE_REDUCTION(NAME, TYPE, max, ELANITE_RMAX, KIND)
#define ELANITE_INTEGER(NAME, TYPE)                                                                \
    ELANITE_ORDERED(NAME, TYPE, ELANITE_SIGNED)                                                    \
    ELANITE_REDUCTION(NAME, TYPE, and, ELANITE_RAND, ELANITE_SIGNED)                               \
    ELANITE_REDUCTION(NAME, TYPE, or, ELANITE_ROR, ELANITE_SIGNED)                                 \
    ELANITE_REDUCTION(NAME, TYPE, xor, ELANITE_RXOR, ELANITE_SIGNED)
ELANITE_INTEGER(short, short)
ELANITE_INTEGER(int, int)
ELANITE_INTEGER(long, long)
ELANITE_INTEGER(longlong, long long)
ELANITE_ORDERED(float, float, ELANITE_FLOATING)
ELANITE_ORDERED(double, double, ELANITE_FLOATING)
ELANITE_SUMS(complexf, float _Complex, ELANITE_COMPLEX)
ELANITE_SUMS(complexd, double _Complex, ELANITE_COMPLEX)

/* `long double` is a type of the C compiler alone, so the program combines it. */
#define ELANITE_LONG_REDUCTION(call, OPERATION, RESULT)                                            \
    static inline void elanite_longdouble_##call(const void *in, void *inout, size_t count)        \
    {                                                                                              \
        const long double *one = (const long double *)in;                                          \
        long double *other = (long double *)inout;                                                 \
        for (size_t i = 0; i < count; i++)                                                         \
            other[i] = RESULT;                                                                     \
    }                                                                                              \
    static inline void shmem_longdouble_##call##_to_all(                                           \
        long double *dest, const long double *source, int nreduce, int PE_start, int logPE_stride, \
        int PE_size, long double *pWrk, long *pSync)                                               \
    {                                                                                              \
        (void)pWrk;                                                                                \
        (void)pSync;                                                                               \
        elanite_shmem_reduce_by(dest, source, (size_t)nreduce, sizeof(long double), OPERATION,     \
                                elanite_longdouble_##call, PE_start, logPE_stride, PE_size);       \
    }
ELANITE_LONG_REDUCTION(sum, ELANITE_RSUM, one[i] + other[i])
ELANITE_LONG_REDUCTION(prod, ELANITE_RPROD, one[i] * other[i])
ELANITE_LONG_REDUCTION(min, ELANITE_RMIN, one[i] < other[i] ? one[i] : other[i])
ELANITE_LONG_REDUCTION(max, ELANITE_RMAX, one[i] > other[i] ? one[i] : other[i])

/* OpenSHMEM 1.5. */
#define ELANITE_NBI(NAME, TYPE, call, WHAT)                                                        \
    static inline void shmem_ctx_##NAME##_##call(shmem_ctx_t ctx, TYPE *fetch, TYPE *dest,         \
                                                 TYPE value, int pe)                               \
    {                                                                                              \
        elanite_shmem_fetching_nbi(ctx, fetch, dest, WHAT, sizeof(TYPE),                           \
                                   elanite_word_##NAME(value), 0, pe);                             \
    }                                                                                              \
    static inline void shmem_##NAME##_##call(TYPE *fetch, TYPE *dest, TYPE value, int pe)          \
    { shmem_ctx_##NAME##_##call(SHMEM_CTX_DEFAULT, fetch, dest, value, pe); }
#define ELANITE_EXCHANGE_NBI(NAME, TYPE)                                                           \
    ELANITE_NBI(NAME, TYPE, atomic_swap_nbi, ELANITE_SWAP)                                         \
    static inline void shmem_ctx_##NAME##_atomic_fetch_nbi(shmem_ctx_t ctx, TYPE *fetch,           \
                                                           const TYPE *source, int pe)             \
    { elanite_shmem_fetching_nbi(ctx, fetch, source, ELANITE_FETCH, sizeof(TYPE), 0, 0, pe); }     \
    static inline void shmem_##NAME##_atomic_fetch_nbi(TYPE *fetch, const TYPE *source, int pe)    \
    { shmem_ctx_##NAME##_atomic_fetch_nbi(SHMEM_CTX_DEFAULT, fetch, source, pe); }
#define ELANITE_AMO_NBI(NAME, TYPE)                                                                \
    ELANITE_EXCHANGE_NBI(NAME, TYPE)                                                               \
    ELANITE_NBI(NAME, TYPE, atomic_fetch_add_nbi, ELANITE_ADD)                                     \
    static inline void shmem_ctx_##NAME##_atomic_fetch_inc_nbi(shmem_ctx_t ctx, TYPE *fetch,       \
                                                               TYPE *dest, int pe)                 \
    { elanite_shmem_fetching_nbi(ctx, fetch, dest, ELANITE_ADD, sizeof(TYPE), 1, 0, pe); }         \
    static inline void shmem_##NAME##_atomic_fetch_inc_nbi(TYPE *fetch, TYPE *dest, int pe)        \
    { shmem_ctx_##NAME##_atomic_fetch_inc_nbi(SHMEM_CTX_DEFAULT, fetch, dest, pe); }               \
    static inline void shmem_ctx_##NAME##_atomic_compare_swap_nbi(                                 \
        shmem_ctx_t ctx, TYPE *fetch, TYPE *dest, TYPE cond, TYPE value, int pe)                   \
    {                                                                                              \
        elanite_shmem_fetching_nbi(ctx, fetch, dest, ELANITE_CSWAP, sizeof(TYPE),                  \
                                   elanite_word_##NAME(value), elanite_word_##NAME(cond), pe);     \
    }                                                                                              \
    static inline void shmem_##NAME##_atomic_compare_swap_nbi(TYPE *fetch, TYPE *dest, TYPE cond,  \
                                                              TYPE value, int pe)                  \
    { shmem_ctx_##NAME##_atomic_compare_swap_nbi(SHMEM_CTX_DEFAULT, fetch, dest, cond, value, pe); }
#define ELANITE_BITWISE_NBI(NAME, TYPE)                                                            \
    ELANITE_NBI(NAME, TYPE, atomic_fetch_and_nbi, ELANITE_AND)                                     \
    ELANITE_NBI(NAME, TYPE, atomic_fetch_or_nbi, ELANITE_OR)                                       \
    ELANITE_NBI(NAME, TYPE, atomic_fetch_xor_nbi, ELANITE_XOR)
ELANITE_AMO_TYPES(ELANITE_AMO_NBI)
ELANITE_EXCHANGE_NBI(float, float)
ELANITE_EXCHANGE_NBI(double, double)
ELANITE_BIT_TYPES(ELANITE_BITWISE_NBI)

/* A put with a signal. */
#define ELANITE_SIGNAL(NAME, TYPE, ELEMENT)                                                        \
    static inline void shmem_ctx_##NAME(shmem_ctx_t ctx, TYPE *dest, const TYPE *source,           \
                                        size_t nelems, uint64_t *sig_addr, uint64_t signal,        \
                                        int sig_op, int pe)                                        \
    {                                                                                              \
        elanite_shmem_put_signal(ctx, dest, source, nelems * (ELEMENT), sig_addr, signal, sig_op,  \
                                 pe);                                                              \
    }                                                                                              \
    static inline void shmem_##NAME(TYPE *dest, const TYPE *source, size_t nelems,                 \
                                    uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)       \
    {                                                                                              \
        elanite_shmem_put_signal(SHMEM_CTX_DEFAULT, dest, source, nelems * (ELEMENT), sig_addr,    \
                                 signal, sig_op, pe);                                              \
    }
#define ELANITE_SIGNALS(NAME, TYPE)                                                                \
    ELANITE_SIGNAL(NAME##_put_signal, TYPE, sizeof(TYPE))                                          \
    ELANITE_SIGNAL(NAME##_put_signal_nbi, TYPE, sizeof(TYPE))
#define ELANITE_SIZED_SIGNALS(NAME, BYTES)                                                         \
    ELANITE_SIGNAL(put##NAME##_signal, void, BYTES)                                                \
    ELANITE_SIGNAL(put##NAME##_signal_nbi, void, BYTES)
ELANITE_RMA_TYPES(ELANITE_SIGNALS)
ELANITE_SIZED_SIGNALS(mem, 1)
ELANITE_SIZED_SIGNALS(8, 1)
ELANITE_SIZED_SIGNALS(16, 2)
ELANITE_SIZED_SIGNALS(32, 4)
ELANITE_SIZED_SIGNALS(64, 8)
ELANITE_SIZED_SIGNALS(128, 16)

/* Several words. */
enum { ELANITE_ALL, ELANITE_ANY, ELANITE_SOME };
#define ELANITE_SEVERAL(NAME, TYPE)                                                                \
    static inline void shmem_##NAME##_wait_until_all(TYPE *ivars, size_t nelems,                   \
                                                     const int *status, int cmp, TYPE cmp_value)   \
    {                                                                                              \
        elanite_shmem_several(ivars, nelems, NULL, status, ELANITE_ALL, 1, sizeof(TYPE),           \
                              (TYPE) - 1 < (TYPE)1, cmp, &cmp_value, 0);                           \
    }                                                                                              \
    static inline void shmem_##NAME##_wait_until_all_vector(                                       \
        TYPE *ivars, size_t nelems, const int *status, int cmp, TYPE *cmp_values)                  \
    {                                                                                              \
        elanite_shmem_several(ivars, nelems, NULL, status, ELANITE_ALL, 1, sizeof(TYPE),           \
                              (TYPE) - 1 < (TYPE)1, cmp, cmp_values, 1);                           \
    }                                                                                              \
    static inline size_t shmem_##NAME##_wait_until_any(TYPE *ivars, size_t nelems,                 \
                                                       const int *status, int cmp, TYPE cmp_value) \
    {                                                                                              \
        return (size_t)elanite_shmem_several(ivars, nelems, NULL, status, ELANITE_ANY, 1,          \
                                             sizeof(TYPE), (TYPE) - 1 < (TYPE)1, cmp, &cmp_value,  \
                                             0);                                                   \
    }                                                                                              \
    static inline size_t shmem_##NAME##_wait_until_any_vector(                                     \
        TYPE *ivars, size_t nelems, const int *status, int cmp, TYPE *cmp_values)                  \
    {                                                                                              \
        return (size_t)elanite_shmem_several(ivars, nelems, NULL, status, ELANITE_ANY, 1,          \
                                             sizeof(TYPE), (TYPE) - 1 < (TYPE)1, cmp, cmp_values,  \
                                             1);                                                   \
    }                                                                                              \
    static inline size_t shmem_##NAME##_wait_until_some(                                           \
        TYPE *ivars, size_t nelems, size_t *indices, const int *status, int cmp, TYPE cmp_value)   \
    {                                                                                              \
        return (size_t)elanite_shmem_several(ivars, nelems, indices, status, ELANITE_SOME, 1,      \
                                             sizeof(TYPE), (TYPE) - 1 < (TYPE)1, cmp, &cmp_value,  \
                                             0);                                                   \
    }                                                                                              \
    static inline size_t shmem_##NAME##_wait_until_some_vector(                                    \
        TYPE *ivars, size_t nelems, size_t *indices, const int *status, int cmp, TYPE *cmp_values) \
    {                                                                                              \
        return (size_t)elanite_shmem_several(ivars, nelems, indices, status, ELANITE_SOME, 1,      \
                                             sizeof(TYPE), (TYPE) - 1 < (TYPE)1, cmp, cmp_values,  \
                                             1);                                                   \
    }                                                                                              \
    static inline int shmem_##NAME##_test_all(TYPE *ivars, size_t nelems, const int *status,       \
                                              int cmp, TYPE cmp_value)                             \
    {                                                                                              \
        return (int)elanite_shmem_several(ivars, nelems, NULL, status, ELANITE_ALL, 0,             \
                                          sizeof(TYPE), (TYPE) - 1 < (TYPE)1, cmp, &cmp_value, 0); \
    }                                                                                              \
    static inline int shmem_##NAME##_test_all_vector(TYPE *ivars, size_t nelems,                   \
                                                     const int *status, int cmp, TYPE *cmp_values) \
    {                                                                                              \
        return (int)elanite_shmem_several(ivars, nelems, NULL, status, ELANITE_ALL, 0,             \
                                          sizeof(TYPE), (TYPE) - 1 < (TYPE)1, cmp, cmp_values, 1); \
    }                                                                                              \
    static inline size_t shmem_##NAME##_test_any(TYPE *ivars, size_t nelems, const int *status,    \
                                                 int cmp, TYPE cmp_value)                          \
    {                                                                                              \
        return (size_t)elanite_shmem_several(ivars, nelems, NULL, status, ELANITE_ANY, 0,          \
                                             sizeof(TYPE), (TYPE) - 1 < (TYPE)1, cmp, &cmp_value,  \
                                             0);                                                   \
    }                                                                                              \
    static inline size_t shmem_##NAME##_test_any_vector(                                           \
        TYPE *ivars, size_t nelems, const int *status, int cmp, TYPE *cmp_values)                  \
    {                                                                                              \
        return (size_t)elanite_shmem_several(ivars, nelems, NULL, status, ELANITE_ANY, 0,          \
                                             sizeof(TYPE), (TYPE) - 1 < (TYPE)1, cmp, cmp_values,  \
                                             1);                                                   \
    }                                                                                              \
    static inline size_t shmem_##NAME##_test_some(TYPE *ivars, size_t nelems, size_t *indices,     \
                                                  const int *status, int cmp, TYPE cmp_value)      \
    {                                                                                              \
        return (size_t)elanite_shmem_several(ivars, nelems, indices, status, ELANITE_SOME, 0,      \
                                             sizeof(TYPE), (TYPE) - 1 < (TYPE)1, cmp, &cmp_value,  \
                                             0);                                                   \
    }                                                                                              \
    static inline size_t shmem_##NAME##_test_some_vector(                                          \
        TYPE *ivars, size_t nelems, size_t *indices, const int *status, int cmp, TYPE *cmp_values) \
    {                                                                                              \
        return (size_t)elanite_shmem_several(ivars, nelems, indices, status, ELANITE_SOME, 0,      \
                                             sizeof(TYPE), (TYPE) - 1 < (TYPE)1, cmp, cmp_values,  \
                                             1);                                                   \
    }
ELANITE_WAIT_TYPES(ELANITE_SEVERAL)

/* Collective calls of teams. */
#define ELANITE_TEAM(PREFIX, SUFFIX, TYPE, ELEMENT)                                                \
    static inline int shmem_##PREFIX##broadcast##SUFFIX(                                           \
        shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems, int PE_root)             \
    { return elanite_shmem_team_broadcast(team, dest, source, nelems * (ELEMENT), PE_root); }      \
    static inline int shmem_##PREFIX##collect##SUFFIX(shmem_team_t team, TYPE *dest,               \
                                                      const TYPE *source, size_t nelems)           \
    { return elanite_shmem_team_collect(team, dest, source, nelems * (ELEMENT)); }                 \
    static inline int shmem_##PREFIX##fcollect##SUFFIX(shmem_team_t team, TYPE *dest,              \
                                                       const TYPE *source, size_t nelems)          \
    { return elanite_shmem_team_fcollect(team, dest, source, nelems * (ELEMENT)); }                \
    static inline int shmem_##PREFIX##alltoall##SUFFIX(shmem_team_t team, TYPE *dest,              \
                                                       const TYPE *source, size_t nelems)          \
    { return elanite_shmem_team_alltoall(team, dest, source, 1, 1, nelems, ELEMENT); }             \
    static inline int shmem_##PREFIX##alltoalls##SUFFIX(shmem_team_t team, TYPE *dest,             \
                                                        const TYPE *source, ptrdiff_t dst,         \
                                                        ptrdiff_t sst, size_t nelems)              \
    { return elanite_shmem_team_alltoall(team, dest, source, dst, sst, nelems, ELEMENT); }
#define ELANITE_TYPED_TEAM(NAME, TYPE) ELANITE_TEAM(NAME##_, , TYPE, sizeof(TYPE))
ELANITE_RMA_TYPES(ELANITE_TYPED_TEAM)
ELANITE_TEAM(, mem, void, 1)

/* Reductions of teams. */
#define ELANITE_TEAM_REDUCTION(NAME, TYPE, call, OPERATION, KIND)                                  \
    static inline int shmem_##NAME##_##call##_reduce(shmem_team_t team, TYPE *dest,                \
                                                     const TYPE *source, size_t nreduce)           \
    {                                                                                              \
        return elanite_shmem_team_reduce(team, dest, source, nreduce, OPERATION, KIND,             \
                                         sizeof(TYPE));                                            \
    }
#define ELANITE_TEAM_SUMS(NAME, TYPE, KIND)                                                        \
    ELANITE_TEAM_REDUCTION(NAME, TYPE, sum, ELANITE_RSUM, KIND)                                    \
    ELANITE_TEAM_REDUCTION(NAME, TYPE, prod, ELANITE_RPROD, KIND)
#define ELANITE_TEAM_ORDERED(NAME, TYPE, KIND)                                                     \
    ELANITE_TEAM_SUMS(NAME, TYPE, KIND)                                                            \
    ELANITE_TEAM_REDUCTION(NAME, TYPE, min, ELANITE_RMIN, KIND)                                    \
    ELANITE_TEAM_REDUCTION(NAME, TYPE, max, ELANITE_RMAX, KIND)
#define ELANITE_TEAM_INTEGER(NAME, TYPE)                                                           \
    ELANITE_TEAM_ORDERED(NAME, TYPE, (TYPE) - 1 < (TYPE)1 ? ELANITE_SIGNED : ELANITE_UNSIGNED)     \
    ELANITE_TEAM_REDUCTION(NAME, TYPE, and, ELANITE_RAND, ELANITE_UNSIGNED)                        \
    ELANITE_TEAM_REDUCTION(NAME, TYPE, or, ELANITE_ROR, ELANITE_UNSIGNED)                          \
    ELANITE_TEAM_REDUCTION(NAME, TYPE, xor, ELANITE_RXOR, ELANITE_UNSIGNED)
#define ELANITE_INTEGER_TYPES(X)                                                                   \
    X(char, char)                                                                                  \
    X(schar, signed char) X(short, short) X(int, int) X(long, long) X(longlong, long long)         \
        X(uchar, unsigned char) X(ushort, unsigned short) X(uint, unsigned int)                    \
            X(ulong, unsigned long) X(ulonglong, unsigned long long) X(int8, int8_t)               \
                X(int16, int16_t) X(int32, int32_t) X(int64, int64_t) X(uint8, uint8_t)            \
                    X(uint16, uint16_t) X(uint32, uint32_t) X(uint64, uint64_t) X(size, size_t)    \
                        X(ptrdiff, ptrdiff_t)
ELANITE_INTEGER_TYPES(ELANITE_TEAM_INTEGER)
ELANITE_TEAM_ORDERED(float, float, ELANITE_FLOATING)
ELANITE_TEAM_ORDERED(double, double, ELANITE_FLOATING)
ELANITE_TEAM_SUMS(complexf, float _Complex, ELANITE_COMPLEX)
ELANITE_TEAM_SUMS(complexd, double _Complex, ELANITE_COMPLEX)
#define ELANITE_TEAM_LONG(call, OPERATION)                                                         \
    static inline int shmem_longdouble_##call##_reduce(shmem_team_t team, long double *dest,       \
                                                       const long double *source, size_t nreduce)  \
    {                                                                                              \
        return elanite_shmem_team_reduce_by(team, dest, source, nreduce, sizeof(long double),      \
                                            OPERATION, elanite_longdouble_##call);                 \
    }
ELANITE_TEAM_LONG(sum, ELANITE_RSUM)
ELANITE_TEAM_LONG(prod, ELANITE_RPROD)
ELANITE_TEAM_LONG(min, ELANITE_RMIN)
ELANITE_TEAM_LONG(max, ELANITE_RMAX)

#ifdef __cplusplus
}
#endif

#endif
