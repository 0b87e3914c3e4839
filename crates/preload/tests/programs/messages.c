/* Messages with all lengths and kinds between the two ranks in each pair. */
#include "check.h"

enum { LONGEST = 5 << 20 };

static unsigned char *out, *in;
static int other;

static void there_and_back(int length)
{
    double start = MPI_Wtime();
    for (int turn = 0; turn < 2; turn++) {
        if ((turn + rank) % 2 == 0)
            MPI_Send(out, length, MPI_BYTE, other, 1, MPI_COMM_WORLD);
        else
            MPI_Recv(in, length, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    expect(in, length, other, "ping of length");
    if (rank == 0)
        printf("%d bytes: %.3f us\n", length, (MPI_Wtime() - start) * 5e5);
}

static void kinds(int length)
{
    MPI_Request request[2];
    MPI_Status status;
    MPI_Message message;
    int count, there = 0;
    MPI_Irecv(in, length, MPI_BYTE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &request[0]);
    MPI_Issend(out, length, MPI_BYTE, other, 2, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    expect(in, length, other, "synchronous message of length");

    MPI_Isend(out, length, MPI_BYTE, other, 3, MPI_COMM_WORLD, &request[0]);
    MPI_Probe(other, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    require(count == length && status.MPI_TAG == 3, "probe of length", length);
    memset(in, 0, (size_t)length);
    MPI_Recv(in, length, MPI_BYTE, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(in, length, other, "probed message of length");
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);

    MPI_Isend(out, length, MPI_BYTE, other, 4, MPI_COMM_WORLD, &request[0]);
    while (!there)
        MPI_Improbe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &there, &message, &status);
    memset(in, 0, (size_t)length);
    MPI_Iprobe(other, 4, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    require(!there, "a second message after an improbe of length", length);
    MPI_Mrecv(in, length, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    expect(in, length, other, "claimed message of length");
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
}

/* Every third byte: a list with more pieces than the provider takes. */
static void types(void)
{
    MPI_Datatype third;
    MPI_Request request;
    MPI_Type_vector(1000, 1, 3, MPI_BYTE, &third);
    MPI_Type_commit(&third);
    memset(in, 0, 3000);
    MPI_Irecv(in, 1, third, other, 5, MPI_COMM_WORLD, &request);
    MPI_Send(out, 1, third, other, 5, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int place = 0; place < 2998; place++)
        require(in[place] == (place % 3 ? 0 : byte(place, other)), "byte of a type", place);
    MPI_Type_free(&third);
    MPI_Datatype halves;
    MPI_Type_vector(2, 4000, 6000, MPI_BYTE, &halves);
    MPI_Type_commit(&halves);
    memset(in, 0, 10000);
    MPI_Irecv(in, 1, halves, other, 6, MPI_COMM_WORLD, &request);
    MPI_Send(out, 1, halves, other, 6, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(in, 4000, other, "first half of a type");
    require(in[4000] == 0 && in[6000] == byte(6000, other), "second half of a type", 0);
    MPI_Type_free(&halves);
}

static void failures(void)
{
    MPI_Request request;
    MPI_Status status;
    int flag;
    MPI_Irecv(in, 1, MPI_BYTE, other, 7, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    require(flag, "a cancelled receive", 0);

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Irecv(in, 10, MPI_BYTE, other, 8, MPI_COMM_WORLD, &request);
    MPI_Send(out, 11, MPI_BYTE, other, 8, MPI_COMM_WORLD);
    int error = MPI_Wait(&request, MPI_STATUS_IGNORE), class = MPI_SUCCESS;
    MPI_Error_class(error, &class);
    require(class == MPI_ERR_TRUNCATE, "the error of a message too long", class);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int count, char **words)
{
    begin(&count, &words);
    other = rank ^ 1;
    out = malloc(LONGEST);
    in = malloc(LONGEST);
    fill(out, LONGEST, rank);
    for (long length = 0; length <= LONGEST; length = length ? 5 * length + 2 : 1) {
        there_and_back((int)length);
        kinds((int)length);
    }
    types();
    failures();
    long sum = rank, all = 0;
    MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    require(2 * all == (long)ranks * (ranks - 1), "a sum", all);
    end();
    return 0;
}
