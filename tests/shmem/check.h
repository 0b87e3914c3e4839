/* What the test programs share: a check names its place and its processing element, and ends all
 * when it fails. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: on %d: %s\n", __FILE__, __LINE__, shmem_my_pe(), #condition);           \
            shmem_global_exit(9);                                                                  \
        }                                                                                          \
    } while (0)

static int me, all, right, left;

static inline void begin(void)
{
    shmem_init();
    me = shmem_my_pe();
    all = shmem_n_pes();
    right = (me + 1) % all;
    left = (me + all - 1) % all;
}

/* The last one to come says that all is well. */
static inline void end(void)
{
    shmem_barrier_all();
    if (me == 0)
        printf("well\n");
    shmem_finalize();
}
