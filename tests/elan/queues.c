/* Queues: order, full queues, the older form, a queue with its address sent to others. */
#include "check.h"

int main(void)
{
    begin();
    int slot = elan_queueMaxSlotSize(state);
    ELAN_QUEUE *queue = elan_gallocQueue(base, base->allGroup);
    ELAN_QUEUE_RX *rx = elan_queueRxInit(state, queue, 8, slot, ELAN_RAIL_ALL, 0);
    ELAN_QUEUE_TX *tx = elan_queueTxInit(state, queue, ELAN_RAIL_ALL, LIBELAN_QUEUEREUSEBUF);
    CHECK(rx && tx && !elan_queueRxInit(state, queue, 8, slot + 1, ELAN_RAIL_ALL, 0));
    elan_gsync(base->allGroup);

    /* All send to process 0, more than its queue holds. */
    enum { MESSAGES = 20 };
    ELAN_EVENT *events[MESSAGES];
    struct message {
        unsigned from, number;
        char rest[200];
    } message;
    memset(&message, 'r', sizeof message);
    for (unsigned i = 0; i < MESSAGES; i++) {
        message.from = me;
        message.number = i;
        events[i] = elan_queueTx(tx, 0, &message, sizeof message, ELAN_RAIL_ALL);
    }
    if (me == 0) {
        unsigned next[1024] = {0};
        for (unsigned i = 0; i < MESSAGES * all; i++) {
            struct message *got;
            if (i % 3 == 0) {
                char copy[4096];
                got = memcpy(&message, elan_queueRxWait(rx, copy, base->waitType), sizeof message);
            } else {
                while (!elan_queueRxPoll(rx, 10))
                    ;
                got = elan_queueRxWait(rx, NULL, ELAN_POLL_EVENT);
            }
            CHECK(got->from < all && got->number == next[got->from]++ && got->rest[199] == 'r');
            elan_queueRxComplete(rx);
        }
        CHECK(!elan_queueRxPoll(rx, 0));
    }
    for (unsigned i = 0; i < MESSAGES; i++)
        elan_wait(events[i], base->waitType);
    elan_gsync(base->allGroup);

    /* The older form, around a ring. */
    ELAN_QUEUE *old = elan_gallocQueue(base, base->allGroup);
    ELAN_MAIN_QUEUE *both = elan_mainQueueInit(state, old, 4, 64, base->mqueue_flags);
    elan_gsync(base->allGroup);
    unsigned token[16] = {0};
    if (me == 0)
        elan_queueReq(both, (me + 1) % all, token, sizeof token);
    elan_queueWait(both, token, base->waitType);
    CHECK(token[0] == (me + all - 1) % all);
    token[0] = me;
    if (me != 0)
        elan_queueReq(both, (me + 1) % all, token, sizeof token);
    CHECK(!elan_queueHaveReq(both));
    elan_gsync(base->allGroup);

    /* One process's own queue: it sends the address. */
    for (unsigned i = 0; i < me; i++)
        elan_allocQueue(state);
    ELAN_QUEUE *mine = elan_allocQueue(state),
               **theirs = elan_gallocMain(base, base->allGroup, 8, sizeof mine);
    rx = elan_queueRxInit(state, mine, 1, 64, ELAN_RAIL_ALL, 0);
    elan_wait(elan_put(state, &mine, theirs, sizeof mine, (me + 1) % all), base->waitType);
    elan_gsync(base->allGroup);
    tx = elan_queueTxInit(state, *theirs, ELAN_RAIL_ALL, 0);
    elan_wait(elan_queueTx(tx, (me + all - 1) % all, &me, sizeof me, ELAN_RAIL_ALL),
              base->waitType);
    unsigned *from = elan_queueRxWait(rx, NULL, base->waitType);
    CHECK(*from == (me + 1) % all);
    return finish();
}
