/* Every reduction with MPI's own operations and types, against the function by which the MPI
 * library combines two vectors; and calls with unusual arguments: derived types, MPI_IN_PLACE,
 * large counts, no elements, wrong ones. */
#include "check.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 37, LONGEST = 16 };

struct type {
    MPI_Datatype type;
    const char *name;
    /* Odd forms have 4-byte parts. */
    enum { WHOLE = 0, REAL = 1, DOUBLE = 2, PAIR = 3, DOUBLE_PAIR = 4, TRUTH = 6 } form;
};


/* Fills a vector with small numbers, so that the order of additions or products does not change a
 * sum. */
static void fill_vector(unsigned char *vector, const struct type *type, int size, int whose)
{
    for (int index = 0; index < COUNT; index++) {
        int number = (whose * 7 + index * 3) % 5 + (index % 4 == whose % 4);
        unsigned char *at = vector + (size_t)index * (size_t)size;
        memset(at, 0, (size_t)size);
        if (type->form == REAL || type->form == PAIR) {
            float parts[2] = {(float)number - 2, (float)(number % 2)};
            memcpy(at, parts, (size_t)size);
        } else if (type->form == DOUBLE || type->form == DOUBLE_PAIR) {
            double parts[2] = {number - 2, number % 2};
            memcpy(at, parts, (size_t)size);
        } else if (type->form == TRUTH) {
            at[0] = (unsigned char)(number % 2);
        } else {
            int64_t whole = (number - 2) * (index % 3 ? 1 : 61);
            memcpy(at, &whole, (size_t)size);
        }
    }
}

/* Whether two vectors are alike; a zero may have either sign, since that depends on the factors'
 * order. */
static int alike(const unsigned char *one, const unsigned char *other, const struct type *type,
                 int size)
{
    for (size_t at = 0; at < (size_t)COUNT * (size_t)size;
         at += type->form % 2 ? sizeof(float) : sizeof(double)) {
        float floats[2];
        double doubles[2];
        if (type->form == REAL || type->form == PAIR) {
            memcpy(&floats[0], one + at, sizeof(float));
            memcpy(&floats[1], other + at, sizeof(float));
            if (floats[0] != floats[1])
                return 0;
        } else if (type->form == DOUBLE || type->form == DOUBLE_PAIR) {
            memcpy(&doubles[0], one + at, sizeof(double));
            memcpy(&doubles[1], other + at, sizeof(double));
            if (doubles[0] != doubles[1])
                return 0;
        } else {
            return memcmp(one, other, (size_t)COUNT * (size_t)size) == 0;
        }
    }
    return 1;
}

/* The MPI library's result for all vectors; whether it has a function for that. */
static int expected(unsigned char *result, const struct type *type, int size, MPI_Op op)
{
    unsigned char one[COUNT * LONGEST], next[COUNT * LONGEST];
    fill_vector(one, type, size, 0);
    for (int other = 1; other < ranks; other++) {
        fill_vector(next, type, size, other);
        if (MPI_Reduce_local(one, next, COUNT, type->type, op) != MPI_SUCCESS)
            return 0;
        memcpy(one, next, sizeof one);
    }
    memcpy(result, one, (size_t)COUNT * (size_t)size);
    return 1;
}

