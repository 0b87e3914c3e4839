/* The cost of a turn on this host alone: processes pass a token on, and each sleeps until it
 * arrives.
 *
 *     turns PROCESSES ROUNDS          prints the microseconds per hop
 *
 * A rank in a simulated run sleeps and is woken once in each exchange. Where ranks proceed one
 * after the other, as on one core, exchanges per second cannot exceed hops per second.
 */
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PLACE 4096 /* bytes: each process has its own page */

static long futex(atomic_int *word, int operation, int value)
{
    return syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static void hand_on(atomic_int *word)
{
    atomic_store(word, 1);
    futex(word, FUTEX_WAKE, 1);
}

static void await(atomic_int *word)
{
    while (atomic_load(word) == 0)
        futex(word, FUTEX_WAIT, 0);
    atomic_store(word, 0);
}

int main(int argc, char **argv)
{
    int count = argc == 3 ? atoi(argv[1]) : 0;
    long rounds = argc == 3 ? atol(argv[2]) : 0;
    if (count < 2 || rounds < 1) {
        fprintf(stderr, "turns PROCESSES ROUNDS: two or more, one or more\n");
        return 2;
    }
    /* One place for each; this process is the last, and closes the ring. */
    char *memory = mmap(NULL, (size_t)count * PLACE, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
#define TOKEN(number) ((atomic_int *)(memory + (size_t)(number) * PLACE))
    for (int number = 0; number < count - 1; number++) {
        pid_t child = fork();
        if (child < 0) {
            perror("fork");
            return 1;
        }
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (long round = 0; round < rounds + 1; round++) {
                await(TOKEN(number));
                hand_on(TOKEN(number + 1));
            }
            _exit(0);
        }
    }
    struct timespec begin, end;
    for (long round = 0; round < rounds + 1; round++) {
        if (round == 1) /* all started in the first one */
            clock_gettime(CLOCK_MONOTONIC, &begin);
        hand_on(TOKEN(0));
        await(TOKEN(count - 1));
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    while (wait(NULL) > 0)
        ;
    double seconds =
        (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    printf("%.2f\n", 1e6 * seconds / ((double)rounds * count));
    return 0;
}
