/* Ends in several ways: well, finalized, exit CODE, leaves (_exit), vanishes (not by the C
   library), crash, deadlock, spin, nowhere (a put where no memory is), silent (without a call). */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long word;
static volatile long flag;

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "well";

    if (!strcmp(how, "silent"))
        return 0;
    shmem_init();
    int me = shmem_my_pe();
    if (!strcmp(how, "rms")) {
        const char *names[] = {"RMS_RANK",   "RMS_NPROCS", "RMS_NNODES",
                               "RMS_NODEID", "RMS_PROCID", "RMS_RAILS"};
        char line[200] = "";
        for (int i = 0; i < 6; i++)
            sprintf(line + strlen(line), "%s %s%s", names[i] + 4, getenv(names[i]),
                    i < 5 ? ", " : "\n");
        fputs(line, stdout);
    }
    shmem_barrier_all();
    if (!strcmp(how, "exit") && me == 1)
        exit(atoi(argv[2]));
    if (!strcmp(how, "leaves"))
        _exit(0);
    if (!strcmp(how, "vanishes") && me == 1)
        syscall(SYS_exit_group, 0);
    if (!strcmp(how, "crash") && me == 1)
        raise(SIGSEGV);
    if (!strcmp(how, "deadlock"))
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
    if (!strcmp(how, "spin"))
        while (!flag)
            ;
    if (!strcmp(how, "nowhere") && me == 0)
        shmem_long_p((long *)16, 1, 1);
    shmem_barrier_all();
    if (!strcmp(how, "addresses"))
        printf("%p %p\n", (void *)&word, (void *)shmem_malloc(8));
    if (!strcmp(how, "finalized"))
        shmem_finalize();
    return 0;
}
