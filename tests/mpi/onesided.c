/* One-sided communication: windows made in both ways, all three ways to synchronise. */
#include "check.h"
#include "everything.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 3000 };

/* Everybody puts to the right, reads from the left, and adds to rank 0, between fences. */
static void fences(int allocated)
{
    char *window, *out = malloc(BLOCK), *in = malloc(BLOCK);
    long *sum;
    MPI_Aint size = BLOCK * 2 + (MPI_Aint)sizeof *sum;
    MPI_Win win;
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    if (allocated) {
        MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    } else {
        window = malloc((size_t)size);
        MPI_Win_create(window, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    }
    require(out && in && window, "there is no memory");
    memset(window, 0, (size_t)size);
    sum = (long *)(window + BLOCK * 2); /* a multiple of eight */
    fill(window, BLOCK, key_of(rank, rank, allocated));
    fill(out, BLOCK, key_of(rank, right, allocated));
    MPI_Win_fence(0, win);
    long one = rank + 1;
    MPI_Put(out, BLOCK, MPI_BYTE, right, BLOCK, BLOCK, MPI_BYTE, win);
    MPI_Get(in, BLOCK, MPI_BYTE, left, 0, BLOCK, MPI_BYTE, win);
    MPI_Accumulate(&one, 1, MPI_LONG, 0, BLOCK * 2, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_fence(0, win);
    expect(window + BLOCK, BLOCK, key_of(left, rank, allocated), "put");
    expect(in, BLOCK, key_of(left, left, allocated), "get");
    require(*sum == (rank ? 0 : (long)ranks * (ranks + 1) / 2), "accumulate: the sum is %ld", *sum);
    digest(sum, sizeof *sum);
    /* Every second byte: a type on the far side. */
    MPI_Datatype sparse;
    MPI_Type_vector(BLOCK / 2, 1, 2, MPI_BYTE, &sparse);
    MPI_Type_commit(&sparse);
    memset(in, 0, BLOCK);
    MPI_Get(in, BLOCK / 2, MPI_BYTE, left, 0, 1, sparse, win);
    MPI_Win_fence(0, win);
    fill(out, BLOCK, key_of(left, left, allocated));
    for (int place = 0; place < BLOCK / 2; place++)
        require(in[place] == out[2 * place], "get of every second byte: byte %d", place);
    digest(in, BLOCK);
    MPI_Type_free(&sparse);
    MPI_Win_free(&win);
    if (!allocated)
        free(window);
    free(out);
    free(in);
    section(allocated ? "fence, window by allocate" : "fence, window by create");
}

/* Everybody draws a ticket from rank 0, and one gets the seat. */
static void locks(void)
{
    long *window, ticket = -1, one = 1, own = rank + 1, nobody = 0, seat = -1;
    MPI_Win win;
    MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    window[0] = window[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Fetch_and_op(&one, &ticket, MPI_LONG, 0, 0, MPI_SUM, win);
    MPI_Compare_and_swap(&own, &nobody, &seat, MPI_LONG, 0, 1, win);
    MPI_Win_unlock(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    /* Read before anybody can leave the gathering, and go on to the next epoch. */
    long tickets = window[0], sitting = window[1];
    long drawn[2] = {ticket, seat}, *all = malloc(sizeof drawn * (size_t)ranks), taken = 0;
    int *seen = calloc((size_t)ranks, sizeof *seen);
    require(all && seen, "there is no memory");
    MPI_Allgather(drawn, 2, MPI_LONG, all, 2, MPI_LONG, MPI_COMM_WORLD);
    for (int other = 0; other < ranks; other++)
        if (all[2 * other + 1] == 0)
            taken = other + 1;
    for (int other = 0; other < ranks; other++) {
        long theirs = all[2 * other], found = all[2 * other + 1];
        require(theirs >= 0 && theirs < ranks && !seen[theirs]++, "fetch_and_op: rank %d drew %ld",
                other, theirs);
        require(found == (other + 1 == taken ? 0 : taken), "compare_and_swap: rank %d found %ld",
                other, found);
        say_order("  rank %d drew %ld, found %ld", other, theirs, found);
    }
    require(rank > 0 || (tickets == ranks && sitting == taken), "the window holds %ld and %ld",
            tickets, sitting);
    /* Alone with the window, reading and writing back loses no update. */
    long number;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(&number, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Win_flush(0, win);
    number += 1000;
    MPI_Put(&number, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    require(rank > 0 || window[0] == 1001L * ranks, "under exclusive locks: %ld", window[0]);
    digest(&window[0], sizeof window[0]);
    free(all);
    free(seen);
    MPI_Win_free(&win);
    section("lock, fetch_and_op, compare_and_swap");
}

/* The left opens its window to this rank only: post and wait there, start and complete here. */
static void groups(void)
{
    char *window, out[BLOCK];
    MPI_Win win;
    MPI_Group world, of_left, of_right;
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Win_allocate(BLOCK, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &left, &of_left);
    MPI_Group_incl(world, 1, &right, &of_right);
    for (int round = 0; round < 3; round++) {
        memset(window, 0, BLOCK);
        fill(out, BLOCK, key_of(rank, left, round));
        MPI_Win_post(of_right, 0, win);
        MPI_Win_start(of_left, 0, win);
        MPI_Put(out, BLOCK, MPI_BYTE, left, 0, BLOCK, MPI_BYTE, win);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
        expect(window, BLOCK, key_of(right, rank, round), "put after start");
    }
    MPI_Group_free(&of_left);
    MPI_Group_free(&of_right);
    MPI_Group_free(&world);
    MPI_Win_free(&win);
    section("post, start, complete, wait");
}

void onesided(void)
{
    fences(0);
    fences(1);
    locks();
    groups();
}
