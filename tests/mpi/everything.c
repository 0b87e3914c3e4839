/* Every MPI call kind that the simulated network has to carry, for two processes or more.
 *
 * Each section checks its received data, and ends with a line: its name and the digest over all
 * ranks' received data. Between them, the order in which messages arrived where the program leaves
 * it open, and the time; without these (--no-order) the output is the same on every machine, and
 * for every run.
 *
 *     mpiexec -n 64 ./everything --no-order
 */
#include "check.h"
#include "everything.h"

#include <mpi.h>

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    say("%d ranks", ranks);
    double begin = MPI_Wtime();
    collectives();
    messages_and_types();
    requests();
    onesided();
    MPI_Barrier(MPI_COMM_WORLD);
    require(MPI_Wtime() >= begin, "the clock went backwards");
    say_order("took %.9f s", MPI_Wtime() - begin);
    say("all is well");
    return check_end();
}
