/* Reads the clock before and after each call. A line for each call: the rank, its name, and both
 * readings, in us. */
#include "check.h"

#include <mpi.h>
#include <stdio.h>

enum { MOST = 64, COUNT = 300 };

static const char *names[MOST];
static double begins[MOST], ends[MOST];
static int calls;

#define CLOCKED(name, call)                                                                        \
    do {                                                                                           \
        names[calls] = (name), begins[calls] = MPI_Wtime();                                        \
        require((call) == MPI_SUCCESS, name);                                                      \
        ends[calls++] = MPI_Wtime();                                                               \
    } while (0)

int main(int argc, char **argv)
{
    int in[COUNT] = {0}, out[COUNT] = {0}, flag = 0;
    MPI_Request requests[2];
    MPI_Comm world = MPI_COMM_WORLD;

    check_begin(&argc, &argv, 2);
    int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
    CLOCKED("MPI_Isend", MPI_Isend(out, COUNT, MPI_INT, next, 0, world, &requests[0]));
    CLOCKED("MPI_Irecv", MPI_Irecv(in, COUNT, MPI_INT, last, 0, world, &requests[1]));
    CLOCKED("MPI_Waitall", MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    MPI_Send_init(out, 1, MPI_INT, next, 1, world, &requests[0]);
    MPI_Recv_init(in, 1, MPI_INT, last, 1, world, &requests[1]);
    CLOCKED("MPI_Startall", MPI_Startall(2, requests));
    CLOCKED("MPI_Waitall", MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    CLOCKED("MPI_Barrier", MPI_Barrier(world));
    CLOCKED("MPI_Allreduce", MPI_Allreduce(out, in, COUNT, MPI_INT, MPI_SUM, world));
    CLOCKED("MPI_Isend", MPI_Isend(out, 1, MPI_INT, next, 2, world, &requests[0]));
    CLOCKED("MPI_Iprobe", MPI_Iprobe(last, 2, world, &flag, MPI_STATUS_IGNORE));
    CLOCKED("MPI_Recv", MPI_Recv(in, 1, MPI_INT, last, 2, world, MPI_STATUS_IGNORE));
    CLOCKED("MPI_Wait", MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    for (int call = 0; call < calls; call++)
        printf("%d %s %.6f %.6f\n", rank, names[call], 1e6 * (begins[call] - 1),
               1e6 * (ends[call] - 1));
    return check_end();
}
