/* MPI begun and ended several times in one process, by sessions, in the way that the argument
 * names:
 *
 *   rounds    all ranks, again and again
 *   overlap   with two sessions at a time
 *   world     after MPI_Init and MPI_Finalize
 *   some      every second rank has a session more between the rounds
 *   late      rank 0 comes later than the others, by a sleep, to where all meet
 *   deadlock  rank 0 waits in its second session for a message that is never sent
 *   exit      rank 1 exits with code 5 in its second session
 *
 * In each round, all send a message around the rank ring, and the time that they see continues.
 */
#define _DEFAULT_SOURCE /* usleep */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks;
static double last;

static void require(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "error: rank %d: %s\n", rank, what);
    exit(9);
}

static MPI_Session begin(void)
{
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    require(MPI_Wtime() >= last, "time has gone back");
    last = MPI_Wtime();
    return session;
}

static MPI_Comm all_of(MPI_Session session)
{
    MPI_Group group;
    MPI_Comm comm;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "tests/mpi/sessions.c", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                               &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    return comm;
}

static void ring(MPI_Comm comm, int round)
{
    int sent = 1000 * round + rank, before = (rank + ranks - 1) % ranks, got = -1;
    MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % ranks, round, &got, 1, MPI_INT, before, round,
                 comm, MPI_STATUS_IGNORE);
    require(got == 1000 * round + before, "a message of another round");
    require(MPI_Wtime() > last, "a message takes no time");
    last = MPI_Wtime();
    if (rank == 0) {
        printf("round %d\n", round);
        fflush(stdout);
    }
}

static void one(int round)
{
    MPI_Session session = begin();
    MPI_Comm comm = all_of(session);
    ring(comm, round);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "rounds";
    int rounds = 3;
    MPI_Session session, other;
    MPI_Comm comm;

    if (!strcmp(how, "world")) {
        MPI_Init(NULL, NULL);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        ring(MPI_COMM_WORLD, 9);
        MPI_Finalize();
    }
    if (!strcmp(how, "late")) {
        const char *name = getenv("PMI_RANK");
        session = begin();
        if (name && !strcmp(name, "0"))
            usleep(5000);
        comm = all_of(session);
        ring(comm, 0);
        if (name)
            require(MPI_Wtime() > 0.005, "nobody waited for rank 0");
        MPI_Comm_free(&comm);
        MPI_Session_finalize(&session);
        rounds = 1;
    }
    for (int round = 1; round <= rounds; round++) {
        if (!strcmp(how, "overlap")) {
            session = begin();
            other = begin();
            comm = all_of(other);
            MPI_Session_finalize(&session);
            ring(comm, round);
            MPI_Comm_free(&comm);
            MPI_Session_finalize(&other);
            continue;
        }
        one(round);
        if (!strcmp(how, "some") && rank % 2) {
            session = begin();
            usleep(1000 * (useconds_t)rank);
            MPI_Session_finalize(&session);
        }
        if (!strcmp(how, "deadlock")) {
            session = begin();
            comm = all_of(session);
            if (rank == 0)
                MPI_Recv(NULL, 0, MPI_INT, 1, 7, comm, MPI_STATUS_IGNORE);
            MPI_Comm_free(&comm);
            MPI_Session_finalize(&session);
            return 0;
        }
        if (!strcmp(how, "exit") && rank == 1) {
            session = begin();
            exit(5);
        }
        /* Between sessions there is time, too. */
        usleep(100);
    }
    return 0;
}
