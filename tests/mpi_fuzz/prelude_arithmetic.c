/* Values, operations on them, and the expected results of reductions, in plain C. */
#include "prelude.h"

typedef struct {
    uint32_t scale, add;
} affine;

typedef struct {
    int value, place;
} located;

/* Maps x -> scale * x + add, one after the other: associative, but the order counts. */
static void chain(void *first, void *second, int *count, MPI_Datatype *type)
{
    affine *left = first, *right = second;
    (void)type;
    for (int one = 0; one < *count; one++) {
        affine made = {left[one].scale * right[one].scale,
                       left[one].scale * right[one].add + left[one].add};
        right[one] = made;
    }
}

/* (1 + x)(1 + y) - 1: associative, and the order does not count. */
static void blend(void *first, void *second, int *count, MPI_Datatype *type)
{
    uint32_t *left = first, *right = second;
    (void)type;
    for (int one = 0; one < *count; one++)
        right[one] = (1 + left[one]) * (1 + right[one]) - 1;
}

static MPI_Op chain_op = MPI_OP_NULL, blend_op = MPI_OP_NULL;
static MPI_Datatype affine_type = MPI_DATATYPE_NULL;

MPI_Op op_of(const char *op)
{
    static const struct {
        const char *name;
        MPI_Op op;
    } known[] = {
        {"MPI_SUM", MPI_SUM},         {"MPI_PROD", MPI_PROD},     {"MPI_MAX", MPI_MAX},
        {"MPI_MIN", MPI_MIN},         {"MPI_BAND", MPI_BAND},     {"MPI_BOR", MPI_BOR},
        {"MPI_BXOR", MPI_BXOR},       {"MPI_LAND", MPI_LAND},     {"MPI_LOR", MPI_LOR},
        {"MPI_LXOR", MPI_LXOR},       {"MPI_MAXLOC", MPI_MAXLOC}, {"MPI_MINLOC", MPI_MINLOC},
        {"MPI_REPLACE", MPI_REPLACE}, {"MPI_NO_OP", MPI_NO_OP}};
    for (size_t one = 0; one < sizeof known / sizeof *known; one++)
        if (strcmp(known[one].name, op) == 0)
            return known[one].op;
    if (chain_op == MPI_OP_NULL) {
        MPI_Op_create(chain, 0, &chain_op);
        MPI_Op_create(blend, 1, &blend_op);
    }
    return strcmp(op, "chain") == 0 ? chain_op : blend_op;
}

MPI_Datatype type_of(const char *kind)
{
    if (strcmp(kind, "u8") == 0)
        return MPI_UINT8_T;
    if (strcmp(kind, "u16") == 0)
        return MPI_UINT16_T;
    if (strcmp(kind, "u32") == 0)
        return MPI_UINT32_T;
    if (strcmp(kind, "u64") == 0)
        return MPI_UINT64_T;
    if (strcmp(kind, "i32") == 0)
        return MPI_INT32_T;
    if (strcmp(kind, "located") == 0)
        return MPI_2INT;
    if (affine_type == MPI_DATATYPE_NULL) {
        MPI_Type_contiguous(2, MPI_UINT32_T, &affine_type);
        MPI_Type_commit(&affine_type);
    }
    return affine_type;
}

static long size_of(const char *kind)
{
    return kind[0] == 'l' || kind[0] == 'a' ? 8
           : strcmp(kind, "u8") == 0        ? 1
           : strcmp(kind, "u16") == 0       ? 2
           : kind[1] == '6'                 ? 8
                                            : 4;
}

/* A key's values: few different ones for logical operations and for places, so that there are equal
 * ones. */
static void write_values(unsigned char *into, const char *kind, long first, long count,
                         uint64_t key, const char *op)
{
    size_t size = (size_t)size_of(kind);
    int logical = strncmp(op, "MPI_L", 5) == 0, places = strcmp(kind, "located") == 0;
    for (long place = first; place < first + count; place++, into += size) {
        uint64_t word = key + (uint64_t)(place + 1) * 0x9E3779B97F4A7C15ULL;
        word = (word ^ word >> 32) * 0xD6E8FEB86659FD93ULL;
        word ^= word >> 32;
        word &= logical ? 3 : ~0ULL;
        located made = {(int)(word >> 40 & 7) - 4, (int)(word & 0xFFFFF)};
        memcpy(into, places ? (void *)&made : (void *)&word, size); /* a word's low bytes */
    }
}

/* Operations by number, so that no name is compared for each value. */
enum { SUM, PROD, MAX, MIN, BAND, BOR, BXOR, LAND, LOR, LXOR, REPLACE, NO_OP, BLEND, OTHER };

