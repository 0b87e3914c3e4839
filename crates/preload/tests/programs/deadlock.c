/* All ranks receive, no rank sends. */
#include "check.h"

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_Recv(NULL, 0, MPI_BYTE, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    end();
    return 0;
}
