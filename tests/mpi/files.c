// The simulated time, in us, for each operation on files, in the folder that the first argument
// names. Then 1 MB from each rank by MPI-IO: independent, collective, read back, and nonblocking.
#define _GNU_SOURCE
#include "check.h"
#include <aio.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define TIME(what, call)                                                       \
    do {                                                                       \
        double start = MPI_Wtime();                                            \
        int well = (call);                                                     \
        double end = MPI_Wtime();                                              \
        if (rank == 0 && !(well))                                              \
            printf("%-28sbad\n", what);                                        \
        else if (rank == 0)                                                    \
            printf("%-28s%.3f\n", what, 1e6 * (end - start));                  \
        fflush(stdout);                                                        \
    } while (0)

enum { MB = 1 << 20 };

static char *bytes;

// By one rank alone.
static void calls(const char *folder)
{
    char path[4096], other[4096];
    snprintf(path, sizeof path, "%s/calls", folder);
    snprintf(other, sizeof other, "%s/renamed", folder);
    struct iovec parts[2] = {{bytes, MB / 2}, {bytes, MB / 2}};
    struct stat status;
    int file = -1, copy = -1, pipes[2];
    off_t from = 0, to = MB;
    FILE *stream = NULL;
    TIME("open", (file = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600)) >= 0);
    TIME("write", write(file, bytes, MB) == MB);
    TIME("pwrite", pwrite(file, bytes, MB, MB) == MB);
    TIME("writev", writev(file, parts, 2) == MB);
    TIME("fsync", fsync(file) == 0);
    TIME("lseek", lseek(file, 0, SEEK_SET) == 0);
    TIME("read", read(file, bytes, MB) == MB);
    TIME("pread", pread(file, bytes, MB, MB) == MB);
    TIME("readv", readv(file, parts, 2) == MB);
    TIME("preadv2", preadv2(file, parts, 2, 0, 0) == MB);
    TIME("pwritev2", pwritev2(file, parts, 2, 0, 0) == MB);
    copy = open(other, O_CREAT | O_RDWR | O_TRUNC, 0600);
    TIME("sendfile", sendfile(copy, file, &from, MB) == MB);
    TIME("copy_file_range", copy_file_range(file, &from, copy, &to, MB, 0) == MB);
    close(copy);
    TIME("remove", remove(other) == 0);
    TIME("read at the end", read(file, bytes, MB) == 0);
    TIME("ftruncate", ftruncate(file, 5) == 0);
    TIME("close", close(file) == 0);
    TIME("stat", stat(path, &status) == 0 && status.st_size == 5);
    TIME("rename", rename(path, other) == 0);
    TIME("unlink", unlink(other) == 0);
    TIME("unlink of no file", unlink(other) != 0);
    file = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
    struct aiocb begun = {.aio_fildes = file, .aio_buf = bytes, .aio_nbytes = MB};
    TIME("aio_write",
         aio_write(&begun) == 0 && aio_error(&begun) == 0 && aio_return(&begun) == MB);
    close(file);
    TIME("fopen", (stream = fopen(path, "w+")) != NULL);
    TIME("fwrite", fwrite(bytes, 1, MB, stream) == MB);
    TIME("fprintf", fprintf(stream, "%s", "text") == 4);
    TIME("fseek", fseek(stream, 0, SEEK_SET) == 0);
    TIME("fread", fread(bytes, 1, MB, stream) == MB);
    TIME("fclose", fclose(stream) == 0);
    unlink(path);
    TIME("a pipe",
         pipe(pipes) == 0 && write(pipes[1], bytes, 99) == 99 && read(pipes[0], bytes, 99) == 99);
    TIME("/proc", (file = open("/proc/self/stat", O_RDONLY)) >= 0 && read(file, bytes, 99) == 99 &&
                      close(file) == 0);
    TIME("/dev/null", (file = open("/dev/null", O_WRONLY)) >= 0 && write(file, bytes, 99) == 99 &&
                          close(file) == 0);
    TIME("memory", (file = memfd_create("files", 0)) >= 0 && write(file, bytes, 99) == 99 &&
                       close(file) == 0);
    TIME("standard output", write(1, "", 0) == 0);
}

static void mpi_io(const char *folder)
{
    char path[4096];
    MPI_File file;
    MPI_Request request;
    MPI_Offset at = (MPI_Offset)rank * MB, next = (MPI_Offset)((rank + 1) % ranks) * MB;
    snprintf(path, sizeof path, "%s/shared", folder);
    memset(bytes, 'a' + rank, MB);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_Barrier(MPI_COMM_WORLD);
    TIME("MPI_File_write_at", !MPI_File_write_at(file, at, bytes, MB, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    TIME("MPI_File_write_at_all",
         !MPI_File_write_at_all(file, at, bytes, MB, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    TIME("MPI_File_read_at_all",
         !MPI_File_read_at_all(file, next, bytes, MB, MPI_BYTE, MPI_STATUS_IGNORE) &&
             bytes[MB - 1] == 'a' + (rank + 1) % ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    TIME("MPI_File_iread_at", !MPI_File_iread_at(file, at, bytes, MB, MPI_BYTE, &request) &&
                                  !MPI_Wait(&request, MPI_STATUS_IGNORE) && bytes[5] == 'a' + rank);
    MPI_File_close(&file);
    if (rank == 0)
        unlink(path);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bytes = malloc(MB);
    memset(bytes, 'x', MB);
    if (rank == 0)
        calls(argv[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    mpi_io(argv[1]);
    free(bytes);
    MPI_Finalize();
    return argc - 2;
}
