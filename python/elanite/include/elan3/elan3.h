/* Elan3lib for programs that run under "elanite prun" (docs/elan.md has a table of all calls). */
#ifndef ELAN3_ELAN3_H
#define ELAN3_ELAN3_H

#include <qsnet/config.h>
#include <qsnet/types.h>
#include <elan/capability.h>
#include <elan/elanctrl.h>
#include <elan3/types.h>
#include <elan3/events.h>
#include <elan3/dma.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ELAN_PERM_NULL 0
#define ELAN_PERM_LOCALREAD 1
#define ELAN_PERM_READONLY 2
#define ELAN_PERM_NOREMOTE 3
#define ELAN_PERM_REMOTEREAD 4
#define ELAN_PERM_REMOTEWRITE 5
#define ELAN_PERM_REMOTEEVENT 6
#define ELAN_PERM_REMOTEALL 7

typedef struct ELAN3_CTX {
    ELAN3_SDRAM *sdram;
    int pageSize;
    int rail;
    unsigned int vp;
    void *reserved[4];
} ELAN3_CTX;

typedef ELAN_DEVINFO ELAN3_DEVINFO;

/* ---- Contexts ---- */

/* A context whose heaps lie at these addresses, as the adapter sees them. */
ELAN3_CTX *elan3_init(int device, E3_Addr main, unsigned int mainSize, E3_Addr elan,
                      unsigned int elanSize);
void elan3_fini(ELAN3_CTX *ctx);
ELAN3_CTX *elan3_control_open(int device);
void elan3_control_close(ELAN3_CTX *ctx);
int elan3_create(ELAN3_CTX *ctx, ELAN_CAPABILITY *cap);
int elan3_attach(ELAN3_CTX *ctx, ELAN_CAPABILITY *cap);
int elan3_detach(ELAN3_CTX *ctx);
int elan3_addvp(ELAN3_CTX *ctx, unsigned int first, ELAN_CAPABILITY *cap);
int elan3_addbcastvp(ELAN3_CTX *ctx, unsigned int vp, unsigned int low, unsigned int high);
unsigned int elan3_allocatebcastvp(ELAN3_CTX *ctx);
int elan3_process(ELAN3_CTX *ctx);
int elan3_block_inputter(ELAN3_CTX *ctx, int blocked);
int elan3_set_standard_mappings(ELAN3_CTX *ctx);
int elan3_set_required_mappings(ELAN3_CTX *ctx);
int elan3_devinfo(int device, ELAN3_DEVINFO *info);
int elan3_get_devinfo(ELAN3_CTX *ctx, ELAN3_DEVINFO *info);
int elan3_get_position(ELAN3_CTX *ctx, ELAN_POSITION *position);

/* ---- Places ---- */

void elan3_nullcap(ELAN_CAPABILITY *cap);
char *elan3_capability_string(ELAN_CAPABILITY *cap, char *text);
int elan3_nvps(ELAN_CAPABILITY *cap);
int elan3_nlocal(int node, ELAN_CAPABILITY *cap);
int elan3_maxlocal(ELAN_CAPABILITY *cap);
int elan3_localvps(int node, ELAN_CAPABILITY *cap, int *vps, int size);
int elan3_nrails(ELAN_CAPABILITY *cap);
int elan3_rails(ELAN_CAPABILITY *cap, int *rails);
ELAN_LOCATION elan3_vp2location(unsigned int vp, ELAN_CAPABILITY *cap);
int elan3_location2vp(ELAN_LOCATION location, ELAN_CAPABILITY *cap);

/* ---- Memory ---- */

