/* Messages that are longer than their room, received in every way that MPI has: each is the error
 * MPI_ERR_TRUNCATE of its own call, with the message's source and tag, writes nothing beyond the
 * room, and takes the message away. Later messages are not affected. Rank 0 receives from the last
 * rank.
 */
#include "check.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20, GUARD = 64, TAG = 40, NEXT = 41, GO = 42 };

static unsigned char *bytes;

/* How a message is received into this many bytes of room: the error, and the status. */
typedef int (*Way)(int room, int from, int tag, MPI_Status *status);

static int by_recv(int room, int from, int tag, MPI_Status *status)
{
    return MPI_Recv(bytes, room, MPI_BYTE, from, tag, MPI_COMM_WORLD, status);
}

static int by_anybody(int room, int from, int tag, MPI_Status *status)
{
    (void)from, (void)tag;
    return MPI_Recv(bytes, room, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status);
}

static int by_irecv(int room, int from, int tag, MPI_Status *status)
{
    MPI_Request request;
    MPI_Irecv(bytes, room, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request);
    return MPI_Wait(&request, status);
}

static int by_waitall(int room, int from, int tag, MPI_Status *status)
{
    MPI_Request request;
    MPI_Irecv(bytes, room, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request);
    int error = MPI_Waitall(1, &request, status);
    require(error == MPI_ERR_IN_STATUS, "MPI_Waitall does not refer to the status");
    return status->MPI_ERROR;
}

static int by_test(int room, int from, int tag, MPI_Status *status)
{
    MPI_Request request;
    MPI_Irecv(bytes, room, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request);
    int done = 0, error = MPI_SUCCESS;
    while (!done && error == MPI_SUCCESS)
        error = MPI_Test(&request, &done, status);
    return error;
}

static int by_sendrecv(int room, int from, int tag, MPI_Status *status)
{
    return MPI_Sendrecv(bytes, 0, MPI_BYTE, MPI_PROC_NULL, 0, bytes, room, MPI_BYTE, from, tag,
                        MPI_COMM_WORLD, status);
}

static int by_persistent(int room, int from, int tag, MPI_Status *status)
{
    MPI_Request request;
    MPI_Recv_init(bytes, room, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    int error = MPI_Wait(&request, status);
    MPI_Request_free(&request);
    return error;
}

/* Every second byte of the room, so that it is not contiguous. */
static int by_vector(int room, int from, int tag, MPI_Status *status)
{
    MPI_Datatype type;
    MPI_Type_vector(room / 2, 1, 2, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    int error = MPI_Recv(bytes, 1, type, from, tag, MPI_COMM_WORLD, status);
    MPI_Type_free(&type);
    return error;
}

static int by_mrecv(int room, int from, int tag, MPI_Status *status)
{
    MPI_Message message;
    MPI_Mprobe(from, tag, MPI_COMM_WORLD, &message, status);
    return MPI_Mrecv(bytes, room, MPI_BYTE, &message, status);
}

static int by_imrecv(int room, int from, int tag, MPI_Status *status)
{
    MPI_Message message;
    MPI_Request request;
    int found = 0;
    while (!found)
        MPI_Improbe(from, tag, MPI_COMM_WORLD, &found, &message, status);
    MPI_Imrecv(bytes, room, MPI_BYTE, &message, &request);
    return MPI_Wait(&request, status);
}

static int by_probe(int room, int from, int tag, MPI_Status *status)
{
    MPI_Probe(from, tag, MPI_COMM_WORLD, status);
    return MPI_Recv(bytes, room, MPI_BYTE, status->MPI_SOURCE, status->MPI_TAG, MPI_COMM_WORLD,
                    status);
}

static const struct {
    const char *name;
    Way way;
} WAYS[] = {
    {"MPI_Recv", by_recv},
    {"MPI_Recv of anybody", by_anybody},
    {"MPI_Irecv, MPI_Wait", by_irecv},
    {"MPI_Waitall", by_waitall},
    {"MPI_Test", by_test},
    {"MPI_Sendrecv", by_sendrecv},
    {"MPI_Recv_init", by_persistent},
    {"MPI_Recv of a vector", by_vector},
    {"MPI_Mrecv", by_mrecv},
    {"MPI_Imrecv", by_imrecv},
    {"MPI_Probe, MPI_Recv", by_probe},
};

static void receive(const char *name, Way way, int size, int room, int late)
{
    int from = ranks - 1, class;
    MPI_Status status;
    memset(bytes, 0xA5, MOST + GUARD);
    memset(&status, 0, sizeof status);
    /* The message is there before, or comes after. */
    MPI_Send(NULL, 0, MPI_BYTE, from, GO, MPI_COMM_WORLD);
    if (late)
        MPI_Probe(from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int error = way(room, from, TAG, &status);
    MPI_Error_class(error, &class);
    require(class == MPI_ERR_TRUNCATE, "%s of %d bytes in %d: class %d, not %d", name, size, room,
            class, MPI_ERR_TRUNCATE);
    require(status.MPI_SOURCE == from, "%s of %d bytes in %d: source %d", name, size, room,
            status.MPI_SOURCE);
    require(status.MPI_TAG == TAG, "%s of %d bytes in %d: tag %d", name, size, room,
            status.MPI_TAG);
    for (int place = room; place < MOST + GUARD; place++)
        require(bytes[place] == 0xA5, "%s of %d bytes in %d: byte %d was written", name, size, room,
                place);
    /* The message is gone, and the next one is whole. */
    int error_next = MPI_Recv(bytes, size, MPI_BYTE, from, NEXT, MPI_COMM_WORLD, &status);
    require(error_next == MPI_SUCCESS, "%s of %d bytes in %d: the next message is lost", name, size,
            room);
    expect(bytes, (size_t)size, key_of(from, 0, size), "the next message");
    int left;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &left, MPI_STATUS_IGNORE);
    require(!left, "%s of %d bytes in %d: the message is still there", name, size, room);
}

static void give(int size)
{
    MPI_Request request;
    MPI_Recv(NULL, 0, MPI_BYTE, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    fill(bytes, (size_t)size, key_of(rank, 0, size));
    MPI_Isend(bytes, size, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send(bytes, size, MPI_BYTE, 0, NEXT, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const int SIZES[] = {8, 10 << 10, 64 << 10, MOST};
    check_begin(&argc, &argv, 2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    bytes = malloc(MOST + GUARD);
    require(bytes != NULL, "there is no memory");
    int cases = 0;
    for (size_t which = 0; which < sizeof WAYS / sizeof *WAYS; which++)
        for (size_t length = 0; length < sizeof SIZES / sizeof *SIZES; length++)
            for (int kind = 0; kind < 4; kind++) {
                int size = SIZES[length], room = kind & 1 ? size - 1 : size == 8 ? 2 : 8;
                if (rank == 0)
                    receive(WAYS[which].name, WAYS[which].way, size, room, kind / 2);
                else if (rank == ranks - 1)
                    give(size);
                cases++;
            }
    free(bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    say("%d messages too long", cases);
    section("truncated");
    return check_end();
}
