/* The machine that programs are compiled for. Elanite's ranks are processes of Linux on machines of
 * 64 bits. */
#ifndef QSNET_CONFIG_H
#define QSNET_CONFIG_H

#define QSNET_LINUX 1

#endif
