/* Access to others' memory: MPI's operations by puts and gets, and its operations by messages. */
#include "check.h"

enum { LONGEST = 3 << 20 };

static unsigned char *out, *in, *window;
static int other;
static MPI_Win win;

static void put_and_get(int length)
{
    MPI_Request request;
    MPI_Win_fence(0, win);
    MPI_Put(out, length, MPI_BYTE, other, 0, length, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    expect(window, length, other, "put of length");
    memset(in, 0, (size_t)length);
    MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win);
    MPI_Get(in, length, MPI_BYTE, other, 0, length, MPI_BYTE, win);
    MPI_Win_flush(other, win);
    expect(in, length, rank, "get of length");
    memset(in, 0, (size_t)length);
    MPI_Rget(in, length, MPI_BYTE, other, 0, length, MPI_BYTE, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(in, length, rank, "get with a request of length");
    MPI_Win_unlock(other, win);
    MPI_Win_fence(0, win);
    MPI_Accumulate(out, length, MPI_BYTE, other, 0, length, MPI_BYTE, MPI_BXOR, win);
    MPI_Win_fence(0, win);
    for (int place = 0; place < length; place++)
        require(window[place] == 0, "accumulate of length", length);
}

/* All ranks count in rank 0's memory, and one takes the seat behind. */
static void draws(void)
{
    long *place = (long *)window, one = 1, own = rank + 1, nobody = 0, ticket = -1, seat = -1;
    place[0] = place[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Fetch_and_op(&one, &ticket, MPI_LONG, 0, 0, MPI_SUM, win);
    MPI_Compare_and_swap(&own, &nobody, &seat, MPI_LONG, 0, sizeof(long), win);
    MPI_Win_unlock(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    require(ticket >= 0 && ticket < ranks && (seat == 0) == (ticket == 0), "ticket", ticket);
    if (rank == 0)
        require(place[0] == ranks && place[1] > 0, "count", place[0]);
}

int main(int count, char **words)
{
    begin(&count, &words);
    other = rank ^ 1;
    out = malloc(LONGEST);
    in = malloc(LONGEST);
    fill(out, LONGEST, rank);
    MPI_Win_allocate(LONGEST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    for (long length = 1; length <= LONGEST; length = 20 * length + 3)
        put_and_get((int)length);
    draws();
    MPI_Win_free(&win);
    end();
    return 0;
}
