/* Descriptors of DMAs. */
#ifndef ELAN3_DMA_H
#define ELAN3_DMA_H

#include <elan3/types.h>

/* The unit of a DMA, which matters where the bytes of hosts lie in different orders; here they do
 * not. */
#ifndef DMA_BYTE
#define DMA_BYTE 0
#define DMA_HALFWORD 1
#define DMA_WORD 2
#define DMA_DOUBLE 3
#endif
/* The direction: a write sends to dma_destCookieVProc, a read fetches from there. */
#define DMA_WRITE 0
#define DMA_READ 1
/* What lies at the destination: memory; a queue. And a DMA to all processes of a range. */
#define DMA_NORMAL 0
#define DMA_QUEUED 1
#define DMA_NORMAL_BROADCAST 2
#define DMA_QUEUED_BROADCAST 3

#define E3_DMA_TYPE(unit, direction, form, retries)                                                \
    ((E3_uint32)(unit) | ((E3_uint32)(direction) << 2) | ((E3_uint32)(form) << 3) |                \
     ((E3_uint32)(retries) << 8))

typedef struct E3_DMA {
    E3_uint32 dma_type;
    E3_uint32 dma_size;
    E3_Addr dma_source;
    E3_Addr dma_dest;
    E3_Addr dma_destEvent;
    E3_uint32 dma_destCookieVProc;
    E3_Addr dma_srcEvent;
    E3_uint32 dma_srcCookieVProc;
} E3_DMA;

typedef E3_DMA E3_DMA_MAIN;

#define E3_WRITE_DMA_FIELD(ctx, dma, field, value) \
    elan3_write32_sdram((ctx)->sdram, (dma) + offsetof(E3_DMA, field), (value))
#define E3_WRITE_DMA_TYPE(ctx, dma, value) E3_WRITE_DMA_FIELD(ctx, dma, dma_type, value)
#define E3_WRITE_DMA_SIZE(ctx, dma, value) E3_WRITE_DMA_FIELD(ctx, dma, dma_size, value)
#define E3_WRITE_DMA_SOURCE(ctx, dma, value) E3_WRITE_DMA_FIELD(ctx, dma, dma_source, value)
#define E3_WRITE_DMA_DEST(ctx, dma, value) E3_WRITE_DMA_FIELD(ctx, dma, dma_dest, value)
#define E3_WRITE_DMA_DESTEVENT(ctx, dma, value) E3_WRITE_DMA_FIELD(ctx, dma, dma_destEvent, value)
#define E3_WRITE_DMA_DESTVPROC(ctx, dma, value)                                                    \
    E3_WRITE_DMA_FIELD(ctx, dma, dma_destCookieVProc, value)
#define E3_WRITE_DMA_SRCEVENT(ctx, dma, value) E3_WRITE_DMA_FIELD(ctx, dma, dma_srcEvent, value)

/* A fault of an old adapter, which needed DMAs of some lengths to be cut; this one has no such
 * fault. */
#define E3_DMA_REVB_BUG_2(size, at, page) 0

#endif