void *elan3_allocMain(ELAN3_CTX *ctx, unsigned int align, unsigned int size);
sdramaddr_t elan3_allocElan(ELAN3_CTX *ctx, unsigned int align, unsigned int size);
/* Addresses of main memory without memory: elan3_setperm can map them. */
void *elan3_allocVaddr(ELAN3_CTX *ctx, unsigned int align, unsigned int size);
void elan3_free(ELAN3_CTX *ctx, void *memory);
void elan3_freeElan(ELAN3_CTX *ctx, sdramaddr_t memory);
E3_Addr elan3_main2elan(ELAN3_CTX *ctx, const volatile void *memory);
void *elan3_elan2main(ELAN3_CTX *ctx, E3_Addr at);
E3_Addr elan3_sdram2elan(ELAN3_CTX *ctx, ELAN3_SDRAM *sdram, sdramaddr_t memory);
sdramaddr_t elan3_elan2sdram(ELAN3_CTX *ctx, E3_Addr at);
int elan3_addressable(ELAN3_CTX *ctx, const volatile void *memory, size_t size);
#define ELAN3_ADDRESSABLE(ctx, memory, size) elan3_addressable((ctx), (memory), (size))
/* Lets the adapter reach main memory at an address of its own. */
int elan3_setperm(ELAN3_CTX *ctx, void *main, E3_Addr elan, unsigned int size, int permission);
int elan3_clearperm(ELAN3_CTX *ctx, E3_Addr elan, unsigned int size);
int elan3_clearperm_elan(ELAN3_CTX *ctx, E3_Addr elan, unsigned int size);
int elan3_clearperm_main(ELAN3_CTX *ctx, void *main, unsigned int size);

void elan3_write32_sdram(ELAN3_SDRAM *sdram, sdramaddr_t to, E3_uint32 value);
E3_uint32 elan3_read32_sdram(ELAN3_SDRAM *sdram, sdramaddr_t from);
void elan3_zero_byte_sdram(ELAN3_SDRAM *sdram, sdramaddr_t to, unsigned int size);
void elan3_copy32_to_sdram(ELAN3_SDRAM *sdram, const void *from, sdramaddr_t to); /* 32 bytes */
void elan3_blkcopy64_to_sdram(ELAN3_SDRAM *sdram, const void *from, sdramaddr_t to,
                              unsigned int size);

/* ---- Events ---- */

void elan3_initevent(ELAN3_CTX *ctx, sdramaddr_t event);
/* Writes a word of main memory when the event occurs; or a block, of which only eb_done is written,
 * with 1. */
void elan3_initevent_word(ELAN3_CTX *ctx, sdramaddr_t event, volatile E3_uint32 *word);
void elan3_initevent_main(ELAN3_CTX *ctx, sdramaddr_t event, sdramaddr_t source,
                          E3_Event_Blk *block);
/* The event occurs when it has been set so often. */
void elan3_primeevent(ELAN3_CTX *ctx, sdramaddr_t event, int count);
void elan3_setevent(ELAN3_CTX *ctx, sdramaddr_t event);
int elan3_pollevent(ELAN3_CTX *ctx, sdramaddr_t event, long how);
int elan3_pollevent_word(ELAN3_CTX *ctx, volatile E3_uint32 *word, long how);
void elan3_waitevent(ELAN3_CTX *ctx, sdramaddr_t event);
void elan3_waitevent_word(ELAN3_CTX *ctx, sdramaddr_t event, volatile E3_uint32 *word, long how);
void elan3_waitevent_blk(ELAN3_CTX *ctx, sdramaddr_t event, E3_Event_Blk *block, long how);
/* Starts a DMA when the event occurs; the second form then primes the event again. */
void elan3_waitdmaevent(ELAN3_CTX *ctx, sdramaddr_t dma, sdramaddr_t event);
void elan3_waitdmaevent0(ELAN3_CTX *ctx, sdramaddr_t dma, sdramaddr_t event, sdramaddr_t wait,
                         int count);

/* ---- DMAs ---- */

void elan3_putdma(ELAN3_CTX *ctx, sdramaddr_t dma);
void elan3_putdma_main(ELAN3_CTX *ctx, E3_DMA_MAIN *dma, sdramaddr_t place);
void elan3_getdma(ELAN3_CTX *ctx, sdramaddr_t dma);
void elan3_getdma_main(ELAN3_CTX *ctx, E3_DMA_MAIN *dma, sdramaddr_t place);
/* Cookies tell DMAs from each other where packets are sent again; here they are the process's
 * number. */
E3_uint32 elan3_local_cookie(ELAN3_CTX *ctx, unsigned int from, unsigned int to);
E3_uint32 elan3_remote_cookie(ELAN3_CTX *ctx, unsigned int from, unsigned int to);

#ifdef __cplusplus
}
#endif

#endif
