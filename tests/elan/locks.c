/* Locks, words that adapters write, events at puts' destinations, poll functions. */
#include "check.h"
#include <elan/devent.h>

static int polled;

static int poll(void *handle, unsigned *ready)
{
    (void)ready;
    polled += *(int *)handle;
    return 0;
}

static int progress(void *handle)
{
    (void)handle;
    polled += 100;
    return 0;
}

int main(void)
{
    begin();
    /* Each adds to a number in process 0 that only the lock protects. */
    ELAN_LOCK *lock = elan_gallocMain(base, base->allGroup, ELAN_LOCK_ALIGN, sizeof(ELAN_LOCK));
    long *number = elan_gallocMain(base, base->allGroup, 8, sizeof(long));
    *number = 0;
    if (me == 0)
        elan_lockInit(state, lock, ELAN_LOCK_NORMAL);
    elan_hbcast(base->allGroup, lock, sizeof *lock, 0, ELAN_GLOBAL_DEST);
    for (int i = 0; i < 5; i++) {
        long value;
        elan_lockLock(state, lock, i % 2 ? ELAN_LOCK_BUSY : ELAN_LOCK_NORMAL);
        elan_wait(elan_get(state, number, &value, sizeof value, 0), base->waitType);
        value += 1 + me;
        elan_wait(elan_put(state, &value, number, sizeof value, 0), base->waitType);
        elan_lockUnLock(state, lock);
    }
    elan_gsync(base->allGroup);
    if (me == 0)
        CHECK(*number == 5L * all * (all + 1) / 2);

    /* A word. */
    volatile uint32_t *word = elan_gallocMain(base, base->allGroup, 8, 4);
    *word = 0;
    elan_gsync(base->allGroup);
    if (me == 0) {
        CHECK(!elan_pollWord(state, state->rail[0], (EVENT_WORD *)word, 1));
        uint32_t one = 1;
        for (unsigned i = 1; i < all; i++)
            elan_wait(elan_put(state, &one, (void *)word, sizeof one, i), base->waitType);
    } else
        elan_waitWord(state, state->rail[0], NULL, (EVENT_WORD *)word, base->waitType);
    elan_gsync(base->allGroup);

    /* An event that occurs after puts by all others. */
    ELAN_PGCTRL *control = elan_putgetInit(state, NULL, 64, 4096, 4096, 32, 0);
    ELAN_EVENT_ELAN *memory = elan_gallocElan(base, base->allGroup, 32, sizeof *memory);
    unsigned *slots = elan_gallocMain(base, base->allGroup, 8, all * sizeof(unsigned));
    ELAN_EVENT *arrived = elan_initEvent(state, state->rail[0], memory, 0);
    for (unsigned round = 0; round < 3; round++) {
        elan_setWaitCount(arrived, (int)all);
        elan_gsync(base->allGroup);

        for (unsigned i = 0; i < all; i++) {
            unsigned value = me + round;
            elan_wait(elan_doput(control, &value, slots + me, elan_destEvent(arrived), sizeof value,
                                 i, 0),
                      base->waitType);
        }
        elan_wait(arrived, base->waitType);
        CHECK(elan_devent_completed(0, arrived) && elan_poll(arrived, 0));
        for (unsigned i = 0; i < all; i++)
            CHECK(slots[i] == i + round);
        elan_gsync(base->allGroup);
    }

    /* Functions that the library calls while it waits. */
    int one = 1;
    elan_addPollFn(state, poll, &one);
    elan_addProgressFn(state, progress, NULL);
    if (me == 0 && all > 1) {
        uint64_t from = elan_clock(state);
        while (elan_clock(state) < from + 50000)
            ;
    }
    elan_gsync(base->allGroup);
    CHECK(all == 1 || me == 0 || (polled > 0 && polled % 101 == 0));
    elan_deviceCheck(state);
    return finish();
}
