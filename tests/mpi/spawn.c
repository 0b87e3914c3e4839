/* Starts two more processes by MPI_Comm_spawn, which greet their parents.
 *
 * The program ends with code 5 if the call returns an error, as in a run without room for more
 * ranks.
 */
#include "check.h"

#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Comm parents, children;
    check_begin(&argc, &argv, 1);
    MPI_Comm_get_parent(&parents);
    if (parents != MPI_COMM_NULL) {
        int greeting = 100 + rank;
        MPI_Send(&greeting, 1, MPI_INT, 0, 0, parents);
        MPI_Comm_disconnect(&parents);
        return check_end();
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int code = MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                              &children, MPI_ERRCODES_IGNORE);
    if (code != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int length;
        MPI_Error_string(code, text, &length);
        if (rank == 0)
            fprintf(stderr, "error: %s\n", text);
        MPI_Finalize();
        return 5;
    }
    for (int child = 0; rank == 0 && child < 2; child++) {
        int greeting = -1;
        MPI_Recv(&greeting, 1, MPI_INT, child, 0, children, MPI_STATUS_IGNORE);
        require(greeting == 100 + child, "child %d says %d", child, greeting);
    }
    MPI_Comm_disconnect(&children);
    say("two children greeted");
    return check_end();
}
