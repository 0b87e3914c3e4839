/* Elanlib: process 0 receives work from all others, into library buffers, and notifies each one by
 * a put when the work is done.
 *
 *     elancc -O2 -o farm farm.c
 *     elanite prun -n 8 --ranks-per-node 4 --machine es40-qsnet ./farm
 */
#include <elan/elan.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void compute(long us)
{
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

int main(void)
{
    ELAN_BASE *base = elan_baseInit(0);
    ELAN_STATE *state = base->state;
    int me = (int)state->vp;
    ELAN_TPORT *port = elan_tportInit(
        state, elan_gallocQueue(base, base->allGroup), base->tport_nslots, base->tport_smallmsg,
        base->tport_bigmsg, base->tport_stripemsg, base->waitType, base->retryCount, &base->shm_key,
        base->shm_fifodepth, base->shm_fragsize, base->tport_flags);
    long *done = elan_gallocMain(base, base->allGroup, 8, sizeof(long)), yes = 1;
    char *work = elan_gallocMain(base, base->allGroup, 64, 500);
    *done = 0;
    elan_gsync(base->allGroup);

    if (me != 0) {
        ELAN_EVENT *tx = elan_tportTxStart(port, 0, 0, me, 7, work, 100 * (size_t)(me % 4));
        compute(30);
        elan_tportTxWait(tx);
        elan_waitWord(state, state->rail[0], NULL, (EVENT_WORD *)done, base->waitType);
        return 0;
    }
    for (unsigned i = 1; i < state->nvp; i++) {
        int sender, tag;
        size_t size;
        ELAN_EVENT *rx = elan_tportRxStart(port, ELAN_TPORT_RXBUF, 0, 0, -1, 7, NULL, 0);
        void *buffer = elan_tportRxWait(rx, &sender, &tag, &size);
        if (size != 100 * (size_t)(sender % 4))
            abort();
        compute(5);
        elan_tportBufFree(port, buffer);
        elan_wait(elan_put(state, &yes, done, sizeof yes, (unsigned)sender), base->waitType);
    }
    printf("work of %u processes is done\n", state->nvp - 1);
    return 0;
}
