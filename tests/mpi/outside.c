/* MPI's waits for events outside the network, while it polls the network: each must end as it does
 * natively.
 *
 *     mpiexec -n 4 ./outside join | connect | file | threads | window
 *
 * join      MPI_Comm_join polls the program's socket
 * connect   MPI_Comm_connect looks at the clock, and gives up
 * file      C library threads write MPI_File_iwrite_all's data
 * threads   ranks that are threads of one process (MPIX_Threadcomm) send messages to each other in
 * its memory window    a rank polls a word in its own window by calls that need no network
 */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <arpa/inet.h>
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void join(void)
{
    int listener = socket(AF_INET, SOCK_STREAM, 0), connection = listener, port = 0;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    MPI_Comm joined;
    if (rank == 1) {
        require(!bind(listener, (struct sockaddr *)&address, length), "no port");
        require(!getsockname(listener, (struct sockaddr *)&address, &length), "no name");
        require(!listen(listener, 1), "nobody may connect");
        port = address.sin_port;
    }
    MPI_Bcast(&port, 1, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Barrier(
        MPI_COMM_WORLD); /* no rank waits for another one outside MPI before it has its messages */
    if (rank > 1)
        return;
    address.sin_port = (in_port_t)port;
    if (rank == 0)
        require(!connect(connection, (struct sockaddr *)&address, length), "no connection");
    else
        connection = accept(listener, NULL, NULL);
    MPI_Comm_join(connection, &joined);
    int other = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &other, 1, MPI_INT, 0, 0, joined, MPI_STATUS_IGNORE);
    require(other == 1 - rank, "joined rank %d", other);
    MPI_Comm_disconnect(&joined);
}

static void connect_to_nobody(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    if (rank == 1)
        MPI_Open_port(MPI_INFO_NULL, port); /* and does not accept */
    MPI_Bcast(port, sizeof port, MPI_CHAR, 1, MPI_COMM_WORLD);
    if (rank == 0) {
        int class;
        MPI_Info info;
        MPI_Comm other;
        MPI_Info_create(&info);
        MPI_Info_set(info, "timeout", "2");
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        double begin = MPI_Wtime();
        MPI_Error_class(MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &other), &class);
        double time = MPI_Wtime() - begin;
        require(class == MPI_ERR_PORT, "error of class %d", class);
        require(time > 1.9 && time < 2.1, "gave up after %.3f s", time);
        MPI_Info_free(&info);
    }
}

static void file(void)
{
    /* The ranks' blocks in turn, with holes between them, which MPI reads before it writes. */
    enum { BLOCKS = 16, LENGTH = 1 << 18 };
    char name[] = "outside-XXXXXX", *bytes = malloc((size_t)BLOCKS * LENGTH);
    MPI_File handle;
    MPI_Datatype view;
    MPI_Request requests[2];
    if (rank == 0)
        close(mkstemp(name));
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    memset(bytes, 'a' + rank, (size_t)BLOCKS * LENGTH);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &handle);
    MPI_Type_vector(BLOCKS, LENGTH, 2 * LENGTH * ranks, MPI_CHAR, &view);
    MPI_Type_commit(&view);
    MPI_Offset half = (MPI_Offset)2 * BLOCKS * LENGTH * ranks;
    MPI_File_set_size(handle, 2 * half);
    for (int i = 0; i < 2; i++) {
        MPI_File_set_view(handle, i * half + (MPI_Offset)rank * LENGTH, MPI_CHAR, view, "native",
                          MPI_INFO_NULL);
        MPI_File_iwrite_all(handle, bytes, BLOCKS * LENGTH, MPI_CHAR, &requests[i]);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    int next = (rank + 1) % ranks;
    MPI_File_set_view(handle, half + (MPI_Offset)next * LENGTH, MPI_CHAR, view, "native",
                      MPI_INFO_NULL);
    MPI_File_sync(handle);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(handle);
    MPI_File_iread_at_all(handle, 0, bytes, BLOCKS * LENGTH, MPI_CHAR, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    for (size_t i = 0; i < (size_t)BLOCKS * LENGTH; i++)
        require(bytes[i] == 'a' + next, "byte %zu is %d", i, bytes[i]);
    MPI_Type_free(&view);
    MPI_File_close(&handle);
    free(bytes);
}

static MPI_Comm threads;

static void *thread(void *unused)
{
    int own, size, sum;
    MPIX_Threadcomm_start(threads);
    MPI_Comm_rank(threads, &own);
    MPI_Comm_size(threads, &size);
    for (int i = 0; i < 100; i++) {
        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, threads);
        require(sum == size * (size - 1) / 2, "%d threads, sum %d", size, sum);
    }
    MPIX_Threadcomm_finish(threads);
    return unused;
}

static void ranks_of_threads(void)
{
    pthread_t all[4];
    MPIX_Threadcomm_init(MPI_COMM_WORLD, 4, &threads);
    for (int i = 0; i < 4; i++)
        pthread_create(&all[i], NULL, thread, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(all[i], NULL);
    MPIX_Threadcomm_free(&threads);
}

static void window(void)
{
    int one = 1, seen = 0, *word;
    MPI_Win window;
    MPI_Win_allocate(sizeof *word, sizeof *word, MPI_INFO_NULL, MPI_COMM_WORLD, &word, &window);
    *word = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    if (rank == 1) {
        MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, window);
        MPI_Win_flush(0, window);
    }
    while (rank == 0 && !seen) {
        MPI_Fetch_and_op(NULL, &seen, MPI_INT, 0, 0, MPI_NO_OP, window);
        MPI_Win_flush(0, window);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"join", join},
                {"connect", connect_to_nobody},
                {"file", file},
                {"threads", ranks_of_threads},
                {"window", window}};
    check_begin(&argc, &argv, 1);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (argc > 1 && !strcmp(argv[1], ways[i].name))
            ways[i].run();
    say("%s: ended", argc > 1 ? argv[1] : "nothing");
    return check_end();
}
