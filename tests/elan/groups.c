/* Groups: barriers, broadcasts, reductions by the program's functions, gathering and exchanging,
 * groups with some processes. */
#include "check.h"

static int calls;

static void add(void *in, void *inout, int *count, void *handle)
{
    long *from = in, *to = inout;
    calls++;
    for (int i = 0; i < *count; i++)
        to[i] += from[i] + *(long *)handle;
}

/* Does not commute: keeps the first operand. */
static void first(void *in, void *inout, int *count, void *handle)
{
    (void)handle;
    memcpy(inout, in, (size_t)*count * 16);
}

static void collective(ELAN_GROUP *group)
{
    unsigned self = group->self, size = group->size;
    int *word = elan_gallocMain(base, group, 8, sizeof(int)), zero = 0;
    char *bytes = elan_gallocMain(base, group, 64, 100000);
    for (int round = 0; round < 3; round++) {
        *word = -1;
        elan_gsync(group);
        unsigned next = group->lookupFn(group->handle, (self + 1) % size);
        int value = (int)self + round;
        elan_wait(elan_put(state, &value, word, sizeof value, next), base->waitType);
        if (round == 0)
            elan_hgsync(group);
        else if (round == 1)
            elan_hgsyncevent(group);
        else
            elan_gsync(group);
        CHECK(*word == (int)((self + size - 1) % size) + round);
    }
    size_t sizes[] = {1, 8, 256, 4096, 100000};
    for (unsigned s = 0; s < 5; s++)
        for (int hardware = 0; hardware < 2; hardware++) {
            unsigned root = s % size;
            memset(bytes, self == root ? 'a' + (int)s : 'z', sizes[s]);
            if (hardware)
                elan_hbcast(group, bytes, sizes[s], root, ELAN_GLOBAL_DEST);
            else
                elan_bcast(group, bytes, sizes[s], root, 0);
            for (size_t i = 0; i < sizes[s]; i++)
                CHECK(bytes[i] == 'a' + (char)s);
        }
    long *vector = malloc(600 * sizeof(long)), *sum = malloc(600 * sizeof(long)), extra = 0;
    for (int i = 0; i < 600; i++)
        vector[i] = (long)self * 1000 + i;
    memset(sum, 0, 600 * sizeof(long));
    elan_reduce(group, vector, sum, sizeof(long), 600, add, &extra, 0, 0,
                ELAN_RESULT_ALL | ELAN_REDUCE_COMMUTE, 0);
    for (int i = 0; i < 600; i++)
        CHECK(sum[i] == (long)size * i + 1000L * size * (size - 1) / 2);
    extra = 1; /* one more for each pair */
    elan_reduce(group, vector, vector, sizeof(long), 3, add, &extra, 0, 0, 0, size - 1);
    if (self == size - 1)
        CHECK(vector[2] == (long)size * 2 + 1000L * size * (size - 1) / 2 + size - 1);
    char name[16];
    memset(name, 'a' + (int)self, sizeof name);
    elan_reduce(group, name, name, 16, 1, first, NULL, 0, 0, ELAN_RESULT_ALL, 0);
    CHECK(name[0] == 'a' && name[15] == 'a');

    unsigned *table = calloc(size * size, sizeof(unsigned)),
             *exchanged = calloc(size, sizeof(unsigned));
    for (unsigned i = 0; i < size; i++)
        table[i] = 100 * self + i;
    elan_alltoall(group, table, exchanged, sizeof(unsigned), 0);
    for (unsigned i = 0; i < size; i++)
        CHECK(exchanged[i] == 100 * i + self);
    elan_gather(group, exchanged, table, size * sizeof(unsigned), size / 2, 0);
    if (self == size / 2)
        for (unsigned i = 0; i < size; i++)
            for (unsigned j = 0; j < size; j++)
                CHECK(table[i * size + j] == 100 * j + i);
    /* Each gives as many bytes as its number plus one to each. */
    size_t out[1024], outAt[1024], in[1024], inAt[1024], at = 0;
    char mine[1024], theirs[1 << 16];
    memset(mine, 'A' + (int)self, sizeof mine);
    for (unsigned i = 0; i < size; i++) {
        out[i] = self + 1;
        outAt[i] = i;
        in[i] = i + 1;
        inAt[i] = at;
        at += i + 1;
    }
    elan_alltoalls(group, mine, out, outAt, theirs, in, inAt, 0);
    for (unsigned i = 0; i < size; i++)
        CHECK(theirs[inAt[i]] == 'A' + (char)i && theirs[inAt[i] + i] == 'A' + (char)i);
    elan_gsync(group);
    (void)zero;
}

int main(void)
{
    begin();
    collective(base->allGroup);
    ELAN_GROUPSTATS statistics;
    elan_groupGetStats(base->allGroup, &statistics);
    CHECK(statistics.gs_nGsync == 5 && statistics.gs_nHGsync == 2 && statistics.gs_nHBcast == 5);
    CHECK(statistics.gs_nReduceI == 3 && statistics.gs_nGather == 3);
    if (all > 2) {
        /* The odd ones, in reverse. They have made other calls than the others before. */
        unsigned odd[1024], count = 0;
        for (unsigned i = all; i-- > 0;)
            if (i % 2)
                odd[count++] = i;
        if (me % 2) {
            ELAN_GROUP *group = elan_group(base, odd, count);
            CHECK(group && group->size == count && odd[group->self] == me);
            collective(group);
        }
        unsigned first[] = {0, 1, 2};
        if (me < 3)
            collective(elan_group(base, first, 3));
        unsigned wrong[] = {all};
        CHECK(!elan_group(base, wrong, 1));
    }
    return finish();
}
