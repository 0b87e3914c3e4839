/* Elanlib for programs that run under "elanite prun" (docs/elan.md has a table of all calls). */
#ifndef ELAN_ELAN_H
#define ELAN_ELAN_H

#include <qsnet/config.h>
#include <qsnet/types.h>
#include <elan/version.h>
#include <elan/capability.h>
#include <elan/elanctrl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types ---- */

typedef unsigned int ELAN_FLAGS;
typedef struct ELAN_BASE ELAN_BASE;
typedef struct ELAN_STATE ELAN_STATE;
typedef struct ELAN_RAIL ELAN_RAIL;
typedef struct ELAN_GROUP ELAN_GROUP;
typedef struct ELAN_EVENT ELAN_EVENT;
typedef struct ELAN_TPORT ELAN_TPORT;
typedef struct ELAN_QUEUE ELAN_QUEUE;
/* Programs keep receiving queues in places for sending queues: one type. */
typedef struct ELAN_QUEUE_TX ELAN_QUEUE_TX;
typedef struct ELAN_QUEUE_TX ELAN_QUEUE_RX;
typedef struct ELAN_MAIN_QUEUE ELAN_MAIN_QUEUE;
typedef struct ELAN_PGCTRL ELAN_PGCTRL;
typedef struct ELAN_GALLOC ELAN_GALLOC;
typedef int LIBELAN_SHMKEY;

typedef int (*ELAN_POLLFN)(void *handle, unsigned int *ready);
typedef int (*ELAN_PROGFN)(void *handle);
typedef unsigned int (*ELAN_VPLOOKUPFN)(void *handle, unsigned int index);
/* Combines two vectors of *count elements; the second one becomes the result. */
typedef void (*ELAN_REDUCEFN)(void *in, void *inout, int *count, void *handle);

struct ELAN_RAIL {
    int rail_index;
    void *rail_ctx;
};

struct ELAN_STATE {
    char *version;
    int attached;
    unsigned int vp;  /* the number of this process */
    unsigned int nvp; /* how many processes there are */
    void *ctx;
    void *estate;
    ELAN_CAPABILITY *cap;
    void *alloc_base;
    size_t alloc_size;
    void *allocElan_base;
    size_t allocElan_size;
    int debugFlags;
    int localId;     /* which of the node's processes this is */
    int maxLocalIds; /* how many processes a node has at most */
    int nLocalIds;   /* how many processes this node has, and their numbers */
    int *localIds;
    int nrails;
    ELAN_RAIL **rail;
};

struct ELAN_GROUP {
    unsigned int self; /* the place of this process in the group */
    unsigned int size;
    ELAN_VPLOOKUPFN lookupFn; /* the number of a process, by handle and place */
    void *handle;
    void *reserved[4];
};

struct ELAN_BASE {
    int init;
    ELAN_STATE *state;
    ELAN_GROUP *allGroup;
    ELAN_GALLOC *galloc;
    ELAN_CAPABILITY *capabilities;
    int dmaType;
    int retryCount;
    long waitType;
    ELAN_FLAGS flags;
    ELAN_FLAGS group_flags;
    int group_branch;
    int group_rbufsize;
    int group_cbufsize;
    int group_maxsegs;
    int group_hwbcast;
    int tport_nslots;
    ELAN_FLAGS tport_flags;
    int tport_nqxd;
    size_t tport_smallmsg;
    size_t tport_bigmsg;
    size_t tport_stripemsg;
    size_t tport_fragsize;
    ELAN_FLAGS putget_flags;
    size_t putget_smallputsize;
    size_t putget_stripeputsize;
    size_t putget_stripegetsize;
    int putget_throttle;
    ELAN_FLAGS mqueue_flags;
    int mqueue_slotsize;
    int mqueue_nslots;
    ELAN_FLAGS lock_flags;
    ELAN_FLAGS galloc_flags;
    size_t galloc_size;
    size_t gallocElan_size;
    ELAN_FLAGS shm_flags;
    LIBELAN_SHMKEY shm_key;
    int shm_fifodepth;
    int shm_fragsize;
    int shm_bigmsg;
};

