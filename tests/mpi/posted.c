/* Nonblocking barriers and broadcasts: several at a time and among blocking ones, with types that
 * lie in one piece and with others, with all lengths, on MPI_COMM_WORLD and on other communicators,
 * ended in all ways; and reductions beside them.
 *
 *   posted [--no-order]    writes how long a barrier took its callers that computed for 200 us
 * meanwhile
 */
#define _DEFAULT_SOURCE /* usleep */
#include "check.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOME = 6, ROUNDS = 12, LONGEST = 300000 };

static const int lengths[] = {1, 8, 300, 4000, 64, 70000, 1, 900, 20, 2000, LONGEST, 5};

/* Some broadcasts and barriers on a communicator at a time. */
static void together(MPI_Comm comm, int salt)
{
    int own, all;
    MPI_Request requests[SOME], after;
    MPI_Status statuses[SOME];
    static char data[SOME][2 * LONGEST];
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &all);
    for (int round = 0; round < ROUNDS; round++) {
        int size = lengths[(round + salt) % ROUNDS];
        MPI_Datatype pairs;
        MPI_Type_vector(size, 1, 2, MPI_CHAR, &pairs);
        MPI_Type_commit(&pairs);
        for (int one = 0; one < SOME; one++) {
            int root = (round + one) % all, odd = (round + one + own) % 3 == 0;
            uint64_t key = key_of(root, salt, 100 * round + one);
            if (one % 3 == 2) {
                MPI_Ibarrier(comm, &requests[one]);
                continue;
            }
            memset(data[one], 'x', 2 * (size_t)size);
            if (own == root) {
                fill(data[one], (size_t)size, key);
                /* With gaps, from the end on. */
                for (int at = size - 1; odd && at > 0; at--) {
                    data[one][2 * at] = data[one][at];
                    data[one][2 * at - 1] = 'x';
                }
            }
            if (odd)
                MPI_Ibcast(data[one], 1, pairs, root, comm, &requests[one]);
            else
                MPI_Ibcast(data[one], size, MPI_CHAR, root, comm, &requests[one]);
        }
        MPI_Type_free(&pairs);
        /* Blocking calls and reductions come between these calls and their ends. */
        int sum = 0, later = 0, word = own == 0 ? round : -1;
        MPI_Iallreduce(&own, &later, 1, MPI_INT, MPI_SUM, comm, &after);
        MPI_Bcast(&word, 1, MPI_INT, 0, comm);
        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
        require(word == round && sum == all * (all - 1) / 2, "broadcast %d, sum %d", word, sum);
        if (round % 3 == 0) {
            MPI_Waitall(SOME, requests, statuses);
        } else if (round % 3 == 1) {
            for (int left = SOME; left > 0; left--) {
                int index;
                MPI_Waitany(SOME, requests, &index, statuses);
            }
        } else {
            for (int one = SOME - 1; one >= 0; one--)
                for (int over = 0; !over;)
                    MPI_Test(&requests[one], &over, statuses);
        }
        MPI_Wait(&after, MPI_STATUS_IGNORE);
        require(later == sum, "a sum that does not block is %d, not %d", later, sum);
        for (int one = 0; one < SOME; one++) {
            int root = (round + one) % all, odd = (round + one + own) % 3 == 0;
            if (one % 3 == 2)
                continue;
            for (int at = 1; odd && at < size; at++) {
                require(data[one][2 * at - 1] == 'x', "a gap was filled");
                data[one][at] = data[one][2 * at];
            }
            expect(data[one], (size_t)size, key_of(root, salt, 100 * round + one), "broadcast");
        }
    }
}

int main(int argc, char **argv)
{
    MPI_Comm half, twin;
    MPI_Request request;
    check_begin(&argc, &argv, 2);
    together(MPI_COMM_WORLD, 1);
    section("world");
    /* The first call on this communicator does not block. */
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    together(twin, 5);
    MPI_Comm_free(&twin);
    section("twin");
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Barrier(half);
    together(half, rank % 2 ? 7 : 3);
    MPI_Comm_free(&half);
    section("halves");
    /* All have come. A computing rank leaves the barrier to its adapter, if that can do it. */
    double rest = 0;
    for (int times = 0; times < 5; times++) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        usleep(200);
        double begin = MPI_Wtime();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        rest = MPI_Wtime() - begin;
    }
    say_order("%.2f us left", 1e6 * rest);
    return check_end();
}
