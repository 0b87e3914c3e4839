/* Fences of memory. */
#ifndef QSNET_FENCE_H
#define QSNET_FENCE_H

#define MEMBAR_LOADLOAD() __sync_synchronize()
#define MEMBAR_LOADSTORE() __sync_synchronize()
#define MEMBAR_STORELOAD() __sync_synchronize()
#define MEMBAR_STORESTORE() __sync_synchronize()
#define MEMBAR_SYNC() __sync_synchronize()

#endif
