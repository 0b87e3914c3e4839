/* Puts and gets from process 0 to process 1: one that is waited for, and many in flight at a time.
 *
 *     elanite prun -n 2 --machine es40-qsnet ./transfer 8B 4KB 256KB
 */
#include "bench.h"

static ELAN_EVENT *call(int get, char *here, char *there, size_t size)
{
    return get ? elan_get(state, there, here, size, 1) : elan_put(state, here, there, size, 1);
}

static void measure(int get, size_t size)
{
    char *here = elan_gallocMain(base, base->allGroup, 64, size),
         *there = elan_gallocMain(base, base->allGroup, 64, size);
    elan_gsync(base->allGroup);
    if (me == 0) {
        double from = 0;
        for (int i = 0; i < REPEATS + FIRST; i++) {
            if (i == FIRST)
                from = now_us();
            elan_wait(call(get, here, there, size), base->waitType);
        }
        line(get ? "get" : "put", size, (now_us() - from) / REPEATS);
        from = now_us();
        ELAN_EVENT *events = NULL;
        for (int i = 0; i < REPEATS; i++)
            events = elan_link(events, call(get, here, there, size));
        elan_wait(events, base->waitType);
        line(get ? "gets" : "puts", size, (now_us() - from) / REPEATS);
    }
    elan_gsync(base->allGroup);
    elan_gallocFree(base, there);
    elan_gallocFree(base, here);
}

int main(int count, char **words)
{
    begin();
    for (int i = 1; i < count; i++) {
        measure(0, size_of(words[i]));
        measure(1, size_of(words[i]));
    }
    return 0;
}
