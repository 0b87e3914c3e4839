/* Messages from any rank, probes, send kinds, and derived types. */
#include "check.h"
#include "everything.h"

#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG = 70000, EACH = 3 };

/* The length of a message to the collector: short, middling and long, for each rank another. */
static int length_of(int from, int number)
{
    static const int lengths[EACH] = {0, 900, 20000};
    return lengths[number] + from % 7;
}

/* Rank 0 takes messages from any rank with any tag; those from one source come in sending order. */
static void collecting(void)
{
    enum { WIDTH = 16 };
    char *data = malloc(LONG), row[WIDTH * 16] = "";
    int *next = calloc((size_t)ranks, sizeof *next);
    require(data && next, "there is no memory");
    for (int number = 0; rank > 0 && number < EACH; number++) {
        fill(data, (size_t)length_of(rank, number), key_of(rank, 0, number));
        MPI_Send(data, length_of(rank, number), MPI_BYTE, 0, 10 + number, MPI_COMM_WORLD);
    }
    uint64_t together = 0;
    for (int count = 0; rank == 0 && count < EACH * (ranks - 1); count++) {
        MPI_Status status;
        int length;
        MPI_Recv(data, LONG, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &length);
        int from = status.MPI_SOURCE, number = status.MPI_TAG - 10;
        require(number == next[from]++, "message %d of rank %d overtook another", number, from);
        require(length == length_of(from, number), "message %d of rank %d has %d bytes", number,
                from, length);
        for (int place = 0; place < length; place++) /* in any order, the same sum */
            together += (uint64_t)(unsigned char)data[place] * (uint64_t)(from + 1);
        char *right = malloc(LONG);
        fill(right, (size_t)length, key_of(from, 0, number));
        require(memcmp(data, right, (size_t)length) == 0,
                "message %d of rank %d has the wrong content", number, from);
        free(right);
        snprintf(row + strlen(row), 16, " %d.%d", from, number);
        if (count % WIDTH == WIDTH - 1 || count == EACH * (ranks - 1) - 1) {
            say_order(" %s", row);
            row[0] = 0;
        }
    }
    digest(&together, sizeof together);
    free(next);
    free(data);
    MPI_Barrier(MPI_COMM_WORLD); /* or rank 0 might still take the next section's messages */
    section("any source, any tag");
}

/* A message's length is learnt before it is received: by waiting, by asking, and by taking it out
 * of the queue. */
