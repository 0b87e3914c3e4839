/* The version of the libraries whose calls these headers offer. Programs test it to choose between
 * older and newer forms of a call; Elanite has the newer forms. */
#ifndef ELAN_VERSION_H
#define ELAN_VERSION_H

#define QSNETLIBS_VERSION_STRING "1.8.0"
#define QSNETLIBS_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + (c))
#define QSNETLIBS_VERSION_CODE QSNETLIBS_VERSION(1, 8, 0)
#define ELAN_VERSION "1.8.0"

#endif
