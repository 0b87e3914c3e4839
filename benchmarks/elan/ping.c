/* Half the round trip between processes 0 and 1: of a Tport message, and of a put that is answered
 * as soon as its last word is there.
 *
 *     elanite prun -n 2 --machine es40-qsnet ./ping 0B 8B 1KB 64KB
 */
#include "bench.h"

static void tport(ELAN_TPORT *port, size_t size)
{
    char *buffer = elan_gallocMain(base, base->allGroup, 64, size + 8);
    double from = 0;
    elan_gsync(base->allGroup);
    for (int i = 0; i < REPEATS + FIRST; i++) {
        if (i == FIRST)
            from = now_us();
        if (me == 0)
            elan_tportTxWait(elan_tportTxStart(port, 0, 1, (int)me, 1, buffer, size));
        elan_tportRxWait(elan_tportRxStart(port, 0, 0, 0, -1, 1, buffer, size), NULL, NULL, NULL);
        if (me == 1)
            elan_tportTxWait(elan_tportTxStart(port, 0, 0, (int)me, 1, buffer, size));
    }
    if (me == 0)
        line("tport", size, (now_us() - from) / (2 * REPEATS));
    elan_gsync(base->allGroup);
    elan_gallocFree(base, buffer);
}

static void put(size_t size)
{
    char *out = elan_gallocMain(base, base->allGroup, 64, size),
         *in = elan_gallocMain(base, base->allGroup, 64, size);
    EVENT_WORD *here = (EVENT_WORD *)(in + size - 8);
    double from = 0;
    memset(out, 1, size);
    memset(in, 0, size);
    elan_gsync(base->allGroup);
    for (int i = 0; i < REPEATS + FIRST; i++) {
        if (i == FIRST)
            from = now_us();
        ELAN_EVENT *event = NULL;
        if (me == 0)
            event = elan_put(state, out, in, size, 1);
        elan_waitWord(state, state->rail[0], NULL, here, base->waitType);
        *here = 0;
        if (me == 1)
            event = elan_put(state, out, in, size, 0);
        elan_wait(event, base->waitType);
    }
    if (me == 0)
        line("put-ping", size, (now_us() - from) / (2 * REPEATS));
    elan_gsync(base->allGroup);
    elan_gallocFree(base, in);
    elan_gallocFree(base, out);
}

int main(int count, char **words)
{
    begin();
    ELAN_TPORT *port = elan_tportInit(
        state, elan_gallocQueue(base, base->allGroup), base->tport_nslots, base->tport_smallmsg,
        base->tport_bigmsg, base->tport_stripemsg, base->waitType, base->retryCount, &base->shm_key,
        base->shm_fifodepth, base->shm_fragsize, base->tport_flags);
    for (int i = 1; i < count; i++) {
        size_t size = size_of(words[i]);
        tport(port, size);
        if (size >= 8)
            put(size);
    }
    return 0;
}