static void probing(void)
{
    char *out = malloc(LONG), *in = malloc(LONG);
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    static const int lengths[] = {17, LONG, 300, 40000};
    require(out && in, "there is no memory");
    for (int kind = 0; kind < 4; kind++) {
        MPI_Request request;
        MPI_Status status;
        MPI_Message message;
        int length, there = 0;
        fill(out, (size_t)lengths[kind], key_of(rank, right, kind));
        MPI_Isend(out, lengths[kind], MPI_BYTE, right, 20 + kind, MPI_COMM_WORLD, &request);
        if (kind == 0)
            MPI_Probe(left, 20 + kind, MPI_COMM_WORLD, &status);
        else if (kind == 1)
            while (!there)
                MPI_Iprobe(MPI_ANY_SOURCE, 20 + kind, MPI_COMM_WORLD, &there, &status);
        else if (kind == 2)
            MPI_Mprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
        else
            while (!there)
                MPI_Improbe(left, 20 + kind, MPI_COMM_WORLD, &there, &message, &status);
        MPI_Get_count(&status, MPI_BYTE, &length);
        require(status.MPI_SOURCE == left && status.MPI_TAG == 20 + kind && length == lengths[kind],
                "probe %d: %d bytes from %d with tag %d", kind, length, status.MPI_SOURCE,
                status.MPI_TAG);
        if (kind < 2)
            MPI_Recv(in, length, MPI_BYTE, left, 20 + kind, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Mrecv(in, length, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        expect(in, (size_t)length, key_of(left, rank, kind), "probed message");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD); /* or the next message might be found by MPI_ANY_TAG */
    }
    int there = 1;
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    require(!there, "a message was found that nobody sent");
    free(out);
    free(in);
    section("probe, iprobe, mprobe, improbe");
}

/* Synchronous, ready and buffered sends, and both directions in one call. */
static void sends(void)
{
    enum { LENGTHS = 4 };
    static const int lengths[LENGTHS] = {0, 64, 5000, LONG};
    char *out = malloc(LONG), *in = malloc(LONG), *room = malloc(LONG + MPI_BSEND_OVERHEAD);
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    require(out && in && room, "there is no memory");
    for (int index = 0; index < LENGTHS; index++) {
        size_t size = (size_t)lengths[index];
        MPI_Request request;
        fill(out, size, key_of(rank, right, index));
        MPI_Sendrecv(out, lengths[index], MPI_BYTE, right, 30, in, lengths[index], MPI_BYTE, left,
                     30, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect(in, size, key_of(left, rank, index), "sendrecv");
        memset(in, 0, size);
        MPI_Irecv(in, lengths[index], MPI_BYTE, left, 31, MPI_COMM_WORLD, &request);
        MPI_Ssend(out, lengths[index], MPI_BYTE, right, 31, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect(in, size, key_of(left, rank, index), "ssend");
        memset(in, 0, size);
        MPI_Irecv(in, lengths[index], MPI_BYTE, left, 32, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD); /* a ready send needs a receive that is posted */
        MPI_Rsend(out, lengths[index], MPI_BYTE, right, 32, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect(in, size, key_of(left, rank, index), "rsend");
        memset(in, 0, size);
        int attached;
        MPI_Buffer_attach(room, LONG + MPI_BSEND_OVERHEAD);
        MPI_Bsend(out, lengths[index], MPI_BYTE, right, 33, MPI_COMM_WORLD);
        memset(out, 0, size); /* the buffer has it */
        MPI_Recv(in, lengths[index], MPI_BYTE, left, 33, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect(in, size, key_of(left, rank, index), "bsend");
        MPI_Buffer_detach(&room, &attached);
    }
    /* To oneself, and to MPI_PROC_NULL. */
    int number = 0;
    MPI_Sendrecv(&rank, 1, MPI_INT, rank, 34, &number, 1, MPI_INT, rank, 34, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    require(number == rank, "sendrecv with oneself: %d", number);
    MPI_Sendrecv(&rank, 1, MPI_INT, MPI_PROC_NULL, 34, &number, 1, MPI_INT, MPI_PROC_NULL, 34,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(out);
    free(in);
    free(room);
    section("sendrecv, ssend, rsend, bsend");
}

/* Sends a matrix's column, some blocks of an array, and records with gaps; the rest of the memory
 * stays as it was. */
static void types(void)
{
    enum { SIDE = 120, RECORDS = 500 };
    struct record {
        char letter;
        double number;
        int16_t pair[2];
    };
    static int matrix[SIDE][SIDE], got[SIDE][SIDE];
    static struct record records[RECORDS], copies[RECORDS];
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            matrix[row][column] = rank * SIDE * SIDE + row * SIDE + column;
            got[row][column] = -1;
        }
    MPI_Datatype column, blocks, loose, record;
    MPI_Type_vector(SIDE, 1, SIDE, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Sendrecv(&matrix[0][3], 1, column, right, 40, &got[0][5], 1, column, left, 40,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int row = 0; row < SIDE; row++)
        for (int at = 0; at < SIDE; at++) {
            int value = at == 5 ? left * SIDE * SIDE + row * SIDE + 3 : -1;
            require(got[row][at] == value, "vector: %d at %d, %d", got[row][at], row, at);
        }
    digest(got, sizeof got);
    int counts[] = {3, 1, 7, 1000}, starts[] = {0, 10, 50, 4000};
    MPI_Type_indexed(4, counts, starts, MPI_INT, &blocks);
    MPI_Type_commit(&blocks);
    memset(got, 0xFF, sizeof got);
    MPI_Sendrecv(matrix, 1, blocks, right, 41, got, 1, blocks, left, 41, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int at = 0; at < SIDE * SIDE; at++) {
        int within = 0;
        for (int block = 0; block < 4; block++)
            within |= starts[block] <= at && at < starts[block] + counts[block];
        int value = (&got[0][0])[at];
        require(value == (within ? left * SIDE * SIDE + at : -1), "indexed: %d at %d", value, at);
    }
    digest(got, sizeof got);
    int lengths[] = {1, 1, 2};
    MPI_Aint places[] = {offsetof(struct record, letter), offsetof(struct record, number),
                         offsetof(struct record, pair)};
    MPI_Datatype of[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT16_T};
    MPI_Type_create_struct(3, lengths, places, of, &loose);
    MPI_Type_create_resized(loose, 0, sizeof(struct record), &record);
    MPI_Type_commit(&record);
    for (int index = 0; index < RECORDS; index++)
        records[index] = (struct record){
            (char)('a' + index % 26), rank + index / 8.0, {(int16_t)index, (int16_t)rank}};
    MPI_Sendrecv(records, RECORDS, record, right, 42, copies, RECORDS, record, left, 42,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int index = 0; index < RECORDS; index++) {
        const struct record *copy = &copies[index];
        require(copy->letter == 'a' + index % 26 && copy->number == left + index / 8.0 &&
                    copy->pair[0] == index && copy->pair[1] == left,
                "struct: record %d is %c, %g, %d, %d", index, copy->letter, copy->number,
                copy->pair[0], copy->pair[1]);
        digest(&copy->number, sizeof copy->number);
    }
    /* Packed by hand, a column arrives as numbers in a row. */
    char packed[SIDE * sizeof(int) + 64];
    int place = 0, row[SIDE];
    MPI_Pack(&matrix[0][9], 1, column, packed, sizeof packed, &place, MPI_COMM_WORLD);
    MPI_Sendrecv(packed, place, MPI_PACKED, right, 43, row, SIDE, MPI_INT, left, 43, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int at = 0; at < SIDE; at++)
        require(row[at] == left * SIDE * SIDE + at * SIDE + 9, "pack: %d at %d", row[at], at);
    MPI_Datatype *all[] = {&column, &blocks, &loose, &record};
    for (int index = 0; index < 4; index++)
        MPI_Type_free(all[index]);
    section("vector, indexed, struct, packed");
}

void messages_and_types(void)
{
    collecting();
    probing();
    sends();
    types();
}
