/* Puts and gets: lengths, small sources that are reused, links, vectors, strides, all ends
 * together, statistics. */
#include "check.h"

enum { MOST = 300000 };
static unsigned char source[MOST], target[MOST];

static unsigned char byte(unsigned from, unsigned at)
{
    return (unsigned char)(at * 7 + from * 31 + 1);
}

int main(void)
{
    begin();
    unsigned right = (me + 1) % all, left = (me + all - 1) % all;
    size_t sizes[] = {1, 3, 8, 64, 65, 1000, 4096, 70000, MOST};
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t size = sizes[s];
        memset(target, 0, sizeof target);
        for (size_t i = 0; i < size; i++)
            source[i] = byte(me, i);
        elan_gsync(base->allGroup);
        elan_wait(elan_put(state, source, target, size, right), base->waitType);
        elan_gsync(base->allGroup);
        for (size_t i = 0; i < size; i++)
            CHECK(target[i] == byte(left, i));
        elan_gsync(base->allGroup);
        memset(target, 0, sizeof target);
        ELAN_EVENT *event = elan_get(state, source, target, size, right);
        while (!elan_done(event, 0))
            ;
        CHECK(elan_poll(event, 1));
        for (size_t i = 0; i < size; i++)
            CHECK(target[i] == byte(right, i));
        elan_gsync(base->allGroup);
    }
    CHECK(elan_poll(elan_put(state, source, target, 0, right), 0));
    CHECK(elan_poll(elan_nullEvent(state), 0));

    /* Small puts' sources may be used again immediately; one event may stand for many. */
    int *words = elan_gallocMain(base, base->allGroup, 8, 100 * sizeof(int));
    memset(words, 0, 100 * sizeof(int));
    elan_gsync(base->allGroup);
    ELAN_EVENT *both = NULL;
    for (int i = 0; i < 100; i++) {
        int word = 1000 * (int)me + i;
        ELAN_EVENT *event = elan_put(state, &word, words + i, sizeof word, right);
        both = both ? elan_link(both, event) : event;
        word = -1;
    }
    elan_wait(both, base->waitType);
    elan_gsync(base->allGroup);
    for (int i = 0; i < 100; i++)
        CHECK(words[i] == 1000 * (int)left + i);
    elan_gsync(base->allGroup);

    /* Ends that are waited for together leave their events. */
    ELAN_EVENT *events[20];
    for (int i = 0; i < 20; i++) {
        int word = -(int)me - i;
        events[i] = elan_put(state, &word, words + i, sizeof word, left);
    }
    elan_putWaitAll(state, base->waitType);
    for (int i = 0; i < 20; i++)
        CHECK(elan_poll(events[i], 0));
    elan_gsync(base->allGroup);
    int fetched[20];
    for (int i = 0; i < 20; i++) {
        CHECK(words[i] == -(int)right - i);
        events[i] = elan_get(state, words + i, fetched + i, sizeof(int), right);
    }
    elan_getWaitAll(state, base->waitType);
    for (int i = 0; i < 20; i++) {
        elan_wait(events[i], base->waitType);
        CHECK(fetched[i] == -(int)((right + 1) % all) - i);
    }
    elan_gsync(base->allGroup);

    /* Control blocks, vectors, strides. */
    ELAN_PGCTRL *control = elan_putgetInit(state, NULL, 64, 4096, 4096, 32, ELAN_PGVINIT);
    CHECK(elan_pgvGlobalMemSize(state) > 0 && elan_pgsGlobalMemSize(state) > 0);
    double *matrix = elan_gallocMain(base, base->allGroup, 64, 32 * 32 * sizeof(double));
    double own[8][6];
    for (int i = 0; i < 32 * 32; i++)
        matrix[i] = me + i / 10000.0;
    elan_gsync(base->allGroup);
    int far[] = {32 * sizeof(double)}, near[] = {6 * sizeof(double)};
    unsigned counts[] = {6 * sizeof(double), 8};
    elan_wait(elan_getss(control, matrix + 3 * 32 + 5, own, far, near, counts, 1, right),
              base->waitType);
    for (int row = 0; row < 8; row++)
        for (int column = 0; column < 6; column++) {
            CHECK(own[row][column] == right + ((3 + row) * 32 + 5 + column) / 10000.0);
            own[row][column] = -1.0 - me;
        }
    elan_gsync(base->allGroup);
    elan_wait(elan_putss(control, own, matrix + 20 * 32 + 1, near, far, counts, 1, right),
              base->waitType);
    elan_gsync(base->allGroup);
    for (int i = 0; i < 32 * 32; i++) {
        int row = i / 32 - 20, column = i % 32 - 1;
        int inside = row >= 0 && row < 8 && column >= 0 && column < 6;
        CHECK(matrix[i] == (inside ? -1.0 - left : me + i / 10000.0));
    }
    elan_gsync(base->allGroup);
    void *from[] = {&own[0][0], &own[2][0], &own[4][0]},
         *to[] = {matrix, matrix + 100, matrix + 200};
    elan_wait(elan_putv(control, from, to, 2 * sizeof(double), 3, left), base->waitType);
    elan_gsync(base->allGroup);
    for (int i = 0; i < 3; i++)
        CHECK(matrix[100 * i] == -1.0 - right && matrix[100 * i + 1] == -1.0 - right);
    elan_wait(elan_getv(control, to, from, 2 * sizeof(double), 3, left), base->waitType);
    CHECK(own[4][1] == -1.0 - me);
    elan_gsync(base->allGroup);
    elan_wait(elan_doput(control, source, target, 0, 4000, right, 0), base->waitType);
    elan_wait(elan_doget(control, source, source, 8, me, 0), base->waitType);

    ELAN_PUTGETSTATS statistics;
    elan_putgetGetStats(state, &statistics);
    CHECK(statistics.pgs_nPut >= 9 + 120 + 8 + 3 + 1 && statistics.pgs_nGet >= 9 + 20 + 8 + 3 + 1);
    CHECK(statistics.pgs_putBytes > MOST);
    return finish();
}
