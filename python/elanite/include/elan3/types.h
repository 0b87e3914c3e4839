/* Words and addresses of the Elan3 adapter. */
#ifndef ELAN3_TYPES_H
#define ELAN3_TYPES_H

#include <qsnet/types.h>

typedef uint8_t E3_uint8;
typedef uint16_t E3_uint16;
typedef uint32_t E3_uint32;
typedef uint64_t E3_uint64;
typedef int32_t E3_int32;
typedef int64_t E3_int64;

/* An address as the adapter sees it: a context has 4 GB, in which main memory and the adapter's
 * memory are mapped. */
typedef E3_uint32 E3_Addr;
/* A place in the adapter's memory, as the host sees it. */
typedef unsigned long sdramaddr_t;
typedef struct ELAN3_SDRAM ELAN3_SDRAM;

#define E3_BLK_SIZE 64
#define E3_BLK_ALIGN 64
#define E3_EVENT_ALIGN 8
#define E3_DMA_ALIGN 32
#define E3_QUEUE_ALIGN 32

#endif
