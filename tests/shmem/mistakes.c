/* A program mistake, by its name. */
#include "check.h"

static long word;

int main(int count, char **words)
{
    const char *mistake = count > 1 ? words[1] : "";
    long local = 0;
    if (strcmp(mistake, "early") == 0)
        shmem_barrier_all();
    begin();
    if (me != 1) {
        shmem_barrier_all();
        return 0;
    }
    if (strcmp(mistake, "element") == 0)
        shmem_long_p(&word, 1, all);
    if (strcmp(mistake, "negative") == 0)
        shmem_long_g(&word, -1);
    if (strcmp(mistake, "stack") == 0)
        shmem_long_put(&local, &word, 1, 0);
    if (strcmp(mistake, "null") == 0)
        shmem_int_atomic_inc(NULL, 0);
    if (strcmp(mistake, "alignment") == 0)
        shmem_long_atomic_inc((long *)((char *)&word + 1), 0);
    if (strcmp(mistake, "free") == 0)
        shmem_free(&word);
    if (strcmp(mistake, "context") == 0)
        shmem_ctx_quiet((shmem_ctx_t)77);
    if (strcmp(mistake, "set") == 0)
        shmem_barrier(0, 0, all + 1, NULL);
    if (strcmp(mistake, "member") == 0)
        shmem_barrier(0, 0, 1, NULL);
    if (strcmp(mistake, "lock") == 0)
        shmem_clear_lock(&word);
    if (strcmp(mistake, "comparison") == 0)
        shmem_long_wait_until(&word, 17, 0);
    if (strcmp(mistake, "late") == 0) {
        shmem_barrier_all();
        shmem_finalize();
        shmem_long_p(&word, 1, 0);
    }
    if (strcmp(mistake, "wait") == 0)
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1); /* which is never written */
    if (strcmp(mistake, "exit") == 0)
        exit(5);
    if (strcmp(mistake, "zero") == 0)
        shmem_global_exit(0);
    if (strcmp(mistake, "global") == 0) {
        printf("the end\n");
        shmem_global_exit(6);
    }
    return 0;
}
