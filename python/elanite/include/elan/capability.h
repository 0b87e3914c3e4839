/* Capabilities say which processes make up a job, and where each of them is: nodes, contexts of the
 * adapters, rails. */
#ifndef ELAN_CAPABILITY_H
#define ELAN_CAPABILITY_H

#include <qsnet/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ELAN_CAP_TYPE_BLOCK 1
#define ELAN_CAP_TYPE_CYCLIC 2
#define ELAN_CAP_TYPE_MASK 0xf
#define ELAN_CAP_TYPE_NO_BITMAP 0x20
#define ELAN_CAP_TYPE_MULTI_RAIL 0x40
#define ELAN_CAP_TYPE_BROADCASTABLE 0x80
#define ELAN_CAP_TYPE_HWTEST 0x100

#define ELAN_USER_BASE_CONTEXT_NUM 0x400
#define ELAN_USER_TOP_CONTEXT_NUM 0x7ff
#define ELAN_CAP_UNINITIALISED (-1)
#define ELAN_MAX_RAILS 31
#define ELAN_INVALID_PROCESS 0xffff
#define ELAN_INVALID_NODE 0xffff

typedef struct ELAN_USERKEY {
    unsigned int key_values[4];
} ELAN_USERKEY;

typedef struct ELAN_CAPABILITY {
    ELAN_USERKEY cap_userkey;
    int cap_version;
    unsigned int cap_type;
    int cap_lowcontext;
    int cap_highcontext;
    int cap_mycontext;
    int cap_lownode;
    int cap_highnode;
    unsigned int cap_railmask;
    unsigned int cap_bitmap[16];
} ELAN_CAPABILITY;

typedef struct ELAN_LOCATION {
    int loc_node;
    int loc_context;
} ELAN_LOCATION;

#define ELAN_CAP_NUM_NODES(cap) ((cap)->cap_highnode - (cap)->cap_lownode + 1)
#define ELAN_CAP_NUM_CONTEXTS(cap) ((cap)->cap_highcontext - (cap)->cap_lowcontext + 1)
#define ELAN_CAP_ENTRIES(cap) (ELAN_CAP_NUM_NODES(cap) * ELAN_CAP_NUM_CONTEXTS(cap))

void elan_nullcap(ELAN_CAPABILITY *cap);
/* The capability that the starter of the job gave for a rail; 0 if there is one, or else -1. */
int elan_getenvCap(ELAN_CAPABILITY *cap, int rail);
/* Writes a capability into a string, which it returns. */
char *elan_capability_string(ELAN_CAPABILITY *cap, char *text);
/* Makes the capability that a string such as N3C1024-1025-1030N0-7R1b names the job's own. In a
 * simulation the job has one already: the string must be well formed, and says nothing. */
int elan_generateCapability(char *text);

/* How many processes there are; how many of them a node has, at most or in truth; and their
 * numbers. */
int elan_nvps(ELAN_CAPABILITY *cap);
int elan_nlocal(int node, ELAN_CAPABILITY *cap);
int elan_maxlocal(ELAN_CAPABILITY *cap);
int elan_localvps(int node, ELAN_CAPABILITY *cap, int *vps, int size);
int elan_nrails(ELAN_CAPABILITY *cap);
int elan_rails(ELAN_CAPABILITY *cap, int *rails);
ELAN_LOCATION elan_vp2location(unsigned int vp, ELAN_CAPABILITY *cap);
int elan_location2vp(ELAN_LOCATION location, ELAN_CAPABILITY *cap);

#ifdef __cplusplus
}
#endif

#endif
