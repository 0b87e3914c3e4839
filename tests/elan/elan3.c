/* Elan3lib: memory in both address spaces, DMAs in both directions, all event kinds, DMA chains,
 * permissions. */
#include <elan/elan.h>
#include <elan3/elan3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned me, all;

#define CHECK(that)                                                                    \
    do {                                                                               \
        if (!(that)) {                                                                 \
            printf("%s:%d: process %u of %u: %s\n", __FILE__, __LINE__, me, all, #that); \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

static ELAN3_CTX *ctx;

/* Elan3lib has no barrier. */
static void barrier(void)
{
    elan_gsync(elan_baseInit(0)->allGroup);
}

static E3_Addr elan(sdramaddr_t at)
{
    return elan3_sdram2elan(ctx, ctx->sdram, at);
}

/* A descriptor in the adapter's memory. */
static sdramaddr_t descriptor(E3_uint32 direction, E3_Addr from, E3_Addr to, unsigned size,
                              unsigned other, E3_Addr fromEvent, E3_Addr toEvent)
{
    static E3_DMA *main;
    if (!main)
        main = elan3_allocMain(ctx, E3_DMA_ALIGN, sizeof *main);
    sdramaddr_t place = elan3_allocElan(ctx, E3_DMA_ALIGN, sizeof(E3_DMA));
    int reads = direction == DMA_READ;
    main->dma_type = E3_DMA_TYPE(DMA_BYTE, direction, DMA_NORMAL, 63);
    main->dma_size = size;
    main->dma_source = from;
    main->dma_dest = to;
    main->dma_srcEvent = fromEvent;
    main->dma_destEvent = toEvent;
    main->dma_srcCookieVProc =
        reads ? elan3_remote_cookie(ctx, me, other) : elan3_local_cookie(ctx, me, other);
    main->dma_destCookieVProc = reads ? elan3_local_cookie(ctx, me, other) : other;
    elan3_copy32_to_sdram(ctx->sdram, main, place);
    return place;
}

int main(void)
{
    ELAN_CAPABILITY cap;
    ctx = elan3_init(0, 0x10000000, 1 << 24, 0x80000000, 1 << 20);
    CHECK(ctx && elan3_create(ctx, &cap) == 0 && elan3_attach(ctx, &cap) == 0 &&
          elan3_addvp(ctx, 0, &cap) == 0);
    me = (unsigned)elan3_process(ctx);
    all = (unsigned)elan3_nvps(&cap);
    unsigned right = (me + 1) % all, left = (me + all - 1) % all;
    ELAN_POSITION position;
    ELAN3_DEVINFO info;
    CHECK(elan3_get_position(ctx, &position) == 0 && position.pos_mode == ELAN_POS_MODE_SWITCHED);
    CHECK((int)position.pos_nodeid == elan3_vp2location(me, &cap).loc_node);
    CHECK(elan3_get_devinfo(ctx, &info) == 0 && elan3_addbcastvp(ctx, 100, 0, all - 1) < 0);

    /* Addresses. */
    enum { SIZE = 5000 };
    char *out = elan3_allocMain(ctx, 64, SIZE), *in = elan3_allocMain(ctx, 64, SIZE), stack;
    CHECK(elan3_main2elan(ctx, out) >= 0x10000000 &&
          elan3_elan2main(ctx, elan3_main2elan(ctx, in)) == in);
    CHECK(elan3_addressable(ctx, out, SIZE) && !elan3_addressable(ctx, &stack, 1));
    sdramaddr_t spare = elan3_allocElan(ctx, 64, 128);
    elan3_zero_byte_sdram(ctx->sdram, spare, 128);
    elan3_write32_sdram(ctx->sdram, spare + 4, 77);
    CHECK(elan3_read32_sdram(ctx->sdram, spare) == 0 &&
          elan3_read32_sdram(ctx->sdram, spare + 4) == 77);
    CHECK(elan(spare) >= 0x80000000 && elan3_elan2sdram(ctx, elan(spare)) == spare);

    /* Around the ring, with an event at each end. */
    sdramaddr_t sent = elan3_allocElan(ctx, E3_EVENT_ALIGN, sizeof(E3_Event));
    sdramaddr_t arrived = elan3_allocElan(ctx, E3_EVENT_ALIGN, sizeof(E3_BlockCopyEvent));
    sdramaddr_t done = elan3_allocElan(ctx, E3_BLK_ALIGN, E3_BLK_SIZE);
    E3_Event_Blk *block = elan3_allocMain(ctx, E3_BLK_ALIGN, sizeof *block);
    elan3_zero_byte_sdram(ctx->sdram, done, E3_BLK_SIZE);
    elan3_initevent(ctx, sent);
    elan3_initevent_main(ctx, arrived, done, block);
    barrier();
    E3_Addr here = elan3_main2elan(ctx, out), there = elan3_main2elan(ctx, in);
    sdramaddr_t dma = descriptor(DMA_WRITE, here, there, SIZE, right, elan(sent), elan(arrived));
    for (int round = 0; round < 3; round++) {
        memset(out, (int)me + round, SIZE);
        E3_RESET_BCOPY_BLOCK(block);
        elan3_primeevent(ctx, sent, 1);
        elan3_primeevent(ctx, arrived, 1);
        elan3_putdma(ctx, dma);
        elan3_waitevent_blk(ctx, arrived, block, ELAN_POLL_EVENT);
        for (int i = 0; i < SIZE; i++)
            CHECK(in[i] == (char)(left + (unsigned)round));
        elan3_waitevent(ctx, sent);
        CHECK(elan3_pollevent(ctx, sent, 0));
        barrier();
    }

    /* A word; an event that must be set twice. */
    volatile E3_uint32 *word = elan3_allocMain(ctx, 8, sizeof *word);
    sdramaddr_t twice = elan3_allocElan(ctx, E3_EVENT_ALIGN, sizeof(E3_Event));
    *word = 0;
    elan3_initevent_word(ctx, twice, word);
    elan3_primeevent(ctx, twice, 2);
    barrier();
    sdramaddr_t signal = descriptor(DMA_WRITE, 0, 0, 0, right, 0, elan(twice));
    elan3_setevent(ctx, twice);
    elan3_putdma(ctx, signal);
    elan3_waitevent_word(ctx, twice, word, ELAN_WAIT_EVENT);
    CHECK(*word == 1);

    /* A DMA that reads. */
    memset(in, 0, SIZE);
    sdramaddr_t read = elan3_allocElan(ctx, E3_EVENT_ALIGN, sizeof(E3_Event));
    elan3_initevent(ctx, read);
    elan3_primeevent(ctx, read, 1);
    dma = descriptor(DMA_READ, here, there, SIZE, left, 0, elan(read));
    elan3_putdma(ctx, dma);
    elan3_waitevent(ctx, read);
    CHECK(in[0] == (char)(left + 2) && in[SIZE - 1] == in[0]);

    /* A token goes round by itself: the arrival starts the next DMA. */
    sdramaddr_t token = elan3_allocElan(ctx, E3_EVENT_ALIGN, sizeof(E3_Event));
    sdramaddr_t home = elan3_allocElan(ctx, E3_EVENT_ALIGN, sizeof(E3_Event));
    sdramaddr_t wait = elan3_allocElan(ctx, E3_EVENT_ALIGN, sizeof(E3_WaitEvent0));
    elan3_initevent(ctx, token);
    elan3_initevent(ctx, home);
    elan3_primeevent(ctx, home, 1);
    barrier();
    sdramaddr_t on = descriptor(DMA_WRITE, 0, 0, 0, right, 0, elan(me == all - 1 ? home : token));
    if (me == 0)
        elan3_putdma(ctx, on);
    else
        elan3_waitdmaevent0(ctx, on, token, wait, 1);
    if (me == 0 && all > 1)
        elan3_waitevent(ctx, home);
    /* Notify the others, one after the other. */
    if (me == 0)
        for (unsigned i = 1; i < all; i++)
            elan3_putdma(ctx, descriptor(DMA_WRITE, 0, 0, 0, i, 0, elan(home)));
    else
        elan3_waitevent(ctx, home);

    /* The program's memory at a context address; without permission it cannot be reached. */
    static char room[8192];
    CHECK(elan3_setperm(ctx, room, 0x40000000, sizeof room, ELAN_PERM_REMOTEALL) == 0);
    CHECK(elan3_setperm(ctx, room, 0x40000000, 64, ELAN_PERM_REMOTEALL) < 0);
    CHECK(elan3_main2elan(ctx, room + 10) == 0x4000000a);
    elan3_primeevent(ctx, home, 1);
    elan3_primeevent(ctx, sent, 1);
    barrier();
    dma = descriptor(DMA_WRITE, here, 0x40000000 + 100, 50, right, elan(sent), elan(home));
    elan3_putdma(ctx, dma);
    elan3_waitevent(ctx, sent);
    elan3_waitevent(ctx, home);
    CHECK(room[100] == (char)(left + 2) && room[149] == room[100] && room[150] == 0);
    barrier();
    CHECK(elan3_clearperm(ctx, 0x40000000, sizeof room) == 0 && !elan3_addressable(ctx, room, 1));
    elan3_fini(ctx);
    if (me == 0)
        printf("all is well: %u processes\n", all);
    return 0;
}
