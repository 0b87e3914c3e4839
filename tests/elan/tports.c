/* Tports: order, masks, wild cards, probes, library buffers, synchronous sends, several ports,
 * statistics. */
#include "check.h"

static ELAN_TPORT *port(void)
{
    return elan_tportInit(state, elan_gallocQueue(base, base->allGroup), base->tport_nslots,
                          base->tport_smallmsg, base->tport_bigmsg, base->tport_stripemsg,
                          base->waitType, base->retryCount, &base->shm_key, base->shm_fifodepth,
                          base->shm_fragsize, base->tport_flags);
}

int main(void)
{
    begin();
    ELAN_TPORT *tport = port(), *second = port();
    unsigned right = (me + 1) % all, left = (me + all - 1) % all;
    int sender, tag;
    size_t size;

    /* Lengths around the bound between short and long messages. */
    static char out[200000], in[200000];
    size_t sizes[] = {0, 1, 64, 288, 1000, 20000, 200000};
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        memset(out, (int)(me + s), sizes[s]);
        ELAN_EVENT *rx = elan_tportRxStart(tport, 0, -1, (int)left, -1, 5, in, sizeof in);
        ELAN_EVENT *tx = elan_tportTxStart(tport, s % 2 ? ELAN_TPORT_TXSYNC : 0, right, (int)me, 5,
                                           out, sizes[s]);
        CHECK(elan_tportRxWait(rx, &sender, &tag, &size) == in);
        CHECK(sender == (int)left && tag == 5 && size == sizes[s]);
        for (size_t i = 0; i < size; i++)
            CHECK(in[i] == (char)(left + s));
        elan_tportTxWait(tx);
    }

    /* One sender's messages do not overtake each other; masks choose among them. */
    int word;
    for (int i = 0; i < 10; i++)
        elan_tportTxWait(elan_tportTxStart(tport, 0, right, 100 + (int)me, i, &i, sizeof i));
    for (int i = 1; i < 10; i += 2) {
        ELAN_EVENT *rx = elan_tportRxStart(tport, 0, 0, 0, 1, 1, &word, sizeof word);
        elan_tportRxWait(rx, &sender, &tag, NULL);
        CHECK(word == i && tag == i && sender == 100 + (int)left);
    }
    for (int i = 0; i < 10; i += 2) {
        ELAN_EVENT *rx = elan_tportRxStart(tport, ELAN_TPORT_RXANY, 0, 0, 0, 0, &word, sizeof word);
        while (!elan_tportRxDone(rx))
            ;
        elan_tportRxWait(rx, NULL, &tag, NULL);
        CHECK(word == i && tag == i);
    }

    /* Ports are apart. Negative tags are tags. */
    ELAN_EVENT *rx = elan_tportRxStart(second, 0, 0, 0, 0, 0, &word, sizeof word);
    elan_tportTxWait(elan_tportTxStart(tport, 0, right, (int)me, -7, &me, sizeof me));
    int own = 1000 + (int)me;
    elan_tportTxWait(elan_tportTxStart(second, 0, right, (int)me, 8, &own, sizeof own));
    elan_tportRxWait(rx, NULL, &tag, &size);
    CHECK(word == 1000 + (int)left && tag == 8 && size == sizeof word);
    rx = elan_tportRxStart(tport, 0, 0, 0, -1, -7, &word, sizeof word);
    elan_tportRxWait(rx, NULL, &tag, NULL);
    CHECK(word == (int)left && tag == -7);

    /* A probe leaves the message in place; a receive without a buffer gets the library's. */
    memset(out, 'x', 5000);
    ELAN_EVENT *tx = elan_tportTxStart(tport, 0, right, (int)me, 9, out, 5000);
    rx = elan_tportRxStart(tport, ELAN_TPORT_RXPROBE, 0, 0, -1, 9, NULL, 1);
    elan_tportRxWait(rx, &sender, &tag, &size);
    CHECK(sender == (int)left && size == 5000);
    rx = elan_tportRxStart(tport, ELAN_TPORT_RXBUF, 0, 0, -1, 9, NULL, 0);
    char *system = elan_tportRxWait(rx, NULL, NULL, &size);
    CHECK(system && size == 5000 && system[4999] == 'x');
    elan_tportBufFree(tport, system);
    while (!elan_tportTxDone(tx))
        ;

    /* To oneself. */
    rx = elan_tportRxStart(tport, 0, -1, (int)me, -1, 11, &word, sizeof word);
    tx = elan_tportTxStart(tport, 0, me, (int)me, 11, &own, sizeof own);
    elan_tportRxWait(rx, NULL, NULL, NULL);
    elan_tportTxWait(tx);
    CHECK(word == own);

    ELAN_TPORTSTATS statistics;
    elan_tportGetStats(tport, &statistics);
    CHECK(statistics.ts_nTx == 7 + 10 + 1 + 1 + 1 && statistics.ts_ndRx == 7 + 10 + 1 + 1);
    CHECK(statistics.ts_nbRx == 1 && statistics.ts_bRxBytes == 5000 && statistics.ts_nBuf == 1);
    return finish();
}