static int number_of(const char *op)
{
    static const char *const names[] = {
        "MPI_SUM",  "MPI_PROD", "MPI_MAX",  "MPI_MIN",     "MPI_BAND",  "MPI_BOR", "MPI_BXOR",
        "MPI_LAND", "MPI_LOR",  "MPI_LXOR", "MPI_REPLACE", "MPI_NO_OP", "blend"};
    int one = 0;
    while (one < OTHER && strcmp(names[one], op) != 0)
        one++;
    return one;
}

#define FOLD(kind_t)                                                                               \
    for (; count; count--, into += sizeof(kind_t), other += sizeof(kind_t)) {                      \
        kind_t x, y, z;                                                                            \
        memcpy(&x, into, sizeof x);                                                                \
        memcpy(&y, other, sizeof y);                                                               \
        z = op == SUM       ? (kind_t)((uint64_t)x + (uint64_t)y)                                  \
            : op == PROD    ? (kind_t)((uint64_t)x * (uint64_t)y)                                  \
            : op == MAX     ? (x > y ? x : y)                                                      \
            : op == MIN     ? (x < y ? x : y)                                                      \
            : op == BAND    ? (kind_t)(x & y)                                                      \
            : op == BOR     ? (kind_t)(x | y)                                                      \
            : op == BXOR    ? (kind_t)(x ^ y)                                                      \
            : op == LAND    ? (kind_t)(x && y)                                                     \
            : op == LOR     ? (kind_t)(x || y)                                                     \
            : op == LXOR    ? (kind_t)(!x != !y)                                                   \
            : op == REPLACE ? y                                                                    \
            : op == NO_OP   ? x                                                                    \
                            : (kind_t)((1 + (uint64_t)x) * (1 + (uint64_t)y) - 1);                 \
        memcpy(into, &z, sizeof z);                                                                \
    }

/* x = x op y for all values, with x from the lower ranks. */
static void fold_all(unsigned char *into, const unsigned char *other, long count, const char *kind,
                     const char *name)
{
    int op = number_of(name), greatest = strcmp(name, "MPI_MAXLOC") == 0;
    if (strcmp(kind, "located") == 0) {
        for (; count; count--, into += sizeof(located), other += sizeof(located)) {
            located x, y;
            memcpy(&x, into, sizeof x);
            memcpy(&y, other, sizeof y);
            if ((greatest ? y.value > x.value : y.value < x.value) ||
                (x.value == y.value && y.place < x.place))
                memcpy(into, &y, sizeof y);
        }
    } else if (strcmp(kind, "affine") == 0) {
        for (; count; count--, into += sizeof(affine), other += sizeof(affine)) {
            affine x, y;
            memcpy(&x, into, sizeof x);
            memcpy(&y, other, sizeof y);
            affine z = {x.scale * y.scale, x.scale * y.add + x.add};
            memcpy(into, &z, sizeof z);
        }
    } else if (strcmp(kind, "u8") == 0) {
        FOLD(uint8_t)
    } else if (strcmp(kind, "u16") == 0) {
        FOLD(uint16_t)
    } else if (strcmp(kind, "u32") == 0) {
        FOLD(uint32_t)
    } else if (strcmp(kind, "u64") == 0) {
        FOLD(uint64_t)
    } else {
        FOLD(int32_t)
    }
}

void values(room *into, const char *kind, long first, long count, uint64_t key, const char *op)
{
    write_values(into->at, kind, first, count, key, op);
}

void fold(room *into, const char *kind, long first, long count, uint64_t key, const char *op)
{
    unsigned char *other = malloc((size_t)(count * size_of(kind)) + 1);
    write_values(other, kind, first, count, key, op);
    fold_all(into->at, other, count, kind, op);
    free(other);
}

static room plain_room(const char *kind, long count)
{
    run one = {0, size_of(kind), 1, 0};
    layout plain = {MPI_BYTE, count, size_of(kind), size_of(kind), 1, &one};
    return open_room(&plain, count, 0, 0);
}

void lay_values(room *into, const layout *of, long at, const char *kind, long count, uint64_t key,
                const char *op)
{
    run one = {0, size_of(kind), 1, 0};
    layout plain = {MPI_BYTE, count, size_of(kind), size_of(kind), 1, &one};
    room packed = plain_room(kind, count);
    values(&packed, kind, 0, count, key, op);
    move(into, of, at, &packed, &plain, 0, count * size_of(kind));
    shut(&packed);
}

void accumulate(room *into, const layout *of, long at, const char *kind, long count, uint64_t key,
                const char *op)
{
    run one = {0, size_of(kind), 1, 0};
    layout plain = {MPI_BYTE, count, size_of(kind), size_of(kind), 1, &one};
    room packed = plain_room(kind, count);
    move(&packed, &plain, 0, into, of, at, count * size_of(kind));
    fold(&packed, kind, 0, count, key, op);
    move(into, of, at, &packed, &plain, 0, count * size_of(kind));
    shut(&packed);
}
