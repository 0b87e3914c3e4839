/* Common parts of the fuzz programs: data layouts in memory, buffers with guards, expected
 * contents, records.
 *
 * A buffer is a `room`: a piece of memory in which every byte is written before use, including its
 * layout's holes and the guards around it. After each step a rank builds a `picture` with the
 * room's expected contents, compares the two, and records a hash over everything. A line that
 * begins with "wrong" reports contents, a status or a datatype that differ from the program's own
 * expectation. All other lines must be the same wherever the program runs.
 */
#ifndef PRELUDE_H
#define PRELUDE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* This process in MPI_COMM_WORLD, the process count, the running program, and the record
 * destination. */
extern int rank, ranks;
extern uint64_t program;
extern FILE *record;

/* Blocks of `bytes` bytes, `times` of them, the first `at` so many bytes from the start, each
 * `step` after the one before. */
typedef struct {
    long at, bytes, times, step;
} run;

/* `count` elements of a datatype, which lie an extent apart; the runs of one element in the order
 * of the datatype. */
typedef struct {
    MPI_Datatype type;
    long count, size, extent;
    int runs;
    const run *run;
} layout;

/* A buffer: MPI gets `at`; `base` and `whole` are the whole memory, guards included. */
typedef struct {
    unsigned char *base, *at;
    size_t whole;
    uint64_t key;
} room;

/* A message in a step; each rank has the side that it needs. */
typedef struct {
    layout out, in;
    room from, to;
    MPI_Status probed;
    int is_probed;
} message;

/* A collective operation in a step; the request belongs to a nonblocking or persistent one. */
typedef struct {
    layout out, in;
    room from, to;
    MPI_Request request;
} collective;

/* The messages that a receive may find. */
typedef struct {
    int name, source, tag;
    uint64_t key;
    long bytes;
} sent;

/* The keys for contents: for data, and for everything else. */
uint64_t DATA(int step, int one, int other);
uint64_t HOLE(int step, int one, int other);

/* A layout; complains if MPI has another size or extent for the datatype. */
layout shape(MPI_Datatype type, long count, long extent, int runs, const run *run);

/* Puts the layout of elements with these runs (at least one) into a variable. */
#define SHAPE(into, type, count, extent, ...)                                                      \
    do {                                                                                           \
        static const run all_[] = {__VA_ARGS__};                                                   \
        (into) = shape((type), (count), (extent), (int)(sizeof all_ / sizeof *all_), all_);        \
    } while (0)

/* Arrays that stay until the program ends, as nonblocking operations need them. */
#define INTS(...)                                                                                  \
    ((const int *)lasting((const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__})))
#define AINTS(...)                                                                                 \
    ((const MPI_Aint *)lasting((const MPI_Aint[]){__VA_ARGS__},                                    \
                               sizeof((const MPI_Aint[]){__VA_ARGS__})))
#define TYPES(...)                                                                                 \
    ((const MPI_Datatype *)lasting((const MPI_Datatype[]){__VA_ARGS__},                            \
                                   sizeof((const MPI_Datatype[]){__VA_ARGS__})))
const void *lasting(const void *array, size_t bytes);

/* Datatypes, committed, and freed when the program ends. */
MPI_Datatype contiguous(int count, MPI_Datatype old);
MPI_Datatype vector(int count, int length, MPI_Aint stride, MPI_Datatype old);
MPI_Datatype resized(MPI_Datatype old, MPI_Aint lower, MPI_Aint extent);
MPI_Datatype indexed(int count, const int *lengths, const MPI_Aint *places, MPI_Datatype old);
MPI_Datatype blocks(int count, int length, const int *places, MPI_Datatype old);
MPI_Datatype structure(int count, const int *lengths, const MPI_Aint *places,
                       const MPI_Datatype *old);
MPI_Datatype subarray(int rows, int columns, int all_rows, int all_columns, int row, int column,
                      MPI_Datatype old);
MPI_Datatype duplicate(MPI_Datatype old);

/* A room for `elements` elements from the first on, `shift` bytes off the alignment of a cache
 * line. */
room open_room(const layout *of, long elements, uint64_t key, int shift);
/* A room around memory that MPI has given. */
room room_of(void *memory, size_t bytes, uint64_t key);
/* Writes a room as it was when it was opened. */
void again(room *one);
void shut(room *one);

/* Writes a key's data into the places of a layout that begins `displacement` bytes from the room's
 * start. */
void lay(room *into, const layout *of, long displacement, long bytes, uint64_t key);
/* The same for data in another room. */
void move(room *into, const layout *of, long displacement, const room *from, const layout *as,
          long start, long bytes);

/* A room's initial contents; compares a room with them, reports differences, frees it, and returns
 * the room's hash. */
room picture_of(const room *one);
/* Restores a room's bytes to their initial contents. */
void forget(room *one, long at, long bytes);
uint64_t compare(const room *one, room *picture, const char *what, int step, int name);
/* Takes a layout's actual bytes into a picture: for places with contents that MPI leaves open. */
void take_actual(room *picture, const room *actual, const layout *of, long displacement,
                 long bytes);

/* Arithmetic: `op` on values of `kind`; the tables in prelude.c list kinds and operations. */
void values(room *into, const char *kind, long first, long count, uint64_t key, const char *op);
void fold(room *into, const char *kind, long first, long count, uint64_t key, const char *op);
/* The same for a layout: writes values into its places, or accumulates them there. */
void lay_values(room *into, const layout *of, long at, const char *kind, long count, uint64_t key,
                const char *op);
void accumulate(room *into, const layout *of, long at, const char *kind, long count, uint64_t key,
                const char *op);
MPI_Datatype type_of(const char *kind);
MPI_Op op_of(const char *op);

/* Completes requests in one of several ways; those with a code of -1 are open, all get their
 * statuses and codes. */
void finish(const char *how, int count, MPI_Request *requests, MPI_Status *statuses, int *codes);
/* Completes one. */
void finish_one(const char *how, MPI_Request *request);

/* A buffer for buffered sends, with this many messages and total bytes, until all are sent. */
void attach(int messages, long bytes);
void detach(void);
/* Reports all of a message's partitions as ready in one of several ways; waits until all have
 * arrived, one by one. */
void ready(int how, int partitions, MPI_Request *request);
void arrived(int how, int partitions, MPI_Request *request);

/* Checks and records received messages: one, or several whose receives could match each other's
 * messages. */
void got(int step, message *one, const MPI_Status *status, int code, const sent *expected);
void got_any(int step, int count, message *messages, const MPI_Status *statuses, const int *codes,
             const sent *expected);

/* The same for a partitioned message, which has an empty status. */
void got_parts(int step, message *one, const sent *expected);
/* Records the hash of a room that must equal a picture. */
void same(int step, int name, const char *what, const room *one, room *picture);

/* The records for a finished step; for a program's end; the process ends. */
void step_done(int step);
void wrong(const char *format, ...);
void begin_program(uint64_t number);
void end_program(void);
void begin_all(int *argc, char ***argv, int needed);
int end_all(void);

#endif
