/* Traces of the library. Elanite records a run by itself: elanite prun --timeline. */
#ifndef ELAN_ETRACE_H
#define ELAN_ETRACE_H

#include <elan/elan.h>

#endif