static int all_types_and_operations(MPI_Comm comm)
{
    static const struct type types[] = {
        {MPI_SIGNED_CHAR, "signed char", WHOLE},
        {MPI_UNSIGNED_CHAR, "unsigned char", WHOLE},
        {MPI_SHORT, "short", WHOLE},
        {MPI_UNSIGNED_SHORT, "unsigned short", WHOLE},
        {MPI_INT, "int", WHOLE},
        {MPI_UNSIGNED, "unsigned", WHOLE},
        {MPI_LONG, "long", WHOLE},
        {MPI_UNSIGNED_LONG, "unsigned long", WHOLE},
        {MPI_LONG_LONG, "long long", WHOLE},
        {MPI_UNSIGNED_LONG_LONG, "unsigned long long", WHOLE},
        {MPI_INT8_T, "int8_t", WHOLE},
        {MPI_UINT8_T, "uint8_t", WHOLE},
        {MPI_INT16_T, "int16_t", WHOLE},
        {MPI_UINT16_T, "uint16_t", WHOLE},
        {MPI_INT32_T, "int32_t", WHOLE},
        {MPI_UINT32_T, "uint32_t", WHOLE},
        {MPI_INT64_T, "int64_t", WHOLE},
        {MPI_UINT64_T, "uint64_t", WHOLE},
        {MPI_AINT, "MPI_Aint", WHOLE},
        {MPI_OFFSET, "MPI_Offset", WHOLE},
        {MPI_COUNT, "MPI_Count", WHOLE},
        {MPI_FLOAT, "float", REAL},
        {MPI_DOUBLE, "double", DOUBLE},
        {MPI_C_FLOAT_COMPLEX, "float complex", PAIR},
        {MPI_C_DOUBLE_COMPLEX, "double complex", DOUBLE_PAIR},
        {MPI_C_BOOL, "bool", TRUTH},
        {MPI_BYTE, "byte", WHOLE},
    };
    struct operation {
        MPI_Op op;
        const char *name;
    } operations[] = {
        {MPI_MAX, "max"},   {MPI_MIN, "min"},   {MPI_SUM, "sum"}, {MPI_PROD, "prod"},
        {MPI_LAND, "land"}, {MPI_BAND, "band"}, {MPI_LOR, "lor"}, {MPI_BOR, "bor"},
        {MPI_LXOR, "lxor"}, {MPI_BXOR, "bxor"},
    };
    int done = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (size_t one = 0; one < sizeof types / sizeof *types; one++) {
        int size;
        MPI_Type_size(types[one].type, &size);
        for (size_t other = 0; other < sizeof operations / sizeof *operations; other++) {
            unsigned char own[COUNT * LONGEST], right[COUNT * LONGEST], got[COUNT * LONGEST];
            const char *what[] = {types[one].name, operations[other].name};
            MPI_Op op = operations[other].op;
            int root = (int)(one + other) % ranks;
            fill_vector(own, &types[one], size, rank);
            if (!expected(right, &types[one], size, op)) {
                int error = MPI_Allreduce(own, got, COUNT, types[one].type, op, comm), kind;
                require(error != MPI_SUCCESS, "%s of %s: the library has no function for that",
                        what[1], what[0]);
                MPI_Error_class(error, &kind);
                require(kind == MPI_ERR_OP, "%s of %s: the error is of class %d", what[1], what[0],
                        kind);
                continue;
            }
            MPI_Allreduce(own, got, COUNT, types[one].type, op, comm);
            require(alike(got, right, &types[one], size), "allreduce: %s of %s", what[1], what[0]);
            memset(got, 0, sizeof got);
            MPI_Reduce(own, got, COUNT, types[one].type, op, root, comm);
            if (rank == root)
                require(alike(got, right, &types[one], size), "reduce: %s of %s", what[1], what[0]);
            MPI_Allreduce(MPI_IN_PLACE, own, COUNT, types[one].type, op, comm);
            require(alike(own, right, &types[one], size), "allreduce in place: %s of %s", what[1],
                    what[0]);
            fill_vector(own, &types[one], size, rank);
            MPI_Reduce(rank == root ? MPI_IN_PLACE : own, own, COUNT, types[one].type, op, root,
                       comm);
            if (rank == root)
                require(alike(own, right, &types[one], size), "reduce in place: %s of %s", what[1],
                        what[0]);
            done++;
        }
    }
    return done;
}

/* Operations and types that are the MPI library's in any case. */
static void own_function(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int index = 0; index < *count; index++) /* does not commute */
        ((int *)inout)[index] = ((int *)in)[index] * 3 + ((int *)inout)[index];
}

