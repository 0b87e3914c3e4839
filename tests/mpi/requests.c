/* Requests: many at a time, waited for in all ways, persistent, cancelled. */
#include "check.h"
#include "everything.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 8, ROOM = 40000 };

static char *out, *in;
static int left, right;

static int length_of(int number)
{
    static const int lengths[COUNT] = {0, 1, 100, 2000, 9000, 16384, 30000, ROOM};
    return lengths[number];
}

/* Receives from the left in ascending order, sends to the right in descending order: the tags
 * distinguish them. */
static void begin(MPI_Request *receives, MPI_Request *sends, int round)
{
    memset(in, 0, (size_t)COUNT * ROOM);
    for (int number = 0; number < COUNT; number++)
        MPI_Irecv(in + number * ROOM, length_of(number), MPI_BYTE, left, 50 + number,
                  MPI_COMM_WORLD, &receives[number]);
    for (int number = COUNT - 1; number >= 0; number--) {
        fill(out + number * ROOM, (size_t)length_of(number),
             key_of(rank, right, round * COUNT + number));
        MPI_Isend(out + number * ROOM, length_of(number), MPI_BYTE, right, 50 + number,
                  MPI_COMM_WORLD, &sends[number]);
    }
}

static void check_one(int number, int round)
{
    expect(in + number * ROOM, (size_t)length_of(number),
           key_of(left, rank, round * COUNT + number), "message of a request");
}

static void check_all(int round)
{
    for (int number = 0; number < COUNT; number++)
        check_one(number, round);
}

static void waits(void)
{
    MPI_Request receives[COUNT], sends[COUNT];
    MPI_Status statuses[COUNT];
    int index, indices[COUNT], seen = 0, over = 0, done;
    begin(receives, sends, 0);
    for (int count = 0; count < COUNT; count++) {
        MPI_Waitany(COUNT, receives, &index, &statuses[0]);
        require(index >= 0 && index < COUNT && !(seen & 1 << index), "waitany: request %d", index);
        require(statuses[0].MPI_TAG == 50 + index, "waitany: request %d with tag %d", index,
                statuses[0].MPI_TAG);
        seen |= 1 << index;
        say_order("  waitany %d", index);
    }
    MPI_Waitany(COUNT, receives, &index, MPI_STATUS_IGNORE);
    require(index == MPI_UNDEFINED, "waitany without requests: %d", index);
    MPI_Waitall(COUNT, sends, MPI_STATUSES_IGNORE);
    check_all(0);
    begin(receives, sends, 1);
    for (int count = 0; count < COUNT; count += done) {
        MPI_Waitsome(COUNT, receives, &done, indices, statuses);
        require(done > 0, "waitsome: %d requests", done);
        for (int place = 0; place < done; place++)
            say_order("  waitsome %d of %d", indices[place], done);
    }
    MPI_Waitall(COUNT, sends, MPI_STATUSES_IGNORE);
    check_all(1);
    section("waitany, waitsome");
    begin(receives, sends, 2);
    while (!over)
        MPI_Testall(COUNT, receives, &over, statuses);
    MPI_Waitall(COUNT, sends, MPI_STATUSES_IGNORE);
    check_all(2);
    begin(receives, sends, 3);
    for (int count = 0; count < COUNT; count += done) {
        MPI_Testany(COUNT, receives, &index, &over, MPI_STATUS_IGNORE);
        done = over && index != MPI_UNDEFINED;
    }
    for (int count = 0; count < COUNT; count += done)
        MPI_Testsome(COUNT, sends, &done, indices, statuses);
    check_all(3);
    section("testall, testany, testsome");
}

static void persistent(void)
{
    MPI_Request requests[2 * COUNT];
    for (int number = 0; number < COUNT; number++) {
        MPI_Recv_init(in + number * ROOM, length_of(number), MPI_BYTE, left, 60 + number,
                      MPI_COMM_WORLD, &requests[number]);
        MPI_Send_init(out + number * ROOM, length_of(number), MPI_BYTE, right, 60 + number,
                      MPI_COMM_WORLD, &requests[COUNT + number]);
    }
    for (int round = 4; round < 7; round++) {
        memset(in, 0, (size_t)COUNT * ROOM);
        for (int number = 0; number < COUNT; number++)
            fill(out + number * ROOM, (size_t)length_of(number),
                 key_of(rank, right, round * COUNT + number));
        MPI_Startall(2 * COUNT, requests);
        MPI_Waitall(2 * COUNT, requests, MPI_STATUSES_IGNORE);
        check_all(round);
    }
    for (int number = 0; number < 2 * COUNT; number++)
        MPI_Request_free(&requests[number]);
    section("persistent");
}

/* A receive without a match is cancelled; one that is matched later gets the message that is there.
 */
static void cancelled(void)
{
    MPI_Request request;
    MPI_Status status;
    int number = -1, flag = 0;
    MPI_Irecv(&number, 1, MPI_INT, left, 77, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    require(flag, "a receive without a message was not cancelled");
    MPI_Barrier(MPI_COMM_WORLD); /* no rank sends before all have cancelled */
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 77, &number, 1, MPI_INT, left, 77, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    require(number == left, "after the cancelled receive: %d from %d", number, left);
    /* Truncation is an error that the program receives. */
    int three[3] = {1, 2, 3}, code, class;
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    MPI_Isend(three, 3, MPI_INT, right, 78, copy, &request);
    code = MPI_Recv(&number, 1, MPI_INT, left, 78, copy, MPI_STATUS_IGNORE);
    MPI_Error_class(code, &class);
    require(class == MPI_ERR_TRUNCATE, "a message too long: error class %d", class);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
    section("cancel, truncate");
}

void requests(void)
{
    left = (rank + ranks - 1) % ranks;
    right = (rank + 1) % ranks;
    out = malloc((size_t)COUNT * ROOM);
    in = malloc((size_t)COUNT * ROOM);
    require(out && in, "there is no memory");
    waits();
    persistent();
    cancelled();
    free(out);
    free(in);
}