/* An event: something that is under way. Programs may make their own, with their own functions. */
struct ELAN_EVENT {
    void *handle;
    int (*pollFn)(ELAN_EVENT *event, long how);
    void (*waitFn)(ELAN_EVENT *event, long how);
    void (*freeFn)(ELAN_EVENT *event);
    ELAN_EVENT *next;
    int state;
    int reserved;
};

/* Memory of the adapter in which a destination event lies. */
typedef struct ELAN_EVENT_ELAN {
    uint64_t words[4];
} ELAN_EVENT_ELAN;

/* The memory of a queue, at the receiver. */
struct ELAN_QUEUE {
    uint64_t words[8];
};
#define ELAN_QUEUE_ALIGN 64

typedef struct ELAN_LOCK {
    int lp_type;
    unsigned int lp_master; /* the process in whose memory the words of the lock lie */
    uint64_t lp_words;      /* where they lie */
    uint64_t reserved[2];
} ELAN_LOCK;
#define ELAN_LOCK_ALIGN 32
#define _ELAN_LOCK_H 1

#if defined(__GNUC__)
extern ELAN_BASE *elan_base __attribute__((weak));
#else
extern ELAN_BASE *elan_base;
#endif

/* ---- Constants ---- */

/* Flags of a job. */
#define ELAN_EVICT_CACHE 1
#define ELAN_SHM_ENABLE 2
#define ELAN_TRAP_UNALIGNED 4
#define ELAN_MULTI_CONTEXT 8

/* Flags of Tports. */
#define ELAN_TPORT_TXSYNC 1     /* the send ends when it is matched */
#define ELAN_TPORT_RXBUF 2      /* the library may return a buffer of its own */
#define ELAN_TPORT_RXANY 4      /* masks of 0: any message */
#define ELAN_TPORT_RXPROBE 8    /* says which message has come, and leaves it there */
#define ELAN_TPORT_SHM_ENABLE 16

/* Flags of collective calls. */
#define ELAN_HWBCAST 1          /* in group_flags: hardware serves the group */
#define ELAN_GLOBAL_DEST 2      /* the buffer has the same address everywhere */
#define ELAN_RESULT_ALL 4       /* all processes get the result */
#define ELAN_REDUCE_COMMUTE 8   /* the function commutes */

#define ELAN_LOCK_NORMAL 0
#define ELAN_LOCK_BUSY 1
#define ELAN_LOCK_STATS 2

#define ELAN_PGVINIT 1
#define LIBELAN_QUEUEREUSEBUF 0x10000
#define LIBELAN_FINI_GROUP 1
#define LIBELAN_HAVE_FINI 1

/* Values of dmaType. */
#ifndef DMA_BYTE
#define DMA_BYTE 0
#define DMA_HALFWORD 1
#define DMA_WORD 2
#define DMA_DOUBLE 3
#endif

/* ---- Start and end ---- */

ELAN_BASE *elan_baseInit(ELAN_FLAGS flags);
ELAN_STATE *elan_init(ELAN_FLAGS flags);
int elan_attach(ELAN_STATE *state);
void elan_enable_network(ELAN_STATE *state);
void elan_disable_network(ELAN_STATE *state);
void elan_fini(ELAN_STATE *state, ELAN_GROUP *group, ELAN_FLAGS flags);
int elan_nRails(ELAN_STATE *state);
char *elan_version(void);
int elan_checkVersion(char *version);
/* Simulated time in nanoseconds. */
uint64_t elan_clock(ELAN_STATE *state);
/* A function that the library calls while it waits. */
void elan_addPollFn(ELAN_STATE *state, ELAN_POLLFN fn, void *handle);
void elan_addProgressFn(ELAN_STATE *state, ELAN_PROGFN fn, void *handle);
void elan_deviceCheck(ELAN_STATE *state);
int elan_vpIsLocal(ELAN_STATE *state, unsigned int vp);
#define ELAN_VPISLOCAL(state, vp) elan_vpIsLocal((state), (vp))

/* ---- Memory ---- */

