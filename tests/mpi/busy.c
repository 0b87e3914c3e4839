/* Programs that wait without blocking: the clock has to go on for them.
 *
 * Polls MPI_Wtime, then clock_gettime, until a millisecond has passed; sleeps by nanosleep and
 * usleep; polls MPI_Test and MPI_Iprobe for messages that are sent a millisecond later. Every wait
 * must last at least as long as it should.
 */
#define _DEFAULT_SOURCE /* usleep */
#include "check.h"

#include <mpi.h>
#include <time.h>
#include <unistd.h>

static const double MILLISECOND = 1e-3;

static void waited(const char *how, double begin)
{
    double elapsed = MPI_Wtime() - begin;
    require(elapsed >= 0.999 * MILLISECOND, "%s: a millisecond took %.9f s", how, elapsed);
    say_order("%s %.9f s", how, elapsed);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* From rank 0 to all others, a millisecond after the barrier. */
static void late(int number)
{
    struct timespec millisecond = {0, 1000000};
    nanosleep(&millisecond, NULL);
    for (int other = 1; other < ranks; other++)
        MPI_Send(&number, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    double begin = MPI_Wtime();
    while (MPI_Wtime() - begin < MILLISECOND)
        continue;
    waited("MPI_Wtime", begin);
    begin = MPI_Wtime();
    double other = now();
    while (now() - other < MILLISECOND)
        continue;
    waited("clock_gettime", begin);
    begin = MPI_Wtime();
    struct timespec millisecond = {0, 1000000};
    nanosleep(&millisecond, NULL);
    waited("nanosleep", begin);
    begin = MPI_Wtime();
    usleep(1000);
    waited("usleep", begin);
    for (int probing = 0; probing < 2; probing++) {
        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        int number = -1, there = 0;
        long polls = 0;
        if (rank == 0) {
            late(probing);
        } else if (probing) {
            for (; !there; polls++)
                MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
            MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Request request;
            MPI_Irecv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
            for (; !there; polls++)
                MPI_Test(&request, &there, MPI_STATUS_IGNORE);
        }
        require(rank == 0 || (number == probing && polls > 0), "received %d after %ld polls",
                number, polls);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    say("all is well");
    return check_end();
}
