/* What the programs of the fuzz share: layouts of data in memory, buffers with guards, expected contents, records.
 *
 * A buffer is a `room`: a piece of memory of which every byte is written before use, the holes of its layout and the guards
 * around it too. After each step a rank builds a `picture` of what the room must hold by now, compares the two, and
 * records a hash of all of it. A line that begins with "wrong" says that contents, a status or a datatype are not what
 * the program itself expects. All other lines have to be the same wherever the program runs.
 */
#ifndef PRELUDE_H
#define PRELUDE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* This process in MPI_COMM_WORLD, how many there are, the program that runs, and where records go. */
extern int rank, ranks;
extern uint64_t program;
extern FILE *record;

/* Blocks of `bytes` bytes, `times` of them, the first `at` so many bytes from the start, each `step` after the one before. */
typedef struct {
    long at, bytes, times, step;
} run;

/* `count` elements of a datatype, which lie an extent apart; the runs of one element in the order of the datatype. */
typedef struct {
    MPI_Datatype type;
    long count, size, extent;
    int runs;
    const run *run;
} layout;

/* A buffer: `at` is what MPI gets, `base` and `whole` are all of the memory, guards included. */
typedef struct {
    unsigned char *base, *at;
    size_t whole;
    uint64_t key;
} room;

/* A message of a step, of which each rank has the side that it needs. */
typedef struct {
    layout out, in;
    room from, to;
    MPI_Status probed;
    int is_probed;
} message;

/* A collective operation of a step; the request is that of a nonblocking or persistent one. */
typedef struct {
    layout out, in;
    room from, to;
    MPI_Request request;
} collective;

/* What a receive may find. */
typedef struct {
    int name, source, tag;
    uint64_t key;
    long bytes;
} sent;

/* The keys of contents: of data, and of all that is none. */
uint64_t DATA(int step, int one, int other);
uint64_t HOLE(int step, int one, int other);

/* A layout; complains if MPI has another size or extent for the datatype. */
layout shape(MPI_Datatype type, long count, long extent, int runs, const run *run);

/* Puts the layout of elements with these runs (at least one) into a variable. */
#define SHAPE(into, type, count, extent, ...)                                                                          \
    do {                                                                                                               \
        static const run all_[] = {__VA_ARGS__};                                                                       \
        (into) = shape((type), (count), (extent), (int)(sizeof all_ / sizeof *all_), all_);                            \
    } while (0)

/* Arrays that stay until the end of the program, as nonblocking operations need them. */
#define INTS(...) ((const int *)lasting((const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__})))
#define AINTS(...) ((const MPI_Aint *)lasting((const MPI_Aint[]){__VA_ARGS__}, sizeof((const MPI_Aint[]){__VA_ARGS__})))
#define TYPES(...) ((const MPI_Datatype *)lasting((const MPI_Datatype[]){__VA_ARGS__}, sizeof((const MPI_Datatype[]){__VA_ARGS__})))
const void *lasting(const void *array, size_t bytes);

/* Datatypes, committed, and freed at the end of the program. */
MPI_Datatype contiguous(int count, MPI_Datatype old);
MPI_Datatype vector(int count, int length, MPI_Aint stride, MPI_Datatype old);
MPI_Datatype resized(MPI_Datatype old, MPI_Aint lower, MPI_Aint extent);
MPI_Datatype indexed(int count, const int *lengths, const MPI_Aint *places, MPI_Datatype old);
MPI_Datatype blocks(int count, int length, const int *places, MPI_Datatype old);
MPI_Datatype structure(int count, const int *lengths, const MPI_Aint *places, const MPI_Datatype *old);
MPI_Datatype subarray(int rows, int columns, int all_rows, int all_columns, int row, int column, MPI_Datatype old);
MPI_Datatype duplicate(MPI_Datatype old);

/* A room for `elements` elements from the first on, `shift` bytes off the alignment of a cache line. */
room open_room(const layout *of, long elements, uint64_t key, int shift);
/* A room around memory that MPI has given. */
room room_of(void *memory, size_t bytes, uint64_t key);
/* Writes a room as it was when it was opened. */
void again(room *one);
void shut(room *one);

/* Writes data of a key into the places of a layout that begins `displacement` bytes from the start of the room. */
void lay(room *into, const layout *of, long displacement, long bytes, uint64_t key);
/* The same of data that lies in another room. */
void move(room *into, const layout *of, long displacement, const room *from, const layout *as, long start, long bytes);

/* What a room held when it was opened; compares a room with it, says what differs, frees it, and returns a hash of the room. */
room picture_of(const room *one);
/* Makes bytes of a room what they were when it was opened. */
void forget(room *one, long at, long bytes);
uint64_t compare(const room *one, room *picture, const char *what, int step, int name);
/* Takes the actual bytes of a layout into a picture: for places whose contents MPI leaves open. */
void take_actual(room *picture, const room *actual, const layout *of, long displacement, long bytes);

/* Arithmetic: `op` on values of `kind`; the kinds and operations are those of the tables in prelude.c. */
void values(room *into, const char *kind, long first, long count, uint64_t key, const char *op);
void fold(room *into, const char *kind, long first, long count, uint64_t key, const char *op);
/* The same for a layout: writes values into its places, or accumulates them there. */
void lay_values(room *into, const layout *of, long at, const char *kind, long count, uint64_t key, const char *op);
void accumulate(room *into, const layout *of, long at, const char *kind, long count, uint64_t key, const char *op);
MPI_Datatype type_of(const char *kind);
MPI_Op op_of(const char *op);

/* Completes requests in one of several ways; those with a code of -1 are open, all get their statuses and codes. */
void finish(const char *how, int count, MPI_Request *requests, MPI_Status *statuses, int *codes);
/* Completes one. */
void finish_one(const char *how, MPI_Request *request);

/* A buffer for buffered sends of so many messages with so many bytes together, until all are sent. */
void attach(int messages, long bytes);
void detach(void);
/* Reports all partitions of a message as ready in one of several ways; waits until all have arrived, one by one. */
void ready(int how, int partitions, MPI_Request *request);
void arrived(int how, int partitions, MPI_Request *request);

/* Checks and records received messages: one, or several whose receives could match each other's messages. */
void got(int step, message *one, const MPI_Status *status, int code, const sent *expected);
void got_any(int step, int count, message *messages, const MPI_Status *statuses, const int *codes, const sent *expected);

/* The same of a partitioned message, whose status says nothing. */
void got_parts(int step, message *one, const sent *expected);
/* Records the hash of a room that has to be like a picture. */
void same(int step, int name, const char *what, const room *one, room *picture);

/* The records of a step that is over; of the end of a program; the ends of the process. */
void step_done(int step);
void wrong(const char *format, ...);
void begin_program(uint64_t number);
void end_program(void);
void begin_all(int *argc, char ***argv, int needed);
int end_all(void);

#endif