/* Memory of the same address in all members of the group; all members call. */
void *elan_gallocMain(ELAN_BASE *base, ELAN_GROUP *group, size_t align, size_t size);
void *elan_gallocElan(ELAN_BASE *base, ELAN_GROUP *group, size_t align, size_t size);
void elan_gallocFree(ELAN_BASE *base, void *memory);
ELAN_GALLOC *elan_gallocVaddrCreate(ELAN_STATE *state, ELAN_ADDR at, size_t size, ELAN_FLAGS flags);
ELAN_ADDR elan_galloc(ELAN_GALLOC *galloc, ELAN_GROUP *group, size_t align, size_t size);
void *elan_allocMain(ELAN_STATE *state, size_t align, size_t size);
ADDR_SDRAM elan_allocElan(ELAN_STATE *state, size_t align, size_t size);
void elan_free(ELAN_STATE *state, void *memory);
void elan_freeElan(ELAN_STATE *state, ADDR_SDRAM memory);
ELAN_ADDR elan_main2elan(ELAN_STATE *state, const volatile void *memory);
void *elan_elan2main(ELAN_STATE *state, ELAN_ADDR at);
ADDR_SDRAM elan_elan2sdram(ELAN_STATE *state, ELAN_ADDR at);
ELAN_ADDR elan_sdram2elan(ELAN_STATE *state, ADDR_SDRAM memory);
int elan_addressable(ELAN_STATE *state, const volatile void *memory, size_t size);
int elan_addMapping(ELAN_STATE *state, void *memory, size_t size);

/* ---- Events ---- */

/* Whether what is under way has ended, after so many looks (-1: looks without end); if it has, the
 * event is gone. */
int elan_poll(ELAN_EVENT *event, long how);
/* Waits for the end; the event is gone then. */
void elan_wait(ELAN_EVENT *event, long how);
/* As elan_poll, but the event stays. */
int elan_done(ELAN_EVENT *event, long how);
/* One event for both. */
ELAN_EVENT *elan_link(ELAN_EVENT *one, ELAN_EVENT *other);
/* An event that has occurred. */
ELAN_EVENT *elan_nullEvent(ELAN_STATE *state);
/* An event at the destination of puts: it occurs after so many of them. elan_wait and elan_poll
 * leave it there. */
ELAN_EVENT *elan_initEvent(ELAN_STATE *state, ELAN_RAIL *rail, ELAN_EVENT_ELAN *memory, int set);
void elan_setWaitCount(ELAN_EVENT *event, int count);
ELAN_ADDR elan_destEvent(ELAN_EVENT *event);
int elan_devent_completed(int set, ELAN_EVENT *event);
/* Whether a word is not 0, after so many looks; and the wait for that. */
int elan_pollWord(ELAN_STATE *state, ELAN_RAIL *rail, EVENT_WORD *word, long how);
void elan_waitWord(ELAN_STATE *state, ELAN_RAIL *rail, void *event, EVENT_WORD *word, long how);

/* ---- Tports ---- */

typedef struct ELAN_TPORTSTATS {
    uint64_t ts_dRxBytes, ts_bRxBytes, ts_txBytes;
    uint64_t ts_txrBytes[2];
    uint64_t ts_ndRx, ts_nbRx, ts_nTx;
    uint64_t ts_nShmRx, ts_nShmTx, ts_nFragRx, ts_nFragTx;
    uint64_t ts_nTxDesc, ts_nRxDesc, ts_nSyncDesc, ts_nShmDesc;
    uint64_t ts_nBuf, ts_bufBytes, ts_bufAllocFail;
    uint64_t ts_nRxWaitSleep, ts_nTxWaitSleep;
    uint64_t ts_nTxSmall, ts_nTxBig, ts_nTxBigSync, ts_nTxPsycho;
    uint64_t ts_nTxFragDesc, ts_nRxFragDesc;
    uint64_t ts_txBin[64]; /* messages by length: bin i has those below 2 to the power of i + 1 */
} ELAN_TPORTSTATS;

