/* Probes, while something else goes on, for messages that are sent a millisecond later. */
#define _DEFAULT_SOURCE /* usleep */
#include "check.h"

#include <unistd.h>

/* Rank 1's way to wait. */
enum { PROBE, MPROBE, RECEIVE, WAYS };

static double now(void)
{
    return MPI_Wtime() * 1e6;
}

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_Request barrier;
    MPI_Message message;
    MPI_Status status;
    for (int way = 0; way < 2 * WAYS; way++) {
        /* In the second half a collective operation goes on meanwhile, which needs the rank that
         * probes. */
        int both = way >= WAYS;
        MPI_Barrier(MPI_COMM_WORLD);
        if (both)
            MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
        double sent = 0;
        int number = -1;
        if (rank == 0) {
            if (both)
                MPI_Wait(&barrier, MPI_STATUS_IGNORE);
            usleep(1000);
            sent = now();
            MPI_Send(&way, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
            MPI_Send(&sent, 1, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD);
        } else if (rank == 1) {
            if (way % WAYS == PROBE)
                MPI_Probe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
            else if (way % WAYS == MPROBE)
                MPI_Mprobe(0, 5, MPI_COMM_WORLD, &message, &status);
            else
                MPI_Recv(&number, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &status);
            double seen = now();
            require(status.MPI_SOURCE == 0 && status.MPI_TAG == 5, "the probe of way", way);
            if (way % WAYS == PROBE)
                MPI_Recv(&number, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &status);
            else if (way % WAYS == MPROBE)
                MPI_Mrecv(&number, 1, MPI_INT, &message, &status);
            require(number == way, "the message of way", way);
            MPI_Recv(&sent, 1, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD, &status);
            printf("%.3f us\n", seen - sent);
        }
        if (both && rank)
            MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    }
    end();
    return 0;
}
