/* A program's view of its node: names, processors, a node's communicators, and memory that a node's
 * ranks share. Rank 0 writes a line for each rank.
 */
#define _GNU_SOURCE
#include "check.h"

#include <mpi.h>
#include <netdb.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

static char text[256];

static void add(const char *format, ...)
{
    va_list words;
    size_t length = strlen(text);

    va_start(words, format);
    vsnprintf(text + length, sizeof text - length, format, words);
    va_end(words);
}

static int lines(const char *path, const char *start)
{
    char line[4096];
    int count = 0;
    FILE *file = fopen(path, "r");

    while (file && fgets(line, sizeof line, file))
        count += !strncmp(line, start, strlen(start));
    if (file)
        fclose(file);
    return count;
}

static int size_of(MPI_Comm comm)
{
    int size = 0;

    if (comm != MPI_COMM_NULL)
        MPI_Comm_size(comm, &size);
    return size;
}

static int split(MPI_Comm comm, int kind, const char *key, const char *value, MPI_Comm *part)
{
    MPI_Info info = MPI_INFO_NULL;

    if (key) {
        MPI_Info_create(&info);
        MPI_Info_set(info, key, value);
    }
    MPI_Comm_split_type(comm, kind, 0, info, part);
    if (key)
        MPI_Info_free(&info);
    return size_of(*part);
}

static void names(void)
{
    char processor[MPI_MAX_PROCESSOR_NAME], host[64];
    struct utsname about;
    struct addrinfo hints = {.ai_flags = AI_CANONNAME}, *address;
    struct hostent *found;
    int length;

    MPI_Get_processor_name(processor, &length);
    gethostname(host, sizeof host);
    uname(&about);
    require(
        !strcmp(host, processor) && !strcmp(host, about.nodename) && length == (int)strlen(host),
        "!strcmp(host, processor) && !strcmp(host, about.nodename) && length == (int)strlen(host)");
    require(gethostname(host, 3) == -1 && !strncmp(host, "nod", 3),
            "gethostname(host, 3) == -1 && !strncmp(host, \"nod\", 3)");
    require(!getaddrinfo(processor, NULL, &hints, &address) &&
                !strcmp(address->ai_canonname, processor),
            "!getaddrinfo(processor, NULL, &hints, &address) &&"
            " !strcmp(address->ai_canonname, processor)");
    found = gethostbyname(processor);
    require(found && !strcmp(found->h_name, processor),
            "found && !strcmp(found->h_name, processor)");
    require(lines("/etc/hostname", processor) == 1, "lines(\"/etc/hostname\", processor) == 1");
    require(gethostid() == atol(processor + 4) + 1, "gethostid() == atol(processor + 4) + 1");
    add("rank %d %s", rank, processor);
}

static void processors(void)
{
    cpu_set_t set, one;

    require(!sched_getaffinity(0, sizeof set, &set), "!sched_getaffinity(0, sizeof set, &set)");
    add(" cpus %d online %ld configured %d described %d", CPU_COUNT(&set),
        sysconf(_SC_NPROCESSORS_ONLN), get_nprocs_conf(), lines("/proc/cpuinfo", "processor"));
    CPU_ZERO(&one);
    CPU_SET(CPU_COUNT(&set) - 1, &one);
    require(!sched_setaffinity(0, sizeof one, &one) && !sched_getaffinity(0, sizeof one, &one),
            "!sched_setaffinity(0, sizeof one, &one) && !sched_getaffinity(0, sizeof one, &one)");
    require(CPU_COUNT(&one) == 1 && sched_getcpu() == CPU_COUNT(&set) - 1,
            "CPU_COUNT(&one) == 1 && sched_getcpu() == CPU_COUNT(&set) - 1");
    CPU_ZERO(&one);
    require(sched_setaffinity(0, sizeof one, &one) == -1,
            "sched_setaffinity(0, sizeof one, &one) == -1");
    require(!sched_setaffinity(0, sizeof set, &set), "!sched_setaffinity(0, sizeof set, &set)");
}

static void shares(MPI_Comm node)
{
    MPI_Win window;
    MPI_Aint bytes;
    int *own, *first, *last, unit, place, size = size_of(node), class = MPI_SUCCESS, flag, one = 1,
                                          old, error;
    double start;
    int *flavour;

    MPI_Comm_rank(node, &place);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (size_of(MPI_COMM_WORLD) > size) {
        error = MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                                        &own, &window);
        MPI_Error_class(error, &class);
        require(class == MPI_ERR_RMA_SHARED, "class == MPI_ERR_RMA_SHARED");
    }
    MPI_Win_allocate_shared((2 + place) * sizeof(int), sizeof(int), MPI_INFO_NULL, node, &own,
                            &window);
    MPI_Win_get_attr(window, MPI_WIN_CREATE_FLAVOR, &flavour, &flag);
    require(flag && *flavour == MPI_WIN_FLAVOR_SHARED, "flag && *flavour == MPI_WIN_FLAVOR_SHARED");
    MPI_Win_shared_query(window, MPI_PROC_NULL, &bytes, &unit, &first);
    MPI_Win_shared_query(window, size - 1, &bytes, &unit, &last);
    require(bytes == (MPI_Aint)((1 + size) * sizeof(int)) && unit == sizeof(int),
            "bytes == (MPI_Aint)((1 + size) * sizeof(int)) && unit == sizeof(int)");
    require(last == first + (size - 1) * (size + 2) / 2,
            "last == first + (size - 1) * (size + 2) / 2");
    own[0] = 10 + place;
    own[1] = 0;
    MPI_Win_lock_all(0, window);
    MPI_Barrier(node);
    require(first[0] == 10 && last[0] == 9 + size, "first[0] == 10 && last[0] == 9 + size");
    MPI_Fetch_and_op(&one, &old, MPI_INT, size - 1, 1, MPI_SUM, window);
    MPI_Win_flush_all(window);
    MPI_Barrier(node);
    require(last[1] == size && old < size, "last[1] == size && old < size");
    // A flag that the first rank stores after 300 us, without an MPI call.
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    if (place == 0) {
        usleep(300);
        __atomic_store_n(first + 1, 77, __ATOMIC_RELEASE);
    }
    while (__atomic_load_n(first + 1, __ATOMIC_ACQUIRE) != 77)
        MPI_Win_sync(window);
    add(" flag %.0f", 1e6 * (MPI_Wtime() - start));
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

int main(int argc, char **argv)
{
    MPI_Comm node, part, rest;
    static char all[64][sizeof text];
    int turn;

    check_begin(&argc, &argv, 1);
    names();
    processors();
    split(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, NULL, NULL, &node);
    add(" shared %d", size_of(node));
#if MPI_VERSION >= 4
    add(" memory %d", split(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type",
                            "mpi_shared_memory", &part));
    add(" core %d", split(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type",
                          "hwloc://Core", &part));
    add(" within %d", split(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, NULL, NULL, &part));
    if (part != MPI_COMM_NULL)
        add(" further %d", split(part, MPI_COMM_TYPE_HW_UNGUIDED, NULL, NULL, &rest));
#endif
    add(" none %d", split(MPI_COMM_WORLD, MPI_UNDEFINED, NULL, NULL, &part));
    shares(node);
    MPI_Gather(text, sizeof text, MPI_CHAR, all, sizeof text, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (turn = 0; turn < ranks; turn++)
        say("%s", all[turn]);
    return check_end();
}