ELAN_TPORT *elan_tportInit(ELAN_STATE *state, ELAN_QUEUE *queue, int nslots, size_t smallmsg,
                           size_t bigmsg, size_t stripemsg, long waitType, int retryCount,
                           LIBELAN_SHMKEY *shm_key, int shm_fifodepth, int shm_fragsize,
                           ELAN_FLAGS flags);
ELAN_EVENT *elan_tportTxStart(ELAN_TPORT *tport, ELAN_FLAGS flags, unsigned int destvp, int sender,
                              int tag, const void *buffer, size_t size);
/* Bits of the sender and of the tag that a mask has must be equal; a mask of 0 takes anything. */
ELAN_EVENT *elan_tportRxStart(ELAN_TPORT *tport, ELAN_FLAGS flags, int sendermask, int sender,
                              int tagmask, int tag, void *buffer, size_t size);
int elan_tportTxDone(ELAN_EVENT *event);
int elan_tportRxDone(ELAN_EVENT *event);
int elan_tportRxPoll(ELAN_EVENT *event, long how);
void elan_tportTxWait(ELAN_EVENT *event);
void *elan_tportRxWait(ELAN_EVENT *event, int *sender, int *tag, size_t *size);
void elan_tportBufFree(ELAN_TPORT *tport, void *buffer);
void elan_tportGetStats(ELAN_TPORT *tport, ELAN_TPORTSTATS *stats);

/* ---- Queues ---- */

ELAN_QUEUE *elan_gallocQueue(ELAN_BASE *base, ELAN_GROUP *group);
ELAN_QUEUE *elan_allocQueue(ELAN_STATE *state);
int elan_queueMaxSlotSize(ELAN_STATE *state);
ELAN_QUEUE_RX *elan_queueRxInit(ELAN_STATE *state, ELAN_QUEUE *queue, int nslots, int slotsize,
                                int rail, ELAN_FLAGS flags);
ELAN_QUEUE_TX *elan_queueTxInit(ELAN_STATE *state, ELAN_QUEUE *queue, int rail, ELAN_FLAGS flags);
ELAN_EVENT *elan_queueTx(ELAN_QUEUE_TX *queue, unsigned int destvp, const void *buffer, size_t size,
                         int rail);
int elan_queueRxPoll(ELAN_QUEUE_RX *queue, long how);
/* Waits for a message: copies it into the buffer, or returns where it lies until
 * elan_queueRxComplete or the next wait. */
void *elan_queueRxWait(ELAN_QUEUE_RX *queue, void *buffer, long how);
void elan_queueRxComplete(ELAN_QUEUE_RX *queue);
/* The older form: one queue for both directions. */
ELAN_MAIN_QUEUE *elan_mainQueueInit(ELAN_STATE *state, ELAN_QUEUE *queue, int nslots, int slotsize,
                                    ELAN_FLAGS flags);
void elan_queueReq(ELAN_MAIN_QUEUE *queue, unsigned int destvp, const void *buffer, size_t size);
int elan_queueHaveReq(ELAN_MAIN_QUEUE *queue);
void elan_queueWait(ELAN_MAIN_QUEUE *queue, void *buffer, long how);

/* ---- Put and get ---- */

typedef struct ELAN_PUTGETSTATS {
    uint64_t pgs_nPut, pgs_nGet, pgs_putBytes, pgs_getBytes;
} ELAN_PUTGETSTATS;

/* A put of up to putget_smallputsize bytes is copied at once. */
ELAN_EVENT *elan_put(ELAN_STATE *state, const volatile void *from, volatile void *to, size_t size,
                     unsigned int destvp);
ELAN_EVENT *elan_get(ELAN_STATE *state, const volatile void *from, volatile void *to, size_t size,
                     unsigned int vp);
ELAN_PGCTRL *elan_putgetInit(ELAN_STATE *state, void *memory, size_t smallputsize,
                             size_t stripeputsize, size_t stripegetsize, int throttle,
                             ELAN_FLAGS flags);
/* With an event at the destination, if it is not 0 (elan_destEvent). */
ELAN_EVENT *elan_doput(ELAN_PGCTRL *pgctrl, const volatile void *from, volatile void *to,
                       ELAN_ADDR event, size_t size, unsigned int destvp, int rail);
