/* Collective operations over all ranks, and over communicators made from them. */
#include "check.h"
#include "everything.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 96 };

static char *memory(size_t size)
{
    char *bytes = malloc(size ? size : 1);
    require(bytes != NULL, "there is no memory for %zu bytes", size);
    return bytes;
}

static void broadcasts(void)
{
    static const int sizes[] = {0, 1, 8, 1000, 4096, 65536, 100000};
    int roots[] = {0, ranks / 2, ranks - 1};
    char *data = memory(100000);
    for (int at = 0; at < 3; at++) {
        for (int number = 0; number < 7; number++) {
            uint64_t key = key_of(roots[at], 0, number);
            size_t size = (size_t)sizes[number];
            memset(data, 0, size);
            if (rank == roots[at])
                fill(data, size, key);
            MPI_Bcast(data, sizes[number], MPI_BYTE, roots[at], MPI_COMM_WORLD);
            expect(data, size, key, "bcast");
        }
    }
    free(data);
    section("bcast");
}

static void reductions(void)
{
    /* Whole numbers, small enough that doubles hold every sum exactly, in any order of additions.
     */
    enum { COUNT = 1000 };
    static int whole[COUNT], sum[COUNT], most[COUNT];
    static double real[COUNT], real_sum[COUNT], least[COUNT];
    long total = (long)ranks * (ranks - 1) / 2;
    for (int index = 0; index < COUNT; index++) {
        whole[index] = rank + index;
        real[index] = rank * 0.5 - index;
    }
    MPI_Allreduce(whole, sum, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(whole, most, COUNT, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(real, real_sum, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(real, least, COUNT, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    for (int index = 0; index < COUNT; index++) {
        require(sum[index] == total + (long)ranks * index, "allreduce: a sum of int is %d",
                sum[index]);
        require(most[index] == ranks - 1 + index, "allreduce: the most of int is %d", most[index]);
        require(real_sum[index] == (double)total * 0.5 - (double)ranks * index,
                "allreduce: a sum is %g", real_sum[index]);
        require(least[index] == -index, "allreduce: the least is %g", least[index]);
    }
    digest(sum, sizeof sum);
    digest(real_sum, sizeof real_sum);
    section("allreduce");
    int root = ranks - 1, prefix = 0, before = -1;
    memset(sum, 0, sizeof sum);
    MPI_Reduce(whole, sum, COUNT, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    for (int index = 0; rank == root && index < COUNT; index++)
        require(sum[index] == total + (long)ranks * index, "reduce: a sum is %d", sum[index]);
    digest(sum, sizeof sum);
    MPI_Scan(&rank, &prefix, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    require(prefix == rank * (rank + 1) / 2, "scan: the sum is %d", prefix);
    MPI_Exscan(&rank, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    require(rank == 0 || before == rank * (rank - 1) / 2, "exscan: the sum is %d", before);
    digest(&prefix, sizeof prefix);
    section("reduce and scan");
}

static void exchanges(void)
{
    size_t whole = (size_t)ranks * BLOCK;
    char *out = memory(whole), *in = memory(whole);
    for (int to = 0; to < ranks; to++)
        fill(out + (size_t)to * BLOCK, BLOCK, key_of(rank, to, 1));
    MPI_Alltoall(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
    for (int from = 0; from < ranks; from++)
        expect(in + (size_t)from * BLOCK, BLOCK, key_of(from, rank, 1), "alltoall");
    section("alltoall");
    /* Each pair has another length, some pairs 0. */
    int *counts = calloc(4 * (size_t)ranks, sizeof *counts);
    require(counts != NULL, "there is no memory for the counts");
    int *starts = counts + ranks, *expected = starts + ranks, *places = expected + ranks;
    memset(in, 0, whole);
    for (int other = 0; other < ranks; other++) {
        starts[other] = places[other] = other * BLOCK;
        counts[other] = (rank + 2 * other) % (BLOCK + 1);
        expected[other] = (other + 2 * rank) % (BLOCK + 1);
    }
    MPI_Alltoallv(out, counts, starts, MPI_BYTE, in, expected, places, MPI_BYTE, MPI_COMM_WORLD);
    for (int from = 0; from < ranks; from++)
        expect(in + places[from], (size_t)expected[from], key_of(from, rank, 1), "alltoallv");
    section("alltoallv");
    free(counts);
    memset(in, 0, whole);
    MPI_Allgather(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
    for (int from = 0; from < ranks; from++)
        expect(in + (size_t)from * BLOCK, BLOCK, key_of(from, 0, 1), "allgather");
    section("allgather");
    int root = ranks / 2;
    memset(in, 0, whole);
    MPI_Gather(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, root, MPI_COMM_WORLD);
    for (int from = 0; rank == root && from < ranks; from++)
        expect(in + (size_t)from * BLOCK, BLOCK, key_of(from, 0, 1), "gather");
    memset(in, 0, whole);
    MPI_Scatter(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, root, MPI_COMM_WORLD);
    expect(in, BLOCK, key_of(root, rank, 1), "scatter");
    section("gather and scatter");
    free(out);
    free(in);
}

static void nonblocking(void)
{
    int sum = 0, one = 1;
    char data[5000];
    uint64_t key = key_of(0, 0, 7);
    MPI_Request requests[3];
    fill(data, rank == 0 ? sizeof data : 0, key);
    MPI_Ibcast(data, sizeof data, MPI_BYTE, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    require(sum == ranks, "iallreduce: a sum of ones is %d", sum);
    expect(data, sizeof data, key, "ibcast");
    section("nonblocking collectives");
}

static void communicators(void)
{
    MPI_Comm half, copy;
    int own, size, sum = 0, expected = 0, received = -1, left, right;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half); /* in reverse order */
    MPI_Comm_rank(half, &own);
    MPI_Comm_size(half, &size);
    require(size == (ranks + !(rank % 2)) / 2, "split: a half of %d ranks", size);
    require(own == size - 1 - rank / 2, "split: rank %d of %d", own, size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
    for (int other = rank % 2; other < ranks; other += 2)
        expected += other;
    require(sum == expected, "allreduce in a half: %d, not %d", sum, expected);
    digest(&sum, sizeof sum);
    /* The same tag in two communicators is two messages. */
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Request requests[4];
    int world = rank, other = 1000 + rank, from_world, from_copy;
    right = (rank + 1) % ranks;
    left = (rank + ranks - 1) % ranks;
    MPI_Irecv(&from_copy, 1, MPI_INT, left, 5, copy, &requests[0]);
    MPI_Irecv(&from_world, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&world, 1, MPI_INT, right, 5, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&other, 1, MPI_INT, right, 5, copy, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    require(from_world == left && from_copy == 1000 + left, "dup: %d and %d from %d", from_world,
            from_copy, left);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
    /* A line of ranks; the ends have no neighbour beyond. */
    MPI_Comm cart;
    int period = 0;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &period, 0, &cart);
    MPI_Cart_shift(cart, 0, 1, &left, &right);
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 0, &received, 1, MPI_INT, left, 0, cart,
                 MPI_STATUS_IGNORE);
    require(received == (rank ? rank - 1 : -1), "cart: %d from the left", received);
    digest(&received, sizeof received);
    MPI_Comm_free(&cart);
    section("communicators");
}

void collectives(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    section("barrier");
    broadcasts();
    reductions();
    exchanges();
    nonblocking();
    communicators();
}
