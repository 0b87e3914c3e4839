/* Messages to and from the last rank, whose cable has died, in a program that handles errors: each
 * call fails, and the others continue among themselves. Every rank sleeps until 10 ms, when the
 * last rank is no longer reachable.
 *
 *   handler [returns|function|fatal|late|collective|posted|probe]
 *
 *   returns      MPI_ERRORS_RETURN (default)
 *   function     the handler is a program function
 *   fatal        no handler: the first error ends the program
 *   late         the cable dies while rank 0 sends again and again
 *   collective   a sum over all ranks, which ends the program with --collectives mpi
 *   posted       a nonblocking barrier and broadcast, with --collectives hardware or elan
 *   probe        MPI_Probe, alone
 */
#define _DEFAULT_SOURCE /* usleep */
#include "check.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 20000, SHORT = 8 };

static char out[LONG], in[LONG];
static int last, failures;

/* Whether the handler is a function, and the error for which it was called last. MPICH returns no
 * handler then. */
static int own, handled;

static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    handled = *code;
}

/* The call must have failed, and its error must name the lost message and the last rank's cable, if
 * there is room. */
static void loses(const char *what, const char *call, int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int class, length;
    if (own && handled)
        code = handled;
    handled = 0;
    require(code != MPI_SUCCESS, "%s has not failed", call);
    MPI_Error_class(code, &class);
    require(class == MPI_ERR_OTHER, "%s has failed with an error of class %d", call, class);
    MPI_Error_string(code, text, &length);
    char node[64];
    snprintf(node, sizeof node, "cable from node %d", last);
    require(strstr(text, what) && (strstr(text, node) || length > 500), "%s: %s", call, text);
    failures++;
    if (rank == 0 && failures == 1)
        fprintf(stderr, "%s\n", text);
}

/* The same for a message to or from the last rank, or from it. */
static void fails(const char *call, int code)
{
    char named[64];
    snprintf(named, sizeof named, "rank %d of the run cannot be reached", rank == last ? 0 : last);
    loses(named, call, code);
}

/* Messages between the remaining ranks, all around. */
static void ring(int round)
{
    int to = (rank + 1) % last, from = (rank + last - 1) % last;
    fill(out, LONG, key_of(rank, to, round));
    int code = MPI_Sendrecv(out, LONG, MPI_CHAR, to, 9, in, LONG, MPI_CHAR, from, 9, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE);
    require(code == MPI_SUCCESS, "the ranks that are left do not reach each other");
    expect(in, LONG, key_of(from, rank, round), "message of the ring");
}

static void single(int peer)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request request, persistent[2];
    fails("MPI_Send", MPI_Send(out, LONG, MPI_CHAR, peer, 1, world));
    fails("MPI_Send of a short message", MPI_Send(out, SHORT, MPI_CHAR, peer, 1, world));
    fails("MPI_Ssend", MPI_Ssend(out, LONG, MPI_CHAR, peer, 1, world));
    fails("MPI_Recv", MPI_Recv(in, LONG, MPI_CHAR, peer, 1, world, MPI_STATUS_IGNORE));
    fails("MPI_Sendrecv", MPI_Sendrecv(out, LONG, MPI_CHAR, peer, 1, in, LONG, MPI_CHAR, peer, 1,
                                       world, MPI_STATUS_IGNORE));
    MPI_Isend(out, LONG, MPI_CHAR, peer, 1, world, &request);
    fails("MPI_Wait for MPI_Isend", MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Irecv(in, LONG, MPI_CHAR, peer, 1, world, &request);
    fails("MPI_Wait for MPI_Irecv", MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Irecv(in, LONG, MPI_CHAR, peer, 1, world, &request);
    int flag = 0, code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && !flag && !handled)
        code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    fails("MPI_Test for MPI_Irecv", code);
    MPI_Send_init(out, LONG, MPI_CHAR, peer, 1, world, &persistent[0]);
    MPI_Recv_init(in, LONG, MPI_CHAR, peer, 1, world, &persistent[1]);
    for (int times = 0; times < 2; times++) {
        MPI_Startall(2, persistent);
        fails("MPI_Wait for MPI_Send_init", MPI_Wait(&persistent[0], MPI_STATUS_IGNORE));
        fails("MPI_Wait for MPI_Recv_init", MPI_Wait(&persistent[1], MPI_STATUS_IGNORE));
    }
    MPI_Request_free(&persistent[0]);
    MPI_Request_free(&persistent[1]);
}

