/* All ranks probe, no rank sends. */
#include "check.h"

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_Probe(MPI_ANY_SOURCE, rank, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    end();
    return 0;
}
