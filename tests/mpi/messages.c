/* Messages a second: each rank exchanges 8-byte messages with its partner, rank ^ 1, and has no
 * other work.
 *
 *     mpiexec -n 64 ./messages [COUNT] [--no-order]
 *
 * COUNT exchanges (1000), each with a message in either direction. The program prints simulated
 * time; the command's wall time shows a simulator's speed.
 */
#include "check.h"

#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    require(ranks % 2 == 0, "%d processes: one would have no partner", ranks);
    long count = argc > 1 && argv[1][0] != '-' ? atol(argv[1]) : 1000;
    require(count > 0, "%s is no number of exchanges", argv[1]);
    int partner = rank ^ 1;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (long number = 0; number < count; number++) {
        int64_t out = number << 20 | rank, in = -1;
        MPI_Sendrecv(&out, 1, MPI_INT64_T, partner, 0, &in, 1, MPI_INT64_T, partner, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        require(in == (number << 20 | partner), "message %ld of %d is %lld", number, partner,
                (long long)in);
    }
    double own = MPI_Wtime() - begin, longest;
    MPI_Reduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    say("%ld messages", count * ranks);
    say_order("%.9f s, %.9f s an exchange", longest, longest / (double)count);
    return check_end();
}
