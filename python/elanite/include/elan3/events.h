/* Events of the Elan3 adapter. An event lies in the adapter's memory. Its count says how often it
 * must be set before it occurs; its type says what the adapter does then: nothing, write a word or
 * a block of main memory, start a DMA. Programs reach events by calls only. */
#ifndef ELAN3_EVENTS_H
#define ELAN3_EVENTS_H

#include <elan3/types.h>

typedef struct E3_Event {
    E3_uint32 ev_Count;
    E3_uint32 ev_Type;
} E3_Event;

typedef struct E3_BlockCopyEvent {
    E3_uint32 ev_Count;
    E3_uint32 ev_Type;
    E3_uint32 ev_Source;
    E3_uint32 ev_Dest;
} E3_BlockCopyEvent;

typedef struct E3_WaitEvent0 {
    E3_uint32 ev_Count;
    E3_uint32 ev_Type;
    E3_uint32 ev_Next;
    E3_uint32 ev_NextCount;
} E3_WaitEvent0;

/* The block of main memory that a block copy event fills. */
typedef struct E3_Event_Blk {
    E3_uint8 eb_bytes[60];
    volatile E3_uint32 eb_done;
} E3_Event_Blk;

#define E3_RESET_BCOPY_BLOCK(block) ((void)((block)->eb_done = 0))

/* A queue of the adapter; Elanite has queues in Elanlib only. */
typedef struct E3_Queue {
    E3_uint32 q_state;
    E3_Addr q_bptr;
    E3_uint32 q_size;
    E3_Addr q_top;
    E3_Addr q_base;
    E3_Addr q_fptr;
    E3_Event q_event;
} E3_Queue;

#endif
