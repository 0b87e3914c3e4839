/* The device of the adapters: what programs ask about it, and where a node stands in the network.
 */
#ifndef ELAN_ELANCTRL_H
#define ELAN_ELANCTRL_H

#include <elan/capability.h>

enum { ELAN_POS_UNKNOWN, ELAN_POS_MODE_SWITCHED, ELAN_POS_MODE_LOOPBACK, ELAN_POS_MODE_BACKTOBACK };

typedef struct ELAN_POSITION {
    unsigned int pos_mode;
    unsigned int pos_nodeid;
    unsigned int pos_levels;
    unsigned int pos_nodes;
} ELAN_POSITION;

typedef struct ELAN_DEVINFO {
    unsigned short dev_vendor_id;
    unsigned short dev_device_id;
    unsigned char dev_revision_id;
    unsigned char dev_instance;
    unsigned char dev_rail;
} ELAN_DEVINFO;

#endif
