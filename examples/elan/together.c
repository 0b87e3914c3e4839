/* Elanlib groups: barriers by hardware and by software, a broadcast, a sum by a program function.
 *
 *     elancc -O2 -o together together.c
 *     elanite prun -n 64 --machine es40-qsnet ./together
 */
#include <elan/elan.h>
#include <stdio.h>
#include <stdlib.h>

static void add(void *in, void *inout, int *count, void *handle)
{
    (void)handle;
    for (int i = 0; i < *count; i++)
        ((long *)inout)[i] += ((long *)in)[i];
}

static double time_of(ELAN_STATE *state, ELAN_GROUP *group, void (*barrier)(ELAN_GROUP *))
{
    barrier(group);
    uint64_t start = elan_clock(state);
    for (int i = 0; i < 10; i++)
        barrier(group);
    return (double)(elan_clock(state) - start) / 10e3;
}

int main(void)
{
    ELAN_BASE *base = elan_baseInit(0);
    ELAN_GROUP *group = base->allGroup;
    double hardware = time_of(base->state, group, elan_hgsync),
           software = time_of(base->state, group, elan_gsync);

    long *word = elan_gallocMain(base, group, 8, sizeof(long)), sum;
    unsigned root = 5 % group->size;
    *word = group->self == root ? 42 : 0;
    elan_hbcast(group, word, sizeof *word, root, ELAN_GLOBAL_DEST);
    elan_reduce(group, word, &sum, sizeof sum, 1, add, NULL, 0, 0,
                ELAN_RESULT_ALL | ELAN_REDUCE_COMMUTE, 0);
    if (*word != 42 || sum != 42 * (long)group->size)
        abort();
    if (group->self == 0)
        printf("barriers of %u processes take %.2f us by hardware and %.2f us by software\n",
               group->size, hardware, software);
    return 0;
}