ELAN_EVENT *elan_doget(ELAN_PGCTRL *pgctrl, const volatile void *from, volatile void *to,
                       size_t size, unsigned int vp, int rail);
size_t elan_pgvGlobalMemSize(ELAN_STATE *state);
/* Vectors: count pieces of one length. */
ELAN_EVENT *elan_putv(ELAN_PGCTRL *pgctrl, void *from[], void *to[], size_t size, int count,
                      unsigned int destvp);
ELAN_EVENT *elan_getv(ELAN_PGCTRL *pgctrl, void *from[], void *to[], size_t size, int count,
                      unsigned int vp);
/* Strides: count[0] bytes, count[1] times at a distance of stride[0], and so on for so many levels
 * of strides. */
ELAN_EVENT *elan_putss(void *pgctrl, void *from, void *to, int *fromStrides, int *toStrides,
                       unsigned int *count, unsigned int levels, unsigned int destvp);
ELAN_EVENT *elan_getss(void *pgctrl, void *from, void *to, int *fromStrides, int *toStrides,
                       unsigned int *count, unsigned int levels, unsigned int vp);
int elan_pgsGlobalMemSize(ELAN_STATE *state);
void elan_putWaitAll(ELAN_STATE *state, long how);
void elan_getWaitAll(ELAN_STATE *state, long how);
void elan_putgetGetStats(ELAN_STATE *state, ELAN_PUTGETSTATS *stats);

/* ---- Locks ---- */

int elan_lockInit(ELAN_STATE *state, ELAN_LOCK *lock, int type);
void elan_lockLock(ELAN_STATE *state, ELAN_LOCK *lock, int how);
void elan_lockUnLock(ELAN_STATE *state, ELAN_LOCK *lock);

/* ---- Groups ---- */

typedef struct ELAN_GROUPSTATS {
    uint64_t gs_bcastBytes, gs_hbcastBytes, gs_bcastBytesNet, gs_bcastBytesShm;
    uint64_t gs_reduce_internalBytes, gs_reduce_internalBytesNet, gs_reduce_internalBytesShm;
    uint64_t gs_nReduceI, gs_nReduceIShm;
    uint64_t gs_nGsync, gs_nHGsync, gs_nGsyncShm;
    uint64_t gs_nBcast, gs_nHBcast, gs_nBcastShm;
    uint64_t gs_nGather, gs_nGatherBytes;
} ELAN_GROUPSTATS;

/* A call of Elanite's own: the group of these processes, all of which call. */
ELAN_GROUP *elan_group(ELAN_BASE *base, const unsigned int *vps, unsigned int count);
void elan_gsync(ELAN_GROUP *group);
void elan_hgsync(ELAN_GROUP *group);
void elan_hgsyncevent(ELAN_GROUP *group);
void elan_bcast(ELAN_GROUP *group, void *buffer, size_t size, unsigned int root, ELAN_FLAGS flags);
void elan_hbcast(ELAN_GROUP *group, void *buffer, size_t size, unsigned int root, ELAN_FLAGS flags);
void elan_reduce(ELAN_GROUP *group, void *from, void *to, size_t elemsize, int nelem,
                 ELAN_REDUCEFN fn, void *handle, int unused, int reserved, ELAN_FLAGS flags,
                 unsigned int root);
/* Each process's bytes at the root, in the order of the places. */
void elan_gather(ELAN_GROUP *group, const void *from, void *to, size_t size, unsigned int root,
                 ELAN_FLAGS flags);
/* Each process's bytes for each process, all blocks of one length; or of lengths of their own, at
 * places of their own. */
void elan_alltoall(ELAN_GROUP *group, const void *from, void *to, size_t size, ELAN_FLAGS flags);
void elan_alltoalls(ELAN_GROUP *group, const void *from, const size_t *fromSizes,
                    const size_t *fromPlaces, void *to, const size_t *toSizes,
                    const size_t *toPlaces, ELAN_FLAGS flags);
void elan_groupGetStats(ELAN_GROUP *group, ELAN_GROUPSTATS *stats);

#ifdef __cplusplus
}
#endif

#endif
