/* The place of <shmem.h> in older systems. */
#include <shmem.h>
