/*
 * The functions of OpenSHMEM that choose the type by the pointer to the data (C11), for <shmem.h>.
 * A call with one argument more than the others has a context as its first argument.
 */
#ifndef ELANITE_SHMEM_GENERIC_H
#define ELANITE_SHMEM_GENERIC_H

/* The function for the type of what `at` points to: of all types, and of those of some families of
 * functions. */
#define ELANITE_OF_RMA(at, before, after)                                                          \
    _Generic(*(at),                                                                                \
        float: before##float##after,                                                               \
        double: before##double##after,                                                             \
        long double: before##longdouble##after,                                                    \
        char: before##char##after,                                                                 \
        signed char: before##schar##after,                                                         \
        short: before##short##after,                                                               \
        int: before##int##after,                                                                   \
        long: before##long##after,                                                                 \
        long long: before##longlong##after,                                                        \
        unsigned char: before##uchar##after,                                                       \
        unsigned short: before##ushort##after,                                                     \
        unsigned int: before##uint##after,                                                         \
        unsigned long: before##ulong##after,                                                       \
        unsigned long long: before##ulonglong##after)
#define ELANITE_OF_EXCHANGE(at, before, after)                                                     \
    _Generic(*(at),                                                                                \
        float: before##float##after,                                                               \
        double: before##double##after,                                                             \
        int: before##int##after,                                                                   \
        long: before##long##after,                                                                 \
        long long: before##longlong##after,                                                        \
        unsigned int: before##uint##after,                                                         \
        unsigned long: before##ulong##after,                                                       \
        unsigned long long: before##ulonglong##after)
#define ELANITE_OF_AMO(at, before, after)                                                          \
    _Generic(*(at),                                                                                \
        int: before##int##after,                                                                   \
        long: before##long##after,                                                                 \
        long long: before##longlong##after,                                                        \
        unsigned int: before##uint##after,                                                         \
        unsigned long: before##ulong##after,                                                       \
        unsigned long long: before##ulonglong##after)
#define ELANITE_OF_WAIT(at, before, after)                                                         \
    _Generic(*(at),                                                                                \
        short: before##short##after,                                                               \
        int: before##int##after,                                                                   \
        long: before##long##after,                                                                 \
        long long: before##longlong##after,                                                        \
        unsigned short: before##ushort##after,                                                     \
        unsigned int: before##uint##after,                                                         \
        unsigned long: before##ulong##after,                                                       \
        unsigned long long: before##ulonglong##after)

#define ELANITE_OF_OLD_EXCHANGE(at, before, after)                                                 \
    _Generic(*(at),                                                                                \
        float: before##float##after,                                                               \
        double: before##double##after,                                                             \
        int: before##int##after,                                                                   \
        long: before##long##after,                                                                 \
        long long: before##longlong##after)
#define ELANITE_OF_OLD_AMO(at, before, after)                                                      \
    _Generic(*(at),                                                                                \
        int: before##int##after,                                                                   \
        long: before##long##after,                                                                 \
        long long: before##longlong##after)
#define ELANITE_OF_INTEGER(at, before, after)                                                      \
    _Generic(*(at),                                                                                \
        char: before##char##after,                                                                 \
        signed char: before##schar##after,                                                         \
        short: before##short##after,                                                               \
        int: before##int##after,                                                                   \
        long: before##long##after,                                                                 \
        long long: before##longlong##after,                                                        \
        unsigned char: before##uchar##after,                                                       \
        unsigned short: before##ushort##after,                                                     \
        unsigned int: before##uint##after,                                                         \
        unsigned long: before##ulong##after,                                                       \
        unsigned long long: before##ulonglong##after)
#define ELANITE_OF_NUMBER(at, before, after)                                                       \
    _Generic(*(at),                                                                                \
        float: before##float##after,                                                               \
        double: before##double##after,                                                             \
        long double: before##longdouble##after,                                                    \
        char: before##char##after,                                                                 \
        signed char: before##schar##after,                                                         \
        short: before##short##after,                                                               \
        int: before##int##after,                                                                   \
        long: before##long##after,                                                                 \
        long long: before##longlong##after,                                                        \
        unsigned char: before##uchar##after,                                                       \
        unsigned short: before##ushort##after,                                                     \
        unsigned int: before##uint##after,                                                         \
        unsigned long: before##ulong##after,                                                       \
        unsigned long long: before##ulonglong##after,                                              \
        float _Complex: before##complexf##after,                                                   \
        double _Complex: before##complexd##after)

/* The argument after as many others: a call with a context has one more than the same call without.
 */
#define ELANITE_AFTER3(a, b, c, choice, ...) choice
#define ELANITE_AFTER4(a, b, c, d, choice, ...) choice
#define ELANITE_AFTER5(a, b, c, d, e, choice, ...) choice
#define ELANITE_AFTER6(a, b, c, d, e, f, choice, ...) choice
#define ELANITE_AFTER7(a, b, c, d, e, f, g, choice, ...) choice
#define ELANITE_AFTER8(a, b, c, d, e, f, g, h, choice, ...) choice

/* A call of the function for the type of what `at` points to; with a context or a team as the first
 * argument. */
#define ELANITE_TYPED(types, name, at, ...) ELANITE_OF_##types(at, shmem_, name)(at, __VA_ARGS__)
#define ELANITE_IN(types, name, ctx, at, ...)                                                      \
    ELANITE_OF_##types(at, shmem_ctx_, name)(ctx, at, __VA_ARGS__)
#define ELANITE_IN_TEAM(types, name, team, at, ...)                                                \
    ELANITE_OF_##types(at, shmem_, name)(team, at, __VA_ARGS__)

/* Put and get. */
#define shmem_put(...)                                                                             \
    ELANITE_AFTER5(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(RMA, _put, __VA_ARGS__)
#define shmem_get(...)                                                                             \
    ELANITE_AFTER5(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(RMA, _get, __VA_ARGS__)
#define shmem_put_nbi(...)                                                                         \
    ELANITE_AFTER5(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(RMA, _put_nbi, __VA_ARGS__)
#define shmem_get_nbi(...)                                                                         \
    ELANITE_AFTER5(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(RMA, _get_nbi, __VA_ARGS__)
#define shmem_iput(...)                                                                            \
    ELANITE_AFTER7(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(RMA, _iput, __VA_ARGS__)
#define shmem_iget(...)                                                                            \
    ELANITE_AFTER7(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(RMA, _iget, __VA_ARGS__)
#define shmem_p(...) ELANITE_AFTER4(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(RMA, _p, __VA_ARGS__)
#define shmem_g(...) ELANITE_AFTER3(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(RMA, _g, __VA_ARGS__)

/* Atomic operations. */
#define shmem_atomic_fetch(...)                                                                    \
    ELANITE_AFTER3(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(EXCHANGE, _atomic_fetch, __VA_ARGS__)
#define shmem_atomic_set(...)                                                                      \
    ELANITE_AFTER4(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(EXCHANGE, _atomic_set, __VA_ARGS__)
#define shmem_atomic_swap(...)                                                                     \
    ELANITE_AFTER4(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(EXCHANGE, _atomic_swap, __VA_ARGS__)
#define shmem_atomic_compare_swap(...)                                                             \
    ELANITE_AFTER5(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(AMO, _atomic_compare_swap,           \
                                                              __VA_ARGS__)
#define shmem_atomic_fetch_inc(...)                                                                \
    ELANITE_AFTER3(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(AMO, _atomic_fetch_inc, __VA_ARGS__)
#define shmem_atomic_inc(...)                                                                      \
    ELANITE_AFTER3(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(AMO, _atomic_inc, __VA_ARGS__)
#define shmem_atomic_fetch_add(...)                                                                \
    ELANITE_AFTER4(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(AMO, _atomic_fetch_add, __VA_ARGS__)
#define shmem_atomic_add(...)                                                                      \
    ELANITE_AFTER4(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(AMO, _atomic_add, __VA_ARGS__)
#define shmem_atomic_fetch_and(...)                                                                \
    ELANITE_AFTER4(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(AMO, _atomic_fetch_and, __VA_ARGS__)
#define shmem_atomic_and(...)                                                                      \
    ELANITE_AFTER4(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(AMO, _atomic_and, __VA_ARGS__)
#define shmem_atomic_fetch_or(...)                                                                 \
    ELANITE_AFTER4(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(AMO, _atomic_fetch_or, __VA_ARGS__)
#define shmem_atomic_or(...)                                                                       \
    ELANITE_AFTER4(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(AMO, _atomic_or, __VA_ARGS__)
#define shmem_atomic_fetch_xor(...)                                                                \
    ELANITE_AFTER4(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(AMO, _atomic_fetch_xor, __VA_ARGS__)
#define shmem_atomic_xor(...)                                                                      \
    ELANITE_AFTER4(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(AMO, _atomic_xor, __VA_ARGS__)

/* Waiting. */
#define shmem_wait_until(...) ELANITE_TYPED(WAIT, _wait_until, __VA_ARGS__)
#define shmem_test(...) ELANITE_TYPED(WAIT, _test, __VA_ARGS__)

/* The names before OpenSHMEM 1.4. */
#define shmem_fetch(...) ELANITE_TYPED(OLD_EXCHANGE, _fetch, __VA_ARGS__)
#define shmem_set(...) ELANITE_TYPED(OLD_EXCHANGE, _set, __VA_ARGS__)
#define shmem_swap(...) ELANITE_TYPED(OLD_EXCHANGE, _swap, __VA_ARGS__)
#define shmem_cswap(...) ELANITE_TYPED(OLD_AMO, _cswap, __VA_ARGS__)
#define shmem_finc(...) ELANITE_TYPED(OLD_AMO, _finc, __VA_ARGS__)
#define shmem_inc(...) ELANITE_TYPED(OLD_AMO, _inc, __VA_ARGS__)
#define shmem_fadd(...) ELANITE_TYPED(OLD_AMO, _fadd, __VA_ARGS__)
#define shmem_add(...) ELANITE_TYPED(OLD_AMO, _add, __VA_ARGS__)

/* OpenSHMEM 1.5. */
#define shmem_atomic_fetch_nbi(...)                                                                \
    ELANITE_AFTER4(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(EXCHANGE, _atomic_fetch_nbi,         \
                                                              __VA_ARGS__)
#define shmem_atomic_swap_nbi(...)                                                                 \
    ELANITE_AFTER5(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(EXCHANGE, _atomic_swap_nbi,          \
                                                              __VA_ARGS__)
#define shmem_atomic_compare_swap_nbi(...)                                                         \
    ELANITE_AFTER6(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(AMO, _atomic_compare_swap_nbi,       \
                                                              __VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(...)                                                            \
    ELANITE_AFTER4(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(AMO, _atomic_fetch_inc_nbi,          \
                                                              __VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(...)                                                            \
    ELANITE_AFTER5(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(AMO, _atomic_fetch_add_nbi,          \
                                                              __VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(...)                                                            \
    ELANITE_AFTER5(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(AMO, _atomic_fetch_and_nbi,          \
                                                              __VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(...)                                                             \
    ELANITE_AFTER5(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(AMO, _atomic_fetch_or_nbi,           \
                                                              __VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(...)                                                            \
    ELANITE_AFTER5(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(AMO, _atomic_fetch_xor_nbi,          \
                                                              __VA_ARGS__)
#define shmem_put_signal(...)                                                                      \
    ELANITE_AFTER8(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(RMA, _put_signal, __VA_ARGS__)
#define shmem_put_signal_nbi(...)                                                                  \
    ELANITE_AFTER8(__VA_ARGS__, ELANITE_IN, ELANITE_TYPED, 0)(RMA, _put_signal_nbi, __VA_ARGS__)
#define shmem_wait_until_all(...) ELANITE_TYPED(WAIT, _wait_until_all, __VA_ARGS__)
#define shmem_wait_until_all_vector(...) ELANITE_TYPED(WAIT, _wait_until_all_vector, __VA_ARGS__)
#define shmem_wait_until_any(...) ELANITE_TYPED(WAIT, _wait_until_any, __VA_ARGS__)
#define shmem_wait_until_any_vector(...) ELANITE_TYPED(WAIT, _wait_until_any_vector, __VA_ARGS__)
#define shmem_test_all(...) ELANITE_TYPED(WAIT, _test_all, __VA_ARGS__)
#define shmem_test_all_vector(...) ELANITE_TYPED(WAIT, _test_all_vector, __VA_ARGS__)
#define shmem_test_any(...) ELANITE_TYPED(WAIT, _test_any, __VA_ARGS__)
#define shmem_test_any_vector(...) ELANITE_TYPED(WAIT, _test_any_vector, __VA_ARGS__)
#define shmem_wait_until_some(...) ELANITE_TYPED(WAIT, _wait_until_some, __VA_ARGS__)
#define shmem_wait_until_some_vector(...) ELANITE_TYPED(WAIT, _wait_until_some_vector, __VA_ARGS__)
#define shmem_test_some(...) ELANITE_TYPED(WAIT, _test_some, __VA_ARGS__)
#define shmem_test_some_vector(...) ELANITE_TYPED(WAIT, _test_some_vector, __VA_ARGS__)
#define shmem_broadcast(...) ELANITE_IN_TEAM(RMA, _broadcast, __VA_ARGS__)
#define shmem_collect(...) ELANITE_IN_TEAM(RMA, _collect, __VA_ARGS__)
#define shmem_fcollect(...) ELANITE_IN_TEAM(RMA, _fcollect, __VA_ARGS__)
#define shmem_alltoall(...) ELANITE_IN_TEAM(RMA, _alltoall, __VA_ARGS__)
#define shmem_alltoalls(...) ELANITE_IN_TEAM(RMA, _alltoalls, __VA_ARGS__)
#define shmem_and_reduce(...) ELANITE_IN_TEAM(INTEGER, _and_reduce, __VA_ARGS__)
#define shmem_or_reduce(...) ELANITE_IN_TEAM(INTEGER, _or_reduce, __VA_ARGS__)
#define shmem_xor_reduce(...) ELANITE_IN_TEAM(INTEGER, _xor_reduce, __VA_ARGS__)
#define shmem_min_reduce(...) ELANITE_IN_TEAM(RMA, _min_reduce, __VA_ARGS__)
#define shmem_max_reduce(...) ELANITE_IN_TEAM(RMA, _max_reduce, __VA_ARGS__)
#define shmem_sum_reduce(...) ELANITE_IN_TEAM(NUMBER, _sum_reduce, __VA_ARGS__)
#define shmem_prod_reduce(...) ELANITE_IN_TEAM(NUMBER, _prod_reduce, __VA_ARGS__)
/* The barrier of a team, or of an active set. */
#define shmem_sync(...)                                                                            \
    ELANITE_AFTER4(__VA_ARGS__, (shmem_sync), 0, 0, shmem_team_sync, 0)(__VA_ARGS__)

#endif
