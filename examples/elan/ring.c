/* Elan3lib: each process puts a kilobyte into the memory of its right neighbour, whose adapter then
 * sets an event.
 *
 *     elancc -O2 -o ring ring.c
 *     elanite prun -n 4 --machine es40-qsnet ./ring
 */
#include <elan3/elan3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 1024 };

int main(void)
{
    ELAN3_CTX *ctx = elan3_init(0, 0x10000000, 1 << 20, 0x80000000, 1 << 20);
    int me = elan3_process(ctx), all = elan3_nvps(NULL);

    /* All make the same allocations in the same order, so that their buffers have the same
     * addresses. */
    char *mine = elan3_allocMain(ctx, 64, SIZE), *theirs = elan3_allocMain(ctx, 64, SIZE);
    sdramaddr_t arrived = elan3_allocElan(ctx, E3_EVENT_ALIGN, sizeof(E3_Event));
    sdramaddr_t dma = elan3_allocElan(ctx, E3_DMA_ALIGN, sizeof(E3_DMA));
    elan3_primeevent(ctx, arrived, 1);
    memset(mine, me, SIZE);

    E3_DMA_MAIN put = {
        .dma_type = E3_DMA_TYPE(DMA_BYTE, DMA_WRITE, DMA_NORMAL, 63),
        .dma_size = SIZE,
        .dma_source = elan3_main2elan(ctx, mine),
        .dma_dest = elan3_main2elan(ctx, theirs),
        .dma_destEvent = elan3_sdram2elan(ctx, ctx->sdram, arrived),
        .dma_destCookieVProc = (unsigned)((me + 1) % all),
        .dma_srcCookieVProc = (unsigned)me,
    };
    elan3_copy32_to_sdram(ctx->sdram, &put, dma);
    elan3_putdma(ctx, dma);
    elan3_waitevent(ctx, arrived);

    int left = (me + all - 1) % all;
    if (theirs[0] != (char)left || theirs[SIZE - 1] != (char)left)
        abort();
    if (me == 0)
        printf("a kilobyte has gone to the right, %d times\n", all);
    return 0;
}
