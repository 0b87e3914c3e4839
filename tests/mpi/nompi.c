/* Never calls MPI, nor is it linked with it. */
#include <stdio.h>

int main(void)
{
    puts("no MPI here");
    return 0;
}
