/* Start, end, and questions. */
#include "check.h"

static int word;
static long gathered[64];

int main(void)
{
    int provided = -1, major, minor;
    char name[SHMEM_MAX_NAME_LEN];
    int local;

    CHECK(shmem_init_thread(SHMEM_THREAD_SERIALIZED, &provided) == 0 &&
          provided >= SHMEM_THREAD_SERIALIZED);
    provided = -1;
    shmem_query_thread(&provided);
    CHECK(provided >= SHMEM_THREAD_SERIALIZED);
    begin(); /* a second start has no effect */
    CHECK(me >= 0 && me < all);
    shmem_info_get_version(&major, &minor);
    CHECK(major == SHMEM_MAJOR_VERSION && minor == SHMEM_MINOR_VERSION);
    CHECK(major == _SHMEM_MAJOR_VERSION && minor == _SHMEM_MINOR_VERSION);
    shmem_info_get_name(name);
    CHECK(strncmp(name, SHMEM_VENDOR_STRING, strlen(SHMEM_VENDOR_STRING)) == 0);

    for (int pe = 0; pe < all; pe++)
        CHECK(shmem_pe_accessible(pe));
    CHECK(!shmem_pe_accessible(-1) && !shmem_pe_accessible(all));
    CHECK(shmem_addr_accessible(&word, right));
    CHECK(!shmem_addr_accessible(&local, right));
    CHECK(!shmem_addr_accessible(&word, all));
    int *heap = shmem_malloc(sizeof *heap);
    CHECK(shmem_addr_accessible(heap, right));
    CHECK(shmem_ptr(&word, me) == &word && shmem_ptr(heap, me) == heap);
    CHECK(all == 1 || shmem_ptr(heap, right) == NULL);

    for (int pe = 0; pe < all; pe++)
        shmem_long_p(&gathered[me], me + 100, pe);
    shmem_barrier_all();
    for (int pe = 0; pe < all; pe++)
        CHECK(gathered[pe] == pe + 100);
    end();
    return 0;
}
