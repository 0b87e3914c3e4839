/* Every rank receives from its right neighbour, and no rank sends: natively, this waits for ever.
 */
#include "check.h"

#include <mpi.h>

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    int number = -1;
    MPI_Recv(&number, 1, MPI_INT, (rank + 1) % ranks, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    require(0, "received %d, which nobody sent", number);
    return check_end();
}
