/* Events at the destination of puts: elan_initEvent and its like, of elan/elan.h. */
#ifndef ELAN_DEVENT_H
#define ELAN_DEVENT_H

#include <elan/elan.h>

#endif
