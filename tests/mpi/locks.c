/* Ranks take turns by locks on files, and keep each for some simulated time: in the folder that the
 * argument names, each adds to a number by flock, fcntl and lockf, and all write by MPI's shared
 * file pointer, which has a lock of its own.
 */
#define _GNU_SOURCE
#include "check.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

enum { TURNS = 5, SIZE = 100 };

static int takes(int file, int way)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (way == 0)
        return flock(file, LOCK_EX);
    return way == 1 ? fcntl(file, F_SETLKW, &whole) : lockf(file, F_LOCK, 0);
}

static void adds(const char *path, int way)
{
    char text[16] = "";
    int file = open(path, O_RDWR);
    require(takes(file, way) == 0, "no lock");
    require(pread(file, text, sizeof text - 1, 0) > 0, "no number");
    usleep(20);
    int count = snprintf(text, sizeof text, "%d", atoi(text) + 1);
    require(pwrite(file, text, (size_t)count, 0) == count, "not written");
    close(file);
}

int main(int argc, char **argv)
{
    static const char *const ways[] = {"flock", "fcntl", "lockf"};
    char path[4096], bytes[SIZE];
    MPI_File shared;
    MPI_Offset end;
    check_begin(&argc, &argv, 2);
    for (int way = 0; way < 3; way++) {
        int number = 0;
        snprintf(path, sizeof path, "%s/%s", argv[1], ways[way]);
        if (rank == 0) {
            FILE *file = fopen(path, "w");
            fputs("0", file);
            fclose(file);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        for (int turn = 0; turn < TURNS; turn++)
            adds(path, way);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            FILE *file = fopen(path, "r");
            require(fscanf(file, "%d", &number) == 1, "no number");
            fclose(file);
        }
        say("%s %d", ways[way], number);
    }
    snprintf(path, sizeof path, "%s/shared", argv[1]);
    fill(bytes, SIZE, key_of(rank, rank, 0));
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &shared);
    for (int turn = 0; turn < TURNS; turn++)
        MPI_File_write_shared(shared, bytes, SIZE, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_position_shared(shared, &end);
    say("shared %lld", (long long)end);
    MPI_File_close(&shared);
    return check_end();
}