static void others(MPI_Comm comm)
{
    MPI_Op own;
    struct {
        double value;
        int place;
    } pair = {rank % 2, rank}, most;
    int got = 0, right = 0;
    MPI_Op_create(own_function, 0, &own);
    MPI_Allreduce(&rank, &got, 1, MPI_INT, own, comm);
    for (int other = 0; other < ranks; other++)
        right = other == 0 ? 0 : right * 3 + other;
    require(got == right || ranks > 2, "an operation of the program: %d", got);
    MPI_Op_free(&own);
    MPI_Allreduce(&pair, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
    require(most.place == 1 % ranks, "maxloc: %d", most.place);
}

static void broadcasts(MPI_Comm comm)
{
    /* Every other int of a matrix, which the others take as consecutive ints, or the other way
     * round. */
    enum { ROWS = 300 };
    static int matrix[ROWS][2], run[ROWS];
    MPI_Datatype column;
    MPI_Type_vector(ROWS, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int root = 0; root < ranks; root++) {
        for (int row = 0; row < ROWS; row++) {
            matrix[row][0] = run[row] = rank == root ? row * 5 + root : -1;
            matrix[row][1] = -7;
        }
        if (rank % 2)
            MPI_Bcast(matrix, 1, column, root, comm);
        else
            MPI_Bcast(run, ROWS, MPI_INT, root, comm);
        for (int row = 0; row < ROWS; row++) {
            int got = rank % 2 ? matrix[row][0] : run[row];
            require(got == row * 5 + root && matrix[row][1] == -7,
                    "bcast of a column: %d in row %d", got, row);
        }
    }
    MPI_Type_free(&column);
    for (int size = 0; size < 3; size++) { /* 0, 1, more than a part in the simulator */
        size_t length = size < 2 ? (size_t)size : 5000001;
        char *bytes = malloc(length + 1);
        memset(bytes, rank == 1 % ranks ? 'x' : 0, length + 1);
        MPI_Bcast_c(bytes, (MPI_Count)length, MPI_CHAR, 1 % ranks, comm);
        for (size_t at = 0; at < length; at++)
            require(bytes[at] == 'x', "bcast_c: byte %zu of %zu", at, length);
        free(bytes);
    }
    MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, comm);
    MPI_Reduce(NULL, NULL, 0, MPI_INT, MPI_SUM, 0, comm);
    MPI_Bcast(NULL, 0, MPI_INT, 0, comm);
}

/* Wrong arguments have their errors, and no call hangs. */
static void errors(MPI_Comm comm)
{
    int value = 0, kind;
    struct {
        int error, right;
        const char *what;
    } calls[] = {
        {MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM, "no communicator"},
        {MPI_Bcast(&value, 1, MPI_INT, ranks, comm), MPI_ERR_ROOT, "no such root"},
        {MPI_Bcast(&value, 1, MPI_INT, -1, comm), MPI_ERR_ROOT, "root -1"},
        {MPI_Bcast(&value, -1, MPI_INT, 0, comm), MPI_ERR_COUNT, "a negative count"},
        {MPI_Bcast(&value, 1, MPI_DATATYPE_NULL, 0, comm), MPI_ERR_TYPE, "no type"},
        {MPI_Bcast(NULL, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER, "no buffer"},
        {MPI_Allreduce(&value, &value, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER,
         "the same buffer twice"},
        {MPI_Allreduce(&value, &kind, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP, "no operation"},
    };
    for (size_t call = 0; call < sizeof calls / sizeof *calls; call++) {
        MPI_Error_class(calls[call].error, &kind);
        require(kind == calls[call].right, "%s: the error is of class %d", calls[call].what, kind);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm half, copy;
    check_begin(&argc, &argv, 2);
    int done = all_types_and_operations(MPI_COMM_WORLD);
    others(MPI_COMM_WORLD);
    broadcasts(MPI_COMM_WORLD);
    errors(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    broadcasts(copy);
    MPI_Comm_free(&copy);
    int world = rank;
    /* Backwards, so that rank order is not node order. */
    MPI_Comm_split(MPI_COMM_WORLD, world % 2, -world, &half);
    MPI_Comm_rank(half, &rank);
    MPI_Comm_size(half, &ranks);
    broadcasts(half);
    all_types_and_operations(half);
    /* Nonblocking calls continue while others wait in such calls. */
    MPI_Request request;
    int sum = 0, one = 1;
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Barrier(half);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    require(sum == ranks, "iallreduce: %d", sum);
    MPI_Comm_free(&half);
    for (int turn = 0; turn < 40; turn++) { /* more than there would be room for at a time */
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Barrier(copy);
        MPI_Comm_free(&copy);
    }
    if (world == 0)
        printf("%d reductions\n", done);
    return check_end();
}
