/* Integers of fixed lengths, truth values, and how calls wait. */
#ifndef QSNET_TYPES_H
#define QSNET_TYPES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
#endif

/* Addresses of Elanlib: one space for main memory and the adapter's memory, the same numbers in
 * both views. */
typedef uint64_t ELAN_ADDR;
#define ELAN_ADDR_NULL ((ELAN_ADDR)0)
#define ELAN_BAD_ADDR 0xffffffffu

/* Memory of the adapter, as the host reaches it. */
typedef void *ADDR_SDRAM;

/* Words that an adapter writes when an event occurs. */
typedef volatile uint32_t EVENT_WORD;

/* How a call waits: it polls without end, it waits for an interrupt, or it polls so many times and
 * then waits. Elanite's processes poll, for any of these (docs/elan.md). */
#define ELAN_POLL_EVENT (-1)
#define ELAN_WAIT_EVENT 0

#define ELAN_ALIGNUP(x, a) (((uintptr_t)(x) + ((uintptr_t)(a) - 1)) & ~((uintptr_t)(a) - 1))

/* All rails, where a rail is asked for: the machine's policy picks. */
#define ELAN_RAIL_ALL (-1)

#endif
