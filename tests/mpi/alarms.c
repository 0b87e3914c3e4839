/* Timers that ring while a rank waits in a call that blocks: alarms KIND. No message comes to rank
 * 0 any more; the others wait for rank 0. Its timer's handler ends the program by _exit or, with
 * KIND m, by MPI_Abort; with k there is no handler. Rank 0 waits in MPI_Recv, with n in MPI_Wait,
 * and with b in a barrier. With r the timer rings again, and its fifth ring ends the program. */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t rung;
static char kind;

static void on(int number)
{
    (void)number;
    rung++;
    if (kind == 'r' && rung < 5)
        return;
    printf("%d at %.0f us\n", (int)rung, 1e6 * (MPI_Wtime() - 1));
    fflush(stdout);
    if (kind == 'm')
        MPI_Abort(MPI_COMM_WORLD, 7);
    _exit(7);
}

int main(int argc, char **argv)
{
    int rank, token = 0;
    MPI_Request request;
    struct itimerval span = {{0, 0}, {0, 300000}};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    kind = argc > 1 ? argv[1][0] : 'x';
    if (rank == 0) {
        if (kind != 'k') /* else the signal kills the process */
            signal(SIGALRM, on);
        if (kind == 'r')
            span.it_interval.tv_usec = 300000;
        setitimer(ITIMER_REAL, &span, NULL);
    }
    if (rank == 0 && kind == 'n') {
        MPI_Irecv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank != 0 || kind != 'b') {
        MPI_Recv(&token, 1, MPI_INT, rank == 0 ? 1 : 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
