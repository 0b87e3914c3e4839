/* Typical parallel programs, each in a few messages, for tests that compare a whole run's time.
 *
 *     mpiexec -n 8 ./patterns PATTERN
 *
 * PATTERN: ping, halo, collectives, vectors, gradient, farm, any, probe, polls, tests, groups,
 * window, fences, scoped, passive, flag, shared
 */
#include "check.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1 << 18, CELLS = 256, ROUNDS = 10 };

static char *out, *in;

/* Rank pairs exchange messages, short and long ones. */
static void ping(void)
{
    int other = rank ^ 1;
    if (other >= ranks)
        return;
    for (int size = 1; size <= LONGEST; size *= 8)
        for (int round = 0; round < 3; round++)
            for (int turn = 0; turn < 2; turn++)
                if ((rank & 1) == turn)
                    MPI_Send(out, size, MPI_BYTE, other, size, MPI_COMM_WORLD);
                else
                    MPI_Recv(in, size, MPI_BYTE, other, size, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Both neighbours at once, by requests. */
static void exchange(int size)
{
    MPI_Request requests[4];
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Irecv(in, size, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in + size, size, MPI_BYTE, right, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, size, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(out + size, size, MPI_BYTE, left, 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void halo(void)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int size = 64; size <= LONGEST / 2; size *= 32)
            exchange(size);
}

static void collectives(void)
{
    for (int size = 8; size <= LONGEST / 16; size *= 16) {
        MPI_Allreduce(out, in, size / 8, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(out, size, MPI_BYTE, 1 % ranks, MPI_COMM_WORLD);
        MPI_Alltoall(out, size / ranks, MPI_BYTE, in, size / ranks, MPI_BYTE, MPI_COMM_WORLD);
        MPI_Allgather(out, size / ranks, MPI_BYTE, in, size / ranks, MPI_BYTE, MPI_COMM_WORLD);
        MPI_Reduce(out, in, size / 8, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Collective operations in which ranks give and take different amounts, and some that do not block.
 */
static void vectors(void)
{
    int counts[64], places[64], total = 0;
    MPI_Request requests[2];
    require(ranks <= 64, "there are at most 64 ranks");
    for (int i = 0; i < ranks; i++) {
        counts[i] = 700 * (i + 1);
        places[i] = total;
        total += counts[i];
    }
    for (int round = 0; round < ROUNDS / 2; round++) {
        MPI_Gatherv(out, counts[rank], MPI_BYTE, in, counts, places, MPI_BYTE, round % ranks,
                    MPI_COMM_WORLD);
        MPI_Scatterv(out, counts, places, MPI_BYTE, in, counts[rank], MPI_BYTE, round % ranks,
                     MPI_COMM_WORLD);
        MPI_Allgatherv(out, counts[rank], MPI_BYTE, in, counts, places, MPI_BYTE, MPI_COMM_WORLD);
        MPI_Scan(out, in, 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Ibcast(out, 5000, MPI_BYTE, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Iallreduce(out + 5000, in, 20, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

/* Conjugate gradients for the second difference on a ring, with cells on all ranks in turn. */
static void gradient(void)
{
    double x[CELLS] = {0}, r[CELLS], p[CELLS + 2], q[CELLS];
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    double own = 0, rho, sum;
    for (int i = 0; i < CELLS; i++) {
        r[i] = p[i + 1] = (rank * CELLS + i) % 7 - 3;
        own += r[i] * r[i];
    }
    MPI_Allreduce(&own, &rho, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double first = rho;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Sendrecv(&p[CELLS], 1, MPI_DOUBLE, right, 0, &p[0], 1, MPI_DOUBLE, left, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&p[1], 1, MPI_DOUBLE, left, 0, &p[CELLS + 1], 1, MPI_DOUBLE, right, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        own = 0;
        for (int i = 0; i < CELLS; i++) {
            q[i] = 3 * p[i + 1] - p[i] - p[i + 2];
            own += p[i + 1] * q[i];
        }
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        double alpha = rho / sum, before = rho;
        own = 0;
        for (int i = 0; i < CELLS; i++) {
            x[i] += alpha * p[i + 1];
            r[i] -= alpha * q[i];
            own += r[i] * r[i];
        }
        MPI_Allreduce(&own, &rho, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < CELLS; i++)
            p[i + 1] = r[i] + rho / before * p[i + 1];
    }
    require(rho < first / 1000, "the residual is %g, and was %g", rho, first);
}

/* Rank 0 gives work to asking ranks, by wild cards. */
static void farm(void)
{
    enum { WORK = 40, SIZE = 3000 };
    MPI_Status status;
    if (rank > 0) {
        for (;;) {
            MPI_Send(out, 8 * rank, MPI_BYTE, 0, rank, MPI_COMM_WORLD);
            MPI_Recv(in, SIZE, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            if (status.MPI_TAG == 0)
                return;
        }
    }
    for (int work = 0, working = ranks - 1; working > 0; work++) {
        MPI_Recv(in, SIZE, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Send(out, SIZE, MPI_BYTE, status.MPI_SOURCE, work < WORK, MPI_COMM_WORLD);
        working -= work >= WORK;
    }
}

/* Every rank serves all others' messages as they come, and answers each, by requests. */
static void any(void)
{
    enum { MOST = 64 };
    MPI_Request requests[MOST], sends[MOST], answers[MOST];
    int others = ranks - 1, place;
    require(others <= MOST, "there are at most %d ranks", MOST + 1);
    for (int round = 0; round < ROUNDS; round++) {
        int size = 40 << round;
        for (int i = 0; i < others; i++) {
            int other = (rank + i + 1) % ranks;
            MPI_Irecv(in + i * size, size, MPI_BYTE, other, 1, MPI_COMM_WORLD, &requests[i]);
            MPI_Irecv(in + LONGEST - 8, 8, MPI_BYTE, other, 2, MPI_COMM_WORLD, &answers[i]);
            MPI_Isend(out, size >> (rank + i) % 4, MPI_BYTE, other, 1, MPI_COMM_WORLD, &sends[i]);
        }
        for (int i = 0; i < others; i++) {
            MPI_Waitany(others, requests, &place, MPI_STATUS_IGNORE);
            MPI_Send(out, 8, MPI_BYTE, (rank + place + 1) % ranks, 2, MPI_COMM_WORLD);
        }
        MPI_Waitall(others, sends, MPI_STATUSES_IGNORE);
        MPI_Waitall(others, answers, MPI_STATUSES_IGNORE);
    }
}

/* Messages with a length that only the sender knows. */
static void probe(void)
{
    MPI_Status status;
    MPI_Request request;
    MPI_Message message;
    for (int round = 0; round < ROUNDS; round++) {
        int size = 100 * (round + 1), found;
        MPI_Isend(out, size, MPI_BYTE, (rank + 1) % ranks, round, MPI_COMM_WORLD, &request);
        if (round % 2) {
            MPI_Probe(MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_BYTE, &found);
            MPI_Recv(in, found, MPI_BYTE, status.MPI_SOURCE, round, MPI_COMM_WORLD, &status);
        } else {
            MPI_Mprobe(MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &message, &status);
            MPI_Get_count(&status, MPI_BYTE, &found);
            MPI_Mrecv(in, found, MPI_BYTE, &message, &status);
        }
        require(found == size, "%d bytes, and not %d", found, size);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* A ring in which each rank polls for its message, and a neighbour sends after a while. */
static void polls(void)
{
    MPI_Status status;
    MPI_Request request;
    for (int round = 0; round < ROUNDS; round++) {
        int size = 100 * (round + 1), there = 0;
        MPI_Isend(out, size, MPI_BYTE, (rank + 1) % ranks, round, MPI_COMM_WORLD, &request);
        while (!there)
            MPI_Iprobe(MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &there, &status);
        MPI_Recv(in, size, MPI_BYTE, status.MPI_SOURCE, round, MPI_COMM_WORLD, &status);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* The same by requests that are tested. */
static void tests(void)
{
    MPI_Request requests[2];
    for (int round = 0; round < ROUNDS; round++) {
        int size = 100 * (round + 1), there = 0;
        MPI_Irecv(in, size, MPI_BYTE, (rank + ranks - 1) % ranks, round, MPI_COMM_WORLD,
                  &requests[0]);
        MPI_Isend(out, size, MPI_BYTE, (rank + 1) % ranks, round, MPI_COMM_WORLD, &requests[1]);
        while (!there)
            MPI_Testall(2, requests, &there, MPI_STATUSES_IGNORE);
    }
}

/* Nonblocking collective operations in several communicators, tested and awaited. */
static void groups(void)
{
    MPI_Comm half, copy;
    MPI_Request requests[2];
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    for (int round = 0; round < ROUNDS; round++) {
        int there = 0, size = 16 << round;
        MPI_Iallreduce(out, in, size, MPI_INT64_T, MPI_SUM, half, &requests[0]);
        MPI_Ibarrier(copy, &requests[1]);
        while (!there)
            MPI_Testall(2, requests, &there, MPI_STATUSES_IGNORE);
        MPI_Ibcast(out, size, MPI_BYTE, round % ranks, copy, &requests[0]);
        MPI_Iallgather(out + LONGEST / 2, size, MPI_BYTE, in, size, MPI_BYTE, half, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
}

/* Puts, gets and accumulates, short and long ones, between fences. */
static void fences(void)
{
    MPI_Win win;
    long one = 1;
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Win_create(in, LONGEST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    for (int size = 8; size <= LONGEST / 4; size *= 8) {
        MPI_Put(out, size, MPI_BYTE, right, 0, size, MPI_BYTE, win);
        MPI_Get(out + LONGEST / 2, size, MPI_BYTE, left, LONGEST / 2, size, MPI_BYTE, win);
        MPI_Accumulate(&one, 1, MPI_LONG, 0, LONGEST - 64, 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_fence(0, win);
    }
    MPI_Win_free(&win);
}

/* Both neighbours' windows, by post, start, complete and wait. */
static void scoped(void)
{
    MPI_Win win;
    MPI_Group world, pair;
    int both[2] = {(rank + ranks - 1) % ranks, (rank + 1) % ranks};
    MPI_Win_create(in, LONGEST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, ranks > 2 ? 2 : 1, both, &pair);
    for (int round = 0; round < ROUNDS; round++) {
        int size = 64 << round;
        MPI_Win_post(pair, 0, win);
        MPI_Win_start(pair, 0, win);
        MPI_Put(out, size, MPI_BYTE, both[0], 0, size, MPI_BYTE, win);
        MPI_Get(out + size, size, MPI_BYTE, both[0], LONGEST / 2, size, MPI_BYTE, win);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
    }
    MPI_Group_free(&pair);
    MPI_Group_free(&world);
    MPI_Win_free(&win);
}

/* All ranks draw tickets, swap and add, under locks of all kinds. */
static void passive(void)
{
    MPI_Win win;
    long *words, one = 1, nobody = 0, found, more[8] = {0}, all[8];
    MPI_Aint size = 64 * sizeof *words;
    MPI_Win_allocate(size, sizeof *words, MPI_INFO_NULL, MPI_COMM_WORLD, &words, &win);
    memset(words, 0, (size_t)size);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        int target = (rank + round) % ranks;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
        MPI_Get(&found, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
        MPI_Win_flush(target, win);
        found++;
        MPI_Put(&found, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
        MPI_Win_unlock(target, win);
        MPI_Win_lock_all(0, win);
        MPI_Fetch_and_op(&one, &found, MPI_LONG, 0, 1, MPI_SUM, win);
        MPI_Win_flush(0, win);
        MPI_Compare_and_swap(&one, &nobody, &found, MPI_LONG, target, 32 + round, win);
        MPI_Win_flush_local(target, win);
        MPI_Get_accumulate(more, 8, MPI_LONG, all, 8, MPI_LONG, target, 8, 8, MPI_LONG, MPI_SUM,
                           win);
        MPI_Accumulate(more, 8, MPI_LONG, target, 16, 8, MPI_LONG, MPI_MAX, win);
        MPI_Win_flush_all(win);
        MPI_Win_unlock_all(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
}

/* A rank waits for a word that another one puts. */
static void flag(void)
{
    MPI_Win win;
    long *word, one = 1;
    MPI_Win_allocate(sizeof *word, sizeof *word, MPI_INFO_NULL, MPI_COMM_WORLD, &word, &win);
    *word = 0;
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Put(&one, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
        MPI_Win_flush(1, win);
    }
    while (rank == 1 && !*(volatile long *)word)
        MPI_Win_sync(win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* The same in shared memory, which GOAL traces cannot express: the other one stores the word. */
static void shared(void)
{
    MPI_Win win;
    MPI_Aint size = 0;
    int unit = 0;
    long *word, *first;
    MPI_Win_allocate_shared(sizeof *word, sizeof *word, MPI_INFO_NULL, MPI_COMM_WORLD, &word, &win);
    MPI_Win_shared_query(win, 1, &size, &unit, &first);
    MPI_Win_lock_all(0, win);
    if (rank == 1)
        *first = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        /* Time passes. */
        MPI_Sendrecv(out, LONGEST, MPI_BYTE, 0, 0, in, LONGEST, MPI_BYTE, 0, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        *(volatile long *)first = 1;
    }
    while (rank == 1 && !*(volatile long *)first)
        MPI_Win_sync(win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* The shortest program with a window. */
static void window(void)
{
    MPI_Win win;
    MPI_Win_create(in, LONGEST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(out, 64, MPI_BYTE, (rank + 1) % ranks, 0, 64, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } patterns[] = {{"ping", ping},         {"halo", halo},       {"collectives", collectives},
                    {"gradient", gradient}, {"farm", farm},       {"probe", probe},
                    {"window", window},     {"vectors", vectors}, {"any", any},
                    {"polls", polls},       {"tests", tests},     {"groups", groups},
                    {"fences", fences},     {"scoped", scoped},   {"passive", passive},
                    {"flag", flag},         {"shared", shared}};
    check_begin(&argc, &argv, 2);
    require(argc == 2, "name a pattern");
    out = calloc(LONGEST, 1), in = calloc(LONGEST, 1);
    require(out && in, "there is no memory");
    int known = 0;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (!strcmp(argv[1], patterns[i].name)) {
            patterns[i].run();
            known = 1;
        }
    require(known, "%s is no pattern", argv[1]);
    free(out);
    free(in);
    return check_end();
}