/* Messages with the last rank and with another one, at a time: only those with the last rank fail.
 */
static void several(void)
{
    enum { BOTH = 4 };
    int other = (rank + 1) % last, from = (rank + last - 1) % last;
    static char mine[LONG], theirs[LONG];
    MPI_Request requests[BOTH];
    MPI_Status statuses[BOTH];
    fill(mine, LONG, key_of(rank, other, 77));
    MPI_Irecv(theirs, LONG, MPI_CHAR, from, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(mine, LONG, MPI_CHAR, other, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, LONG, MPI_CHAR, last, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Irecv(in, LONG, MPI_CHAR, last, 2, MPI_COMM_WORLD, &requests[3]);
    for (int index = 0, done = 0; done < BOTH; done++) {
        int code = MPI_Waitany(BOTH, requests, &index, statuses);
        if (index < 2)
            require(code == MPI_SUCCESS && !handled, "request %d has failed", index);
        else
            fails("MPI_Waitany", code);
    }
    expect(theirs, LONG, key_of(from, rank, 77), "message beside those that fail");
    MPI_Irecv(in, LONG, MPI_CHAR, last, 2, MPI_COMM_WORLD, &requests[0]);
    int code = MPI_Waitall(1, requests, statuses);
    if (own)
        code = handled;
    handled = 0;
    require(code == MPI_ERR_IN_STATUS, "MPI_Waitall has ended with %d", code);
    fails("status of MPI_Waitall", statuses[0].MPI_ERROR);
}

/* Calls by all ranks that Elanlib carries out. The group has lost a member, so they fail at all
 * ranks. */
static void posted(void)
{
    const char *what = "the collective operation is lost";
    MPI_Request requests[2];
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    loses(what, "MPI_Wait for MPI_Ibarrier", MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    MPI_Ibcast(in, LONG, MPI_CHAR, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]);
    for (int one = 0; one < 2; one++) {
        int index;
        loses(what, "MPI_Waitany", MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE));
    }
}

static void late(void)
{
    int code = MPI_SUCCESS, rounds = 0;
    while (code == MPI_SUCCESS && rank == 0) {
        code = MPI_Send(out, LONG, MPI_CHAR, last, 1, MPI_COMM_WORLD);
        rounds++;
    }
    while (code == MPI_SUCCESS && rank == last) {
        code = MPI_Recv(in, LONG, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        rounds++;
    }
    require(rank != 0 || rounds > 2, "the cable was down at once");
    if (rank == 0 || rank == last)
        fails(rank ? "MPI_Recv" : "MPI_Send", code);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "returns";
    check_begin(&argc, &argv, 4);
    last = ranks - 1;
    MPI_Errhandler handler = MPI_ERRORS_RETURN;
    own = strcmp(how, "function") == 0;
    if (own)
        MPI_Comm_create_errhandler(handle, &handler);
    if (strcmp(how, "fatal") != 0)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (strcmp(how, "late") == 0)
        late();
    usleep(10000);
    if (strcmp(how, "collective") == 0) {
        int one = 1, sum = 0;
        int code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        require(code != MPI_SUCCESS, "the sum has not failed");
        failures++;
    } else if (strcmp(how, "posted") == 0) {
        posted();
    } else if (strcmp(how, "probe") == 0) {
        MPI_Status status;
        fails("MPI_Probe", MPI_Probe(rank == last ? 0 : last, 1, MPI_COMM_WORLD, &status));
    } else if (strcmp(how, "late") != 0) {
        single(rank == last ? 0 : last);
        if (rank != last)
            several();
    }
    if (rank != last)
        for (int round = 0; round < 5; round++)
            ring(round);
    say("%d errors, and on", failures);
    if (own)
        MPI_Errhandler_free(&handler);
    return check_end();
}
