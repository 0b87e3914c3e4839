/* Programs for Elanlib. */
#include <elan/elan.h>
#include "common.h"

static ELAN_BASE *base;
static ELAN_STATE *state;
static ELAN_GROUP *groups[GROUPS];
static ELAN_TPORT *tport;
static ELAN_QUEUE_RX *inbox;
static ELAN_QUEUE_TX *outbox;
static ELAN_PGCTRL *control;
static ELAN_LOCK *locks;
static ELAN_EVENT *pending[1000], *receives[10000];
static int waiting;

/* A queue message: its place in the receiver, and the bytes. */
struct queued {
    unsigned char region;
    unsigned offset, bytes;
    unsigned char data[200];
};

static inline void begin(void)
{
    base = elan_baseInit(0);
    state = base->state;
    me = (int)state->vp;
    all = (int)state->nvp;
    heap = elan_gallocMain(base, base->allGroup, 64, SIZE);
    tport =
        elan_tportInit(state, elan_gallocQueue(base, base->allGroup), 9, 9, 9, 9, 0, 0, 0, 0, 0, 0);
    ELAN_QUEUE *queue = elan_gallocQueue(base, base->allGroup);
    inbox = elan_queueRxInit(state, queue, 4, elan_queueMaxSlotSize(state), ELAN_RAIL_ALL, 0);
    outbox = elan_queueTxInit(state, queue, ELAN_RAIL_ALL, 0);
    control = elan_putgetInit(state, NULL, 64, 4096, 4096, 32, ELAN_PGVINIT);
    locks = elan_gallocMain(base, base->allGroup, ELAN_LOCK_ALIGN, 2 * sizeof *locks);
    for (int lock = 0; lock < 2; lock++) {
        unsigned master = (unsigned)(lock ? all - 1 : 0);
        if (me == (int)master)
            elan_lockInit(state, &locks[lock], ELAN_LOCK_NORMAL);
        elan_hbcast(base->allGroup, &locks[lock], sizeof *locks, master, ELAN_GLOBAL_DEST);
    }
    fill();
    elan_gsync(base->allGroup);
}

static inline void record(void)
{
    elan_hgsync(base->allGroup);
    append();
    elan_gsync(base->allGroup);
}

static inline int finish(void)
{
    elan_gsync(base->allGroup);
    return 0;
}

static inline void later(ELAN_EVENT *event)
{
    pending[waiting++] = event;
}

static inline void settle(void)
{
    while (waiting > 0)
        elan_wait(pending[--waiting], base->waitType);
}

static inline void await_by_call(int number)
{
    elan_waitWord(state, NULL, NULL, (EVENT_WORD *)&signals[number], base->waitType);
}

static inline void await_by_test(int number)
{
    while (!elan_pollWord(state, NULL, (EVENT_WORD *)&signals[number], 10))
        ;
}

static inline void locked(void *word, uint64_t operand, int lock, unsigned vp)
{
    uint64_t value;

    elan_lockLock(state, &locks[lock], operand % 2 ? ELAN_LOCK_BUSY : ELAN_LOCK_NORMAL);
    elan_wait(elan_get(state, word, &value, sizeof value, vp), base->waitType);
    value += operand;
    elan_wait(elan_put(state, &value, word, sizeof value, vp), base->waitType);
    elan_lockUnLock(state, &locks[lock]);
}

static inline void enqueue(unsigned vp, int region, unsigned offset, const void *from,
                           unsigned bytes)
{
    struct queued message = {(unsigned char)region, offset, bytes, {0}};

    memcpy(message.data, from, bytes);
    later(elan_queueTx(outbox, vp, &message, sizeof message, ELAN_RAIL_ALL));
    memset(&message, 0xee, sizeof message);
}

static inline void drain(int count)
{
    unsigned char *regions[] = {heap, fixed, own};

    for (int i = 0; i < count; i++) {
        const struct queued *message = elan_queueRxWait(inbox, NULL, base->waitType);
        memcpy(regions[message->region] + message->offset, message->data, message->bytes);
        elan_queueRxComplete(inbox);
    }
}

static inline void sum(void *in, void *inout, int *count, void *handle)
{
    uint64_t *one = in, *other = inout;

    (void)handle;
    for (int i = 0; i < *count; i++)
        other[i] += one[i];
}

/* Matrix products: associative, and not commutative. */
static inline void matrix(void *in, void *inout, int *count, void *handle)
{
    uint32_t *a = in, *b = inout;

    (void)handle;
    for (int i = 0; i < *count; i++, a += 4, b += 4) {
        uint32_t c[] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                        a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
        memcpy(b, c, sizeof c);
    }
}
