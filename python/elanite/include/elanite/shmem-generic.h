/*
 * The functions of OpenSHMEM that choose the type by the pointer to the data (C11), for <shmem.h>. A call with one argument
 * more than the others has a context as its first argument.
 */
#ifndef ELANITE_SHMEM_GENERIC_H
#define ELANITE_SHMEM_GENERIC_H

/* The function for the type of what `at` points to: of all types, and of those of some families of functions. */
#define ELANITE_OF_RMA(at, before, after)                                                                              \
    _Generic(*(at), float: before##float##after, double: before##double##after,                                        \
        long double: before##longdouble##after, char: before##char##after, signed char: before##schar##after,          \
        short: before##short##after, int: before##int##after, long: before##long##after,                               \
        long long: before##longlong##after, unsigned char: before##uchar##after,                                       \
        unsigned short: before##ushort##after, unsigned int: before##uint##after,                                      \
        unsigned long: before##ulong##after, unsigned long long: before##ulonglong##after)
#define ELANITE_OF_EXCHANGE(at, before, after)                                                                         \
    _Generic(*(at), float: before##float##after, double: before##double##after, int: before##int##after,               \
        long: before##long##after, long long: before##longlong##after, unsigned int: before##uint##after,              \
        unsigned long: before##ulong##after, unsigned long long: before##ulonglong##after)
#define ELANITE_OF_AMO(at, before, after)                                                                              \
    _Generic(*(at), int: before##int##after, long: before##long##after, long long: before##longlong##after,            \
        unsigned int: before##uint##after, unsigned long: before##ulong##after,                                        \
        unsigned long long: before##ulonglong##after)
#define ELANITE_OF_WAIT(at, before, after)                                                                             \
    _Generic(*(at), short: before##short##after, int: before##int##after, long: before##long##after,                   \
        long long: before##longlong##after, unsigned short: before##ushort##after,                                     \
        unsigned int: before##uint##after, unsigned long: before##ulong##after,                                        \
        unsigned long long: before##ulonglong##after)

#define ELANITE_OF_OLD_EXCHANGE(at, before, after)                                                                     \
    _Generic(*(at), float: before##float##after, double: before##double##after, int: before##int##after,               \
        long: before##long##after, long long: before##longlong##after)
#define ELANITE_OF_OLD_AMO(at, before, after)                                                                          \
    _Generic(*(at), int: before##int##after, long: before##long##after, long long: before##longlong##after)
#define ELANITE_OF_INTEGER(at, before, after)                                                                          \
    _Generic(*(at), char: before##char##after, signed char: before##schar##after, short: before##short##after,         \
        int: before##int##after, long: before##long##after, long long: before##longlong##after,                        \
        unsigned char: before##uchar##after, unsigned short: before##ushort##after,                                    \
        unsigned int: before##uint##after, unsigned long: before##ulong##after,                                        \
        unsigned long long: before##ulonglong##after)
#define ELANITE_OF_NUMBER(at, before, after)                                                                           \
    _Generic(*(at), float: before##float##after, double: before##double##after,                                        \
        long double: before##longdouble##after, char: before##char##after, signed char: before##schar##after,          \
        short: before##short##after, int: before##int##after, long: before##long##after,                               \
        long long: before##longlong##after, unsigned char: before##uchar##after,                                       \
        unsigned short: before##ushort##after, unsigned int: before##uint##after,                                      \
        unsigned long: before##ulong##after, unsigned long long: before##ulonglong##after,                             \
        float _Complex: before##complexf##after, double _Complex: before##complexd##after)

/* The argument after as many others: a macro follows those for more arguments. */
#define ELANITE_AFTER3(a, b, c, choice, ...) choice
#define ELANITE_AFTER4(a, b, c, d, choice, ...) choice
#define ELANITE_AFTER5(a, b, c, d, e, choice, ...) choice
#define ELANITE_AFTER6(a, b, c, d, e, f, choice, ...) choice
#define ELANITE_AFTER7(a, b, c, d, e, f, g, choice, ...) choice
#define ELANITE_AFTER8(a, b, c, d, e, f, g, h, choice, ...) choice

/* Put and get. */
#define shmem_put(...) ELANITE_AFTER5(__VA_ARGS__, elanite_put_in, elanite_put, 0)(__VA_ARGS__)
#define elanite_put(dest, source, nelems, pe) ELANITE_OF_RMA(dest, shmem_, _put)(dest, source, nelems, pe)
#define elanite_put_in(ctx, dest, source, nelems, pe)                                                                  \
    ELANITE_OF_RMA(dest, shmem_ctx_, _put)(ctx, dest, source, nelems, pe)
#define shmem_get(...) ELANITE_AFTER5(__VA_ARGS__, elanite_get_in, elanite_get, 0)(__VA_ARGS__)
#define elanite_get(dest, source, nelems, pe) ELANITE_OF_RMA(dest, shmem_, _get)(dest, source, nelems, pe)
#define elanite_get_in(ctx, dest, source, nelems, pe)                                                                  \
    ELANITE_OF_RMA(dest, shmem_ctx_, _get)(ctx, dest, source, nelems, pe)
#define shmem_put_nbi(...) ELANITE_AFTER5(__VA_ARGS__, elanite_put_nbi_in, elanite_put_nbi, 0)(__VA_ARGS__)
#define elanite_put_nbi(dest, source, nelems, pe) ELANITE_OF_RMA(dest, shmem_, _put_nbi)(dest, source, nelems, pe)
#define elanite_put_nbi_in(ctx, dest, source, nelems, pe)                                                              \
    ELANITE_OF_RMA(dest, shmem_ctx_, _put_nbi)(ctx, dest, source, nelems, pe)
#define shmem_get_nbi(...) ELANITE_AFTER5(__VA_ARGS__, elanite_get_nbi_in, elanite_get_nbi, 0)(__VA_ARGS__)
#define elanite_get_nbi(dest, source, nelems, pe) ELANITE_OF_RMA(dest, shmem_, _get_nbi)(dest, source, nelems, pe)
#define elanite_get_nbi_in(ctx, dest, source, nelems, pe)                                                              \
    ELANITE_OF_RMA(dest, shmem_ctx_, _get_nbi)(ctx, dest, source, nelems, pe)
#define shmem_iput(...) ELANITE_AFTER7(__VA_ARGS__, elanite_iput_in, elanite_iput, 0)(__VA_ARGS__)
#define elanite_iput(dest, source, dst, sst, nelems, pe)                                                               \
    ELANITE_OF_RMA(dest, shmem_, _iput)(dest, source, dst, sst, nelems, pe)
#define elanite_iput_in(ctx, dest, source, dst, sst, nelems, pe)                                                       \
    ELANITE_OF_RMA(dest, shmem_ctx_, _iput)(ctx, dest, source, dst, sst, nelems, pe)
#define shmem_iget(...) ELANITE_AFTER7(__VA_ARGS__, elanite_iget_in, elanite_iget, 0)(__VA_ARGS__)
#define elanite_iget(dest, source, dst, sst, nelems, pe)                                                               \
    ELANITE_OF_RMA(dest, shmem_, _iget)(dest, source, dst, sst, nelems, pe)
#define elanite_iget_in(ctx, dest, source, dst, sst, nelems, pe)                                                       \
    ELANITE_OF_RMA(dest, shmem_ctx_, _iget)(ctx, dest, source, dst, sst, nelems, pe)
#define shmem_p(...) ELANITE_AFTER4(__VA_ARGS__, elanite_p_in, elanite_p, 0)(__VA_ARGS__)
#define elanite_p(dest, value, pe) ELANITE_OF_RMA(dest, shmem_, _p)(dest, value, pe)
#define elanite_p_in(ctx, dest, value, pe) ELANITE_OF_RMA(dest, shmem_ctx_, _p)(ctx, dest, value, pe)
#define shmem_g(...) ELANITE_AFTER3(__VA_ARGS__, elanite_g_in, elanite_g, 0)(__VA_ARGS__)
#define elanite_g(source, pe) ELANITE_OF_RMA(source, shmem_, _g)(source, pe)
#define elanite_g_in(ctx, source, pe) ELANITE_OF_RMA(source, shmem_ctx_, _g)(ctx, source, pe)

/* Atomic operations. */
#define shmem_atomic_fetch(...)                                                                                        \
    ELANITE_AFTER3(__VA_ARGS__, elanite_atomic_fetch_in, elanite_atomic_fetch, 0)(__VA_ARGS__)
#define elanite_atomic_fetch(source, pe) ELANITE_OF_EXCHANGE(source, shmem_, _atomic_fetch)(source, pe)
#define elanite_atomic_fetch_in(ctx, source, pe)                                                                       \
    ELANITE_OF_EXCHANGE(source, shmem_ctx_, _atomic_fetch)(ctx, source, pe)
#define shmem_atomic_set(...) ELANITE_AFTER4(__VA_ARGS__, elanite_atomic_set_in, elanite_atomic_set, 0)(__VA_ARGS__)
#define elanite_atomic_set(dest, value, pe) ELANITE_OF_EXCHANGE(dest, shmem_, _atomic_set)(dest, value, pe)
#define elanite_atomic_set_in(ctx, dest, value, pe)                                                                    \
    ELANITE_OF_EXCHANGE(dest, shmem_ctx_, _atomic_set)(ctx, dest, value, pe)
#define shmem_atomic_swap(...) ELANITE_AFTER4(__VA_ARGS__, elanite_atomic_swap_in, elanite_atomic_swap, 0)(__VA_ARGS__)
#define elanite_atomic_swap(dest, value, pe) ELANITE_OF_EXCHANGE(dest, shmem_, _atomic_swap)(dest, value, pe)
#define elanite_atomic_swap_in(ctx, dest, value, pe)                                                                   \
    ELANITE_OF_EXCHANGE(dest, shmem_ctx_, _atomic_swap)(ctx, dest, value, pe)
#define shmem_atomic_compare_swap(...)                                                                                 \
    ELANITE_AFTER5(__VA_ARGS__, elanite_atomic_compare_swap_in, elanite_atomic_compare_swap, 0)(__VA_ARGS__)
#define elanite_atomic_compare_swap(dest, cond, value, pe)                                                             \
    ELANITE_OF_AMO(dest, shmem_, _atomic_compare_swap)(dest, cond, value, pe)
#define elanite_atomic_compare_swap_in(ctx, dest, cond, value, pe)                                                     \
    ELANITE_OF_AMO(dest, shmem_ctx_, _atomic_compare_swap)(ctx, dest, cond, value, pe)
#define shmem_atomic_fetch_inc(...)                                                                                    \
    ELANITE_AFTER3(__VA_ARGS__, elanite_atomic_fetch_inc_in, elanite_atomic_fetch_inc, 0)(__VA_ARGS__)
#define elanite_atomic_fetch_inc(dest, pe) ELANITE_OF_AMO(dest, shmem_, _atomic_fetch_inc)(dest, pe)
#define elanite_atomic_fetch_inc_in(ctx, dest, pe) ELANITE_OF_AMO(dest, shmem_ctx_, _atomic_fetch_inc)(ctx, dest, pe)
#define shmem_atomic_inc(...) ELANITE_AFTER3(__VA_ARGS__, elanite_atomic_inc_in, elanite_atomic_inc, 0)(__VA_ARGS__)
#define elanite_atomic_inc(dest, pe) ELANITE_OF_AMO(dest, shmem_, _atomic_inc)(dest, pe)
#define elanite_atomic_inc_in(ctx, dest, pe) ELANITE_OF_AMO(dest, shmem_ctx_, _atomic_inc)(ctx, dest, pe)
#define shmem_atomic_fetch_add(...)                                                                                    \
    ELANITE_AFTER4(__VA_ARGS__, elanite_atomic_fetch_add_in, elanite_atomic_fetch_add, 0)(__VA_ARGS__)
#define elanite_atomic_fetch_add(dest, value, pe) ELANITE_OF_AMO(dest, shmem_, _atomic_fetch_add)(dest, value, pe)
#define elanite_atomic_fetch_add_in(ctx, dest, value, pe)                                                              \
    ELANITE_OF_AMO(dest, shmem_ctx_, _atomic_fetch_add)(ctx, dest, value, pe)
#define shmem_atomic_add(...) ELANITE_AFTER4(__VA_ARGS__, elanite_atomic_add_in, elanite_atomic_add, 0)(__VA_ARGS__)
#define elanite_atomic_add(dest, value, pe) ELANITE_OF_AMO(dest, shmem_, _atomic_add)(dest, value, pe)
#define elanite_atomic_add_in(ctx, dest, value, pe) ELANITE_OF_AMO(dest, shmem_ctx_, _atomic_add)(ctx, dest, value, pe)
#define shmem_atomic_fetch_and(...)                                                                                    \
    ELANITE_AFTER4(__VA_ARGS__, elanite_atomic_fetch_and_in, elanite_atomic_fetch_and, 0)(__VA_ARGS__)
#define elanite_atomic_fetch_and(dest, value, pe) ELANITE_OF_AMO(dest, shmem_, _atomic_fetch_and)(dest, value, pe)
#define elanite_atomic_fetch_and_in(ctx, dest, value, pe)                                                              \
    ELANITE_OF_AMO(dest, shmem_ctx_, _atomic_fetch_and)(ctx, dest, value, pe)
#define shmem_atomic_and(...) ELANITE_AFTER4(__VA_ARGS__, elanite_atomic_and_in, elanite_atomic_and, 0)(__VA_ARGS__)
#define elanite_atomic_and(dest, value, pe) ELANITE_OF_AMO(dest, shmem_, _atomic_and)(dest, value, pe)
#define elanite_atomic_and_in(ctx, dest, value, pe) ELANITE_OF_AMO(dest, shmem_ctx_, _atomic_and)(ctx, dest, value, pe)
#define shmem_atomic_fetch_or(...)                                                                                     \
    ELANITE_AFTER4(__VA_ARGS__, elanite_atomic_fetch_or_in, elanite_atomic_fetch_or, 0)(__VA_ARGS__)
#define elanite_atomic_fetch_or(dest, value, pe) ELANITE_OF_AMO(dest, shmem_, _atomic_fetch_or)(dest, value, pe)
#define elanite_atomic_fetch_or_in(ctx, dest, value, pe)                                                               \
    ELANITE_OF_AMO(dest, shmem_ctx_, _atomic_fetch_or)(ctx, dest, value, pe)
#define shmem_atomic_or(...) ELANITE_AFTER4(__VA_ARGS__, elanite_atomic_or_in, elanite_atomic_or, 0)(__VA_ARGS__)
#define elanite_atomic_or(dest, value, pe) ELANITE_OF_AMO(dest, shmem_, _atomic_or)(dest, value, pe)
#define elanite_atomic_or_in(ctx, dest, value, pe) ELANITE_OF_AMO(dest, shmem_ctx_, _atomic_or)(ctx, dest, value, pe)
#define shmem_atomic_fetch_xor(...)                                                                                    \
    ELANITE_AFTER4(__VA_ARGS__, elanite_atomic_fetch_xor_in, elanite_atomic_fetch_xor, 0)(__VA_ARGS__)
#define elanite_atomic_fetch_xor(dest, value, pe) ELANITE_OF_AMO(dest, shmem_, _atomic_fetch_xor)(dest, value, pe)
#define elanite_atomic_fetch_xor_in(ctx, dest, value, pe)                                                              \
    ELANITE_OF_AMO(dest, shmem_ctx_, _atomic_fetch_xor)(ctx, dest, value, pe)
#define shmem_atomic_xor(...) ELANITE_AFTER4(__VA_ARGS__, elanite_atomic_xor_in, elanite_atomic_xor, 0)(__VA_ARGS__)
#define elanite_atomic_xor(dest, value, pe) ELANITE_OF_AMO(dest, shmem_, _atomic_xor)(dest, value, pe)
#define elanite_atomic_xor_in(ctx, dest, value, pe) ELANITE_OF_AMO(dest, shmem_ctx_, _atomic_xor)(ctx, dest, value, pe)

/* Waiting. */
#define shmem_wait_until(ivar, cmp, cmp_value) ELANITE_OF_WAIT(ivar, shmem_, _wait_until)(ivar, cmp, cmp_value)
#define shmem_test(ivar, cmp, cmp_value) ELANITE_OF_WAIT(ivar, shmem_, _test)(ivar, cmp, cmp_value)

/* The names before OpenSHMEM 1.4. */
#define shmem_fetch(source, pe) ELANITE_OF_OLD_EXCHANGE(source, shmem_, _fetch)(source, pe)
#define shmem_set(dest, value, pe) ELANITE_OF_OLD_EXCHANGE(dest, shmem_, _set)(dest, value, pe)
#define shmem_swap(dest, value, pe) ELANITE_OF_OLD_EXCHANGE(dest, shmem_, _swap)(dest, value, pe)
#define shmem_cswap(dest, cond, value, pe) ELANITE_OF_OLD_AMO(dest, shmem_, _cswap)(dest, cond, value, pe)
#define shmem_finc(dest, pe) ELANITE_OF_OLD_AMO(dest, shmem_, _finc)(dest, pe)
#define shmem_inc(dest, pe) ELANITE_OF_OLD_AMO(dest, shmem_, _inc)(dest, pe)
#define shmem_fadd(dest, value, pe) ELANITE_OF_OLD_AMO(dest, shmem_, _fadd)(dest, value, pe)
#define shmem_add(dest, value, pe) ELANITE_OF_OLD_AMO(dest, shmem_, _add)(dest, value, pe)

/* OpenSHMEM 1.5. */
#define shmem_atomic_fetch_nbi(...)                                                                                    \
    ELANITE_AFTER4(__VA_ARGS__, elanite_atomic_fetch_nbi_in, elanite_atomic_fetch_nbi, 0)(__VA_ARGS__)
#define elanite_atomic_fetch_nbi(fetch, source, pe)                                                                    \
    ELANITE_OF_EXCHANGE(fetch, shmem_, _atomic_fetch_nbi)(fetch, source, pe)
#define elanite_atomic_fetch_nbi_in(ctx, fetch, source, pe)                                                            \
    ELANITE_OF_EXCHANGE(fetch, shmem_ctx_, _atomic_fetch_nbi)(ctx, fetch, source, pe)
#define shmem_atomic_swap_nbi(...)                                                                                     \
    ELANITE_AFTER5(__VA_ARGS__, elanite_atomic_swap_nbi_in, elanite_atomic_swap_nbi, 0)(__VA_ARGS__)
#define elanite_atomic_swap_nbi(fetch, dest, value, pe)                                                                \
    ELANITE_OF_EXCHANGE(fetch, shmem_, _atomic_swap_nbi)(fetch, dest, value, pe)
#define elanite_atomic_swap_nbi_in(ctx, fetch, dest, value, pe)                                                        \
    ELANITE_OF_EXCHANGE(fetch, shmem_ctx_, _atomic_swap_nbi)(ctx, fetch, dest, value, pe)
#define shmem_atomic_compare_swap_nbi(...)                                                                             \
    ELANITE_AFTER6(__VA_ARGS__, elanite_atomic_compare_swap_nbi_in, elanite_atomic_compare_swap_nbi, 0)(__VA_ARGS__)
#define elanite_atomic_compare_swap_nbi(fetch, dest, cond, value, pe)                                                  \
    ELANITE_OF_AMO(fetch, shmem_, _atomic_compare_swap_nbi)(fetch, dest, cond, value, pe)
#define elanite_atomic_compare_swap_nbi_in(ctx, fetch, dest, cond, value, pe)                                          \
    ELANITE_OF_AMO(fetch, shmem_ctx_, _atomic_compare_swap_nbi)(ctx, fetch, dest, cond, value, pe)
#define shmem_atomic_fetch_inc_nbi(...)                                                                                \
    ELANITE_AFTER4(__VA_ARGS__, elanite_atomic_fetch_inc_nbi_in, elanite_atomic_fetch_inc_nbi, 0)(__VA_ARGS__)
#define elanite_atomic_fetch_inc_nbi(fetch, dest, pe)                                                                  \
    ELANITE_OF_AMO(fetch, shmem_, _atomic_fetch_inc_nbi)(fetch, dest, pe)
#define elanite_atomic_fetch_inc_nbi_in(ctx, fetch, dest, pe)                                                          \
    ELANITE_OF_AMO(fetch, shmem_ctx_, _atomic_fetch_inc_nbi)(ctx, fetch, dest, pe)
#define shmem_atomic_fetch_add_nbi(...)                                                                                \
    ELANITE_AFTER5(__VA_ARGS__, elanite_atomic_fetch_add_nbi_in, elanite_atomic_fetch_add_nbi, 0)(__VA_ARGS__)
#define elanite_atomic_fetch_add_nbi(fetch, dest, value, pe)                                                           \
    ELANITE_OF_AMO(fetch, shmem_, _atomic_fetch_add_nbi)(fetch, dest, value, pe)
#define elanite_atomic_fetch_add_nbi_in(ctx, fetch, dest, value, pe)                                                   \
    ELANITE_OF_AMO(fetch, shmem_ctx_, _atomic_fetch_add_nbi)(ctx, fetch, dest, value, pe)
#define shmem_atomic_fetch_and_nbi(...)                                                                                \
    ELANITE_AFTER5(__VA_ARGS__, elanite_atomic_fetch_and_nbi_in, elanite_atomic_fetch_and_nbi, 0)(__VA_ARGS__)
#define elanite_atomic_fetch_and_nbi(fetch, dest, value, pe)                                                           \
    ELANITE_OF_AMO(fetch, shmem_, _atomic_fetch_and_nbi)(fetch, dest, value, pe)
#define elanite_atomic_fetch_and_nbi_in(ctx, fetch, dest, value, pe)                                                   \
    ELANITE_OF_AMO(fetch, shmem_ctx_, _atomic_fetch_and_nbi)(ctx, fetch, dest, value, pe)
#define shmem_atomic_fetch_or_nbi(...)                                                                                 \
    ELANITE_AFTER5(__VA_ARGS__, elanite_atomic_fetch_or_nbi_in, elanite_atomic_fetch_or_nbi, 0)(__VA_ARGS__)
#define elanite_atomic_fetch_or_nbi(fetch, dest, value, pe)                                                            \
    ELANITE_OF_AMO(fetch, shmem_, _atomic_fetch_or_nbi)(fetch, dest, value, pe)
#define elanite_atomic_fetch_or_nbi_in(ctx, fetch, dest, value, pe)                                                    \
    ELANITE_OF_AMO(fetch, shmem_ctx_, _atomic_fetch_or_nbi)(ctx, fetch, dest, value, pe)
#define shmem_atomic_fetch_xor_nbi(...)                                                                                \
    ELANITE_AFTER5(__VA_ARGS__, elanite_atomic_fetch_xor_nbi_in, elanite_atomic_fetch_xor_nbi, 0)(__VA_ARGS__)
#define elanite_atomic_fetch_xor_nbi(fetch, dest, value, pe)                                                           \
    ELANITE_OF_AMO(fetch, shmem_, _atomic_fetch_xor_nbi)(fetch, dest, value, pe)
#define elanite_atomic_fetch_xor_nbi_in(ctx, fetch, dest, value, pe)                                                   \
    ELANITE_OF_AMO(fetch, shmem_ctx_, _atomic_fetch_xor_nbi)(ctx, fetch, dest, value, pe)
#define shmem_put_signal(...) ELANITE_AFTER8(__VA_ARGS__, elanite_put_signal_in, elanite_put_signal, 0)(__VA_ARGS__)
#define elanite_put_signal(dest, source, nelems, sig_addr, signal, sig_op, pe)                                         \
    ELANITE_OF_RMA(dest, shmem_, _put_signal)(dest, source, nelems, sig_addr, signal, sig_op, pe)
#define elanite_put_signal_in(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe)                                 \
    ELANITE_OF_RMA(dest, shmem_ctx_, _put_signal)(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe)
#define shmem_put_signal_nbi(...)                                                                                      \
    ELANITE_AFTER8(__VA_ARGS__, elanite_put_signal_nbi_in, elanite_put_signal_nbi, 0)(__VA_ARGS__)
#define elanite_put_signal_nbi(dest, source, nelems, sig_addr, signal, sig_op, pe)                                     \
    ELANITE_OF_RMA(dest, shmem_, _put_signal_nbi)(dest, source, nelems, sig_addr, signal, sig_op, pe)
#define elanite_put_signal_nbi_in(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe)                             \
    ELANITE_OF_RMA(dest, shmem_ctx_, _put_signal_nbi)(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe)
#define shmem_wait_until_all(ivars, nelems, status, cmp, value)                                                        \
    ELANITE_OF_WAIT(ivars, shmem_, _wait_until_all)(ivars, nelems, status, cmp, value)
#define shmem_wait_until_all_vector(ivars, nelems, status, cmp, value)                                                 \
    ELANITE_OF_WAIT(ivars, shmem_, _wait_until_all_vector)(ivars, nelems, status, cmp, value)
#define shmem_wait_until_any(ivars, nelems, status, cmp, value)                                                        \
    ELANITE_OF_WAIT(ivars, shmem_, _wait_until_any)(ivars, nelems, status, cmp, value)
#define shmem_wait_until_any_vector(ivars, nelems, status, cmp, value)                                                 \
    ELANITE_OF_WAIT(ivars, shmem_, _wait_until_any_vector)(ivars, nelems, status, cmp, value)
#define shmem_test_all(ivars, nelems, status, cmp, value)                                                              \
    ELANITE_OF_WAIT(ivars, shmem_, _test_all)(ivars, nelems, status, cmp, value)
#define shmem_test_all_vector(ivars, nelems, status, cmp, value)                                                       \
    ELANITE_OF_WAIT(ivars, shmem_, _test_all_vector)(ivars, nelems, status, cmp, value)
#define shmem_test_any(ivars, nelems, status, cmp, value)                                                              \
    ELANITE_OF_WAIT(ivars, shmem_, _test_any)(ivars, nelems, status, cmp, value)
#define shmem_test_any_vector(ivars, nelems, status, cmp, value)                                                       \
    ELANITE_OF_WAIT(ivars, shmem_, _test_any_vector)(ivars, nelems, status, cmp, value)
#define shmem_wait_until_some(ivars, nelems, indices, status, cmp, value)                                              \
    ELANITE_OF_WAIT(ivars, shmem_, _wait_until_some)(ivars, nelems, indices, status, cmp, value)
#define shmem_wait_until_some_vector(ivars, nelems, indices, status, cmp, value)                                       \
    ELANITE_OF_WAIT(ivars, shmem_, _wait_until_some_vector)(ivars, nelems, indices, status, cmp, value)
#define shmem_test_some(ivars, nelems, indices, status, cmp, value)                                                    \
    ELANITE_OF_WAIT(ivars, shmem_, _test_some)(ivars, nelems, indices, status, cmp, value)
#define shmem_test_some_vector(ivars, nelems, indices, status, cmp, value)                                             \
    ELANITE_OF_WAIT(ivars, shmem_, _test_some_vector)(ivars, nelems, indices, status, cmp, value)
#define shmem_broadcast(team, dest, source, nelems, root)                                                              \
    ELANITE_OF_RMA(dest, shmem_, _broadcast)(team, dest, source, nelems, root)
#define shmem_collect(team, dest, source, nelems) ELANITE_OF_RMA(dest, shmem_, _collect)(team, dest, source, nelems)
#define shmem_fcollect(team, dest, source, nelems) ELANITE_OF_RMA(dest, shmem_, _fcollect)(team, dest, source, nelems)
#define shmem_alltoall(team, dest, source, nelems) ELANITE_OF_RMA(dest, shmem_, _alltoall)(team, dest, source, nelems)
#define shmem_alltoalls(team, dest, source, dst, sst, nelems)                                                          \
    ELANITE_OF_RMA(dest, shmem_, _alltoalls)(team, dest, source, dst, sst, nelems)
#define shmem_and_reduce(team, dest, source, nreduce)                                                                  \
    ELANITE_OF_INTEGER(dest, shmem_, _and_reduce)(team, dest, source, nreduce)
#define shmem_or_reduce(team, dest, source, nreduce)                                                                   \
    ELANITE_OF_INTEGER(dest, shmem_, _or_reduce)(team, dest, source, nreduce)
#define shmem_xor_reduce(team, dest, source, nreduce)                                                                  \
    ELANITE_OF_INTEGER(dest, shmem_, _xor_reduce)(team, dest, source, nreduce)
#define shmem_min_reduce(team, dest, source, nreduce)                                                                  \
    ELANITE_OF_RMA(dest, shmem_, _min_reduce)(team, dest, source, nreduce)
#define shmem_max_reduce(team, dest, source, nreduce)                                                                  \
    ELANITE_OF_RMA(dest, shmem_, _max_reduce)(team, dest, source, nreduce)
#define shmem_sum_reduce(team, dest, source, nreduce)                                                                  \
    ELANITE_OF_NUMBER(dest, shmem_, _sum_reduce)(team, dest, source, nreduce)
#define shmem_prod_reduce(team, dest, source, nreduce)                                                                 \
    ELANITE_OF_NUMBER(dest, shmem_, _prod_reduce)(team, dest, source, nreduce)
/* The barrier of a team, or of an active set. */
#define shmem_sync(...) ELANITE_AFTER4(__VA_ARGS__, (shmem_sync), 0, 0, shmem_team_sync, 0)(__VA_ARGS__)

#endif
