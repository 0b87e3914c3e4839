/* Common parts of the programs here: a check that names its line, and the library's base. */
#ifndef CHECK_H
#define CHECK_H

#include <elan/elan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ELAN_BASE *base;
static ELAN_STATE *state;
static unsigned me, all;

static inline void begin(void)
{
    base = elan_baseInit(0);
    state = base->state;
    me = state->vp;
    all = state->nvp;
}

#define CHECK(that)                                                                    \
    do {                                                                               \
        if (!(that)) {                                                                 \
            printf("%s:%d: process %u of %u: %s\n", __FILE__, __LINE__, me, all, #that); \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

/* Reports success once all processes have arrived here. */
static inline int finish(void)
{
    elan_gsync(base->allGroup);
    if (me == 0)
        printf("all is well: %u processes\n", all);
    return 0;
}

#endif
