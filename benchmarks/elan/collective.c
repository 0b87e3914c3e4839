/* Barriers, broadcasts and reductions over all processes, by hardware and by software, alone and
 * among puts (petrini2001): the mean time per call at process 0.
 *
 * The first word is the put length; before each call every process begins a put to the process half
 * the machine away, except with 0B. The others are broadcast lengths. A reduction adds one number
 * from each process, for all.
 *
 *     elanite prun -n 64 --machine es40-qsnet ./collective 0B 8B 4KB 512KB
 */
#include "bench.h"

static char *source, *target, *buffer;
static size_t background;

static void add(void *in, void *inout, int *count, void *handle)
{
    (void)handle;
    for (int i = 0; i < *count; i++)
        ((uint64_t *)inout)[i] += ((uint64_t *)in)[i];
}

enum { HGSYNC, GSYNC, HBCAST, BCAST, REDUCE };
static const char *names[] = {"hgsync", "gsync", "hbcast", "bcast", "reduce"};

static void call(int what, size_t size)
{
    switch (what) {
    case HGSYNC:
        elan_hgsync(base->allGroup);
        break;
    case GSYNC:
        elan_gsync(base->allGroup);
        break;
    case HBCAST:
        elan_hbcast(base->allGroup, buffer, size, 0, ELAN_GLOBAL_DEST);
        break;
    case BCAST:
        elan_bcast(base->allGroup, buffer, size, 0, ELAN_GLOBAL_DEST);
        break;
    default:
        elan_reduce(base->allGroup, buffer, buffer + 8, 8, 1, add, NULL, 0, 0,
                    ELAN_RESULT_ALL | ELAN_REDUCE_COMMUTE, 0);
    }
}

static void measure(int what, size_t size)
{
    double from = 0;
    for (int i = 0; i < REPEATS + FIRST; i++) {
        if (i == FIRST)
            from = now_us();
        if (background > 0)
            elan_put(state, source, target, background, (me + all / 2) % all);
        call(what, size);
    }
    if (me == 0)
        line(names[what], size, (now_us() - from) / REPEATS);
    elan_putWaitAll(state, base->waitType);
    elan_gsync(base->allGroup);
}

int main(int count, char **words)
{
    begin();
    background = count > 1 ? size_of(words[1]) : 0;
    source = elan_gallocMain(base, base->allGroup, 64, background + 8);
    target = elan_gallocMain(base, base->allGroup, 64, background + 8);
    buffer = elan_gallocMain(base, base->allGroup, 64, 1 << 22);
    memset(buffer, 0, 16);
    elan_gsync(base->allGroup);
    measure(HGSYNC, 0);
    measure(GSYNC, 0);
    measure(REDUCE, 8);
    for (int i = 2; i < count; i++) {
        measure(HBCAST, size_of(words[i]));
        measure(BCAST, size_of(words[i]));
    }
    return 0;
}
