/* The beginning and the end: elan_baseInit and its like, of elan/elan.h. */
#ifndef ELAN_INIT_H
#define ELAN_INIT_H

#include <elan/elan.h>

#endif
