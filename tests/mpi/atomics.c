/* MPI's atomic operations on a rank that computes: their results, and each kind's time, which rank
 * 0 writes. */
#define _DEFAULT_SOURCE
#include "check.h"

#include <mpi.h>
#include <string.h>
#include <unistd.h>

static MPI_Win window;
static void *memory;

/* Rank 0 changes a word in rank 1, which computes meanwhile for a millisecond. */
static void change(const char *name, MPI_Datatype type, MPI_Op op, const void *word,
                   const void *operand, const void *want)
{
    int size;
    double start;

    MPI_Type_size(type, &size);
    if (rank == 1)
        memcpy(memory, word, size);
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    if (rank == 0) {
        MPI_Accumulate(operand, 1, type, 1, 0, 1, type, op, window);
        MPI_Win_flush(1, window);
    } else if (rank == 1) {
        usleep(1000);
    }
    say_order("%s %.2f", name, 1e6 * (MPI_Wtime() - start));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
    require(rank != 1 || !memcmp(memory, want, size), "%s", name);
}

#define CHANGE(name, type, mpi, op, word, operand, want) \
    change(name, mpi, op, &(type){word}, &(type){operand}, &(type){want})

/* All ranks raise rank 0's counter: by comparison, by addition, and with the results of a fetch. */
static void count(int rounds)
{
    long one = 1, zero = 0, now, next, old, seen = -1, *counter = memory;
    int round;

    if (rank == 0)
        counter[1] = 0;
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    for (round = 0; round < rounds; round++) {
        do {
            MPI_Fetch_and_op(&zero, &now, MPI_LONG, 0, 8, MPI_NO_OP, window);
            MPI_Win_flush(0, window);
            next = now + 1;
            MPI_Compare_and_swap(&next, &now, &old, MPI_LONG, 0, 8, window);
            MPI_Win_flush(0, window);
        } while (old != now);
        MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 8, MPI_SUM, window);
        MPI_Win_flush(0, window);
        require(old > seen, "a fetch of %ld after one of %ld", old, seen);
        seen = old;
        MPI_Accumulate(&one, 1, MPI_LONG, 0, 8, 1, MPI_LONG, MPI_SUM, window);
    }
    MPI_Win_flush(0, window);
    /* A rank's accumulates on one word come in order, by adapter or by host. */
    long three = 3, last[1] = {100 + rank}, got;
    int target = (rank + 1) % ranks;
    MPI_Accumulate(&last, 1, MPI_LONG, target, 16, 1, MPI_LONG, MPI_REPLACE, window);
    MPI_Accumulate(&three, 1, MPI_LONG, target, 16, 1, MPI_LONG, MPI_PROD, window);
    MPI_Fetch_and_op(&one, &got, MPI_LONG, target, 16, MPI_SUM, window);
    MPI_Win_flush(target, window);
    require(got == 3 * last[0], "%ld instead of %ld", got, 3 * last[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
    require(rank != 0 || counter[1] == 3L * rounds * ranks, "the counter is %ld", counter[1]);
    require(counter[2] == 3 * (100 + (rank + ranks - 1) % ranks) + 1, "the product is %ld",
            counter[2]);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_lock_all(0, window);
    CHANGE("add int", int, MPI_INT, MPI_SUM, 5, -7, -2);
    CHANGE("xor long", long, MPI_LONG, MPI_BXOR, 5, 7, 2);
    CHANGE("replace double", double, MPI_DOUBLE, MPI_REPLACE, 5, 7.5, 7.5);
    CHANGE("multiply int", int, MPI_INT, MPI_PROD, -5, 7, -35);
    CHANGE("add double", double, MPI_DOUBLE, MPI_SUM, 1.5, 2.25, 3.75);
    CHANGE("larger float", float, MPI_FLOAT, MPI_MAX, 1.5f, 2.25f, 2.25f);
    CHANGE("smaller unsigned", unsigned, MPI_UNSIGNED, MPI_MIN, 0xffffffffu, 7, 7);
    CHANGE("and long", long, MPI_LONG, MPI_LAND, 5, 0, 0);
    CHANGE("add short", short, MPI_SHORT, MPI_SUM, 5, 7, 12);
    count(5);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    return check_end();
}
