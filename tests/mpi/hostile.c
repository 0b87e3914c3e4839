/* A program with a stray pointer: besides its messages, it overwrites words in the memory that
 * ranks and simulator share.
 *
 *     elanite mpirun -n 3 ./hostile SEED
 *
 * Which words, and with what, depends on the seed and the rank: mostly words in a slot's head and
 * its first orders.
 */
#include "check.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 60, LARGEST = 1 << 16, PAGE = 4096, SLOT = PAGE + (2 << 20) };
enum { FRONT = 2 * PAGE, PID = 8, WORDS = 128 }; /* the head and the nodes; a slot's words */

static uint64_t state;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1dULL;
}

static uint64_t below(uint64_t end)
{
    return (draw() >> 11) % end;
}

static uint64_t awkward(void)
{
    switch (below(5)) {
    case 0: return below(3);
    case 1: return 1ULL << below(64);
    case 2: return UINT64_MAX;
    case 3: return below(200);
    default: return draw();
    }
}

/* Where the shared memory lies in this process, and how long it is. */
static char *shared(size_t *length)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    require(maps != NULL, "there is no /proc");
    while (fgets(line, sizeof line, maps)) {
        unsigned long begin, end;
        if (strstr(line, "/memfd:elanite") && sscanf(line, "%lx-%lx", &begin, &end) == 2) {
            fclose(maps);
            *length = end - begin;
            return (char *)begin; /* NOLINT */
        }
    }
    fclose(maps);
    return NULL;
}

static void scribble(char *memory, size_t length)
{
    size_t slot = FRONT + below((uint64_t)ranks) * SLOT, at;
    switch (below(8)) {
    case 0: at = below(2) * PAGE + below(256); break;     /* the common head, the nodes */
    case 1: at = below(length / 8) * 8; break;            /* anything */
    case 2:
    case 3: at = slot + PAGE + below(64) * 8; break;      /* orders */
    case 4: at = slot + below(WORDS) * 4; break;          /* the slot's words */
    default: at = slot + below(20) * 4; break;            /* those for turns and ends */
    }
    uint64_t value = awkward();
    memcpy(memory + at, &value, below(2) && at + 8 <= length ? 8 : 4);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    size_t length = 0;
    char *memory = shared(&length);
    require(memory != NULL, "this program is to run under elanite mpirun");
    require(*(uint32_t *)(memory + FRONT + (size_t)rank * SLOT + PID) == (uint32_t)getpid(),
            "the slots lie elsewhere");
    state = (argc > 1 ? strtoull(argv[1], NULL, 10) : 0) * 0x9e3779b97f4a7c15ULL +
            (uint64_t)rank * 77 + 1;
    char *out = calloc(LARGEST, 1), *in = calloc(LARGEST, 1);
    require(out && in, "there is no memory");
    for (int round = 0; round < ROUNDS; round++) {
        if (below(20) == 0)
            scribble(memory, length);
        int size = 1 << (round % 17);
        MPI_Sendrecv(out, size, MPI_CHAR, (rank + 1) % ranks, 0, in, size, MPI_CHAR,
                     (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    free(out);
    free(in);
    return check_end();
}
