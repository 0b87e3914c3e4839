/* See prelude.h. */
#include "prelude.h"

#include <stdarg.h>

enum { GUARD = 64, KEPT = 4096 };

int rank, ranks;
uint64_t program;
FILE *record;

static MPI_Datatype kept_types[KEPT];
static int kept;

static uint64_t mixed(uint64_t word)
{
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9ULL;
    word = (word ^ word >> 27) * 0x94D049BB133111EBULL;
    return word ^ word >> 31;
}

/* Eight bytes of a key's contents. */
static inline uint64_t word_at(uint64_t key, uint64_t place)
{
    uint64_t word = key + (place + 1) * 0x9E3779B97F4A7C15ULL;
    word = (word ^ word >> 32) * 0xD6E8FEB86659FD93ULL;
    return word ^ word >> 32;
}

uint64_t DATA(int step, int one, int other)
{
    return mixed(0x9E3779B97F4A7C15ULL * (program + 1) +
                 ((uint64_t)step << 48 | (uint64_t)one << 24 | (uint64_t)other));
}

uint64_t HOLE(int step, int one, int other)
{
    return ~DATA(step, one, other);
}

void wrong(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("wrong: ", record);
    vfprintf(record, format, arguments);
    fputc('\n', record);
    va_end(arguments);
}

/* A key's contents from byte `from` on. */
static void write_key(unsigned char *into, uint64_t key, uint64_t from, size_t bytes)
{
    for (; bytes && from % 8; bytes--, from++)
        *into++ = (unsigned char)(word_at(key, from / 8) >> from % 8 * 8);
    for (; bytes >= 8; bytes -= 8, from += 8, into += 8) {
        uint64_t word = word_at(key, from / 8);
        memcpy(into, &word, 8);
    }
    for (; bytes; bytes--, from++)
        *into++ = (unsigned char)(word_at(key, from / 8) >> from % 8 * 8);
}

static MPI_Datatype keep(MPI_Datatype type)
{
    MPI_Type_commit(&type);
    if (kept == KEPT)
        MPI_Abort(MPI_COMM_WORLD, 9);
    return kept_types[kept++] = type;
}

static void *arrays[KEPT];
static int arrays_kept;

const void *lasting(const void *array, size_t bytes)
{
    if (arrays_kept == KEPT)
        MPI_Abort(MPI_COMM_WORLD, 9);
    return memcpy(arrays[arrays_kept++] = malloc(bytes), array, bytes);
}

MPI_Datatype contiguous(int count, MPI_Datatype old)
{
    MPI_Datatype made;
    MPI_Type_contiguous(count, old, &made);
    return keep(made);
}

MPI_Datatype vector(int count, int length, MPI_Aint stride, MPI_Datatype old)
{
    MPI_Datatype made;
    MPI_Aint lower, extent;
    MPI_Type_get_extent(old, &lower, &extent);
    if (extent > 0 && stride % extent == 0 && count % 2)
        MPI_Type_vector(count, length, (int)(stride / extent), old, &made);
    else
        MPI_Type_create_hvector(count, length, stride, old, &made);
    return keep(made);
}

MPI_Datatype resized(MPI_Datatype old, MPI_Aint lower, MPI_Aint extent)
{
    MPI_Datatype made;
    MPI_Type_create_resized(old, lower, extent, &made);
    return keep(made);
}

MPI_Datatype indexed(int count, const int *lengths, const MPI_Aint *places, MPI_Datatype old)
{
    MPI_Datatype made;
    MPI_Type_create_hindexed(count, lengths, places, old, &made);
    return keep(made);
}

MPI_Datatype blocks(int count, int length, const int *places, MPI_Datatype old)
{
    MPI_Datatype made;
    MPI_Type_create_indexed_block(count, length, places, old, &made);
    return keep(made);
}

MPI_Datatype structure(int count, const int *lengths, const MPI_Aint *places,
                       const MPI_Datatype *old)
{
    MPI_Datatype made;
    MPI_Type_create_struct(count, lengths, places, old, &made);
    return keep(made);
}

MPI_Datatype subarray(int rows, int columns, int all_rows, int all_columns, int row, int column,
                      MPI_Datatype old)
{
    MPI_Datatype made;
    int sizes[2] = {all_rows, all_columns}, own[2] = {rows, columns}, starts[2] = {row, column};
    MPI_Type_create_subarray(2, sizes, own, starts, MPI_ORDER_C, old, &made);
    return keep(made);
}

MPI_Datatype duplicate(MPI_Datatype old)
{
    MPI_Datatype made;
    MPI_Type_dup(old, &made);
    return keep(made);
}

layout shape(MPI_Datatype type, long count, long extent, int runs, const run *all)
{
    layout made = {type, count, 0, extent, runs, all};
    for (int one = 0; one < runs; one++)
        made.size += all[one].bytes * all[one].times;
    MPI_Aint lower, theirs;
    MPI_Count size;
    MPI_Type_get_extent(type, &lower, &theirs);
    MPI_Type_size_x(type, &size);
    if (size != made.size || (count > 1 && theirs != extent))
        wrong("a datatype has size %lld and extent %ld, not %ld and %ld", (long long)size,
              (long)theirs, made.size, extent);
    return made;
}

room open_room(const layout *of, long elements, uint64_t key, int shift)
{
    long low = 0, high = 0;
    for (int one = 0; one < of->runs && elements > 0; one++) {
        const run *each = &of->run[one];
        long ends[2] = {each->at, each->at + (elements - 1) * of->extent};
        for (int end = 0; end < 2; end++) {
            long last = ends[end] + (each->times - 1) * each->step + each->bytes;
            low = ends[end] < low ? ends[end] : low;
            high = last > high ? last : high;
        }
    }
    room made = {.key = key, .whole = (size_t)(2 * GUARD + shift + high - low)};
    if (posix_memalign((void **)&made.base, 64, made.whole)) {
        fprintf(stderr, "rank %d: there is no memory for %zu bytes\n", rank, made.whole);
        MPI_Abort(MPI_COMM_WORLD, 8);
    }
    /* A multiple of all basic types' alignment before the start, so that only `shift` moves it. */
    made.at = made.base + GUARD + shift - low;
    write_key(made.base, key, 0, made.whole);
    return made;
}

room room_of(void *memory, size_t bytes, uint64_t key)
{
    room made = {memory, memory, bytes, key};
    write_key(made.base, key, 0, bytes);
    return made;
}

void again(room *one)
{
    write_key(one->base, one->key, 0, one->whole);
}

void shut(room *one)
{
    free(one->base);
    memset(one, 0, sizeof *one);
}

/* The places of a layout's contiguous bytes, one block after the other, in datatype order. */
typedef struct {
    const layout *of;
    long element, displacement;
    int run;
    long time;
} walk;

static long next_block(walk *at, long *place)
{
    const layout *of = at->of;
    if (of->runs == 0)
        return 0;
    if (of->runs == 1 && of->run->times == 1 && of->run->bytes == of->extent) {
        *place = at->displacement + of->run->at + at->element * of->extent;
        return 1L << 60; /* no holes at all */
    }
    const run *now = &of->run[at->run];
    *place = at->displacement + at->element * of->extent + now->at + at->time * now->step;
    if (++at->time == now->times) {
        at->time = 0;
        if (++at->run == of->runs) {
            at->run = 0;
            at->element++;
        }
    }
    return now->bytes;
}

void lay(room *into, const layout *of, long displacement, long bytes, uint64_t key)
{
    walk at = {.of = of, .displacement = displacement};
    for (long done = 0, place, length; done < bytes; done += length) {
        length = next_block(&at, &place);
        length = length < bytes - done ? length : bytes - done;
        write_key(into->at + place, key, (uint64_t)done, (size_t)length);
    }
}

void take_actual(room *picture, const room *actual, const layout *of, long displacement, long bytes)
{
    walk at = {.of = of, .displacement = displacement};
    for (long done = 0, place, length; done < bytes; done += length) {
        length = next_block(&at, &place);
        length = length < bytes - done ? length : bytes - done;
        memcpy(picture->at + place, actual->at + place, (size_t)length);
    }
}

void move(room *into, const layout *of, long displacement, const room *from, const layout *as,
          long start, long bytes)
{
    walk to = {.of = of, .displacement = displacement}, source = {.of = as, .displacement = start};
    long here = 0, there = 0, left = 0, right = 0;
    while (bytes > 0) {
        if (!left)
            left = next_block(&to, &here);
        if (!right)
            right = next_block(&source, &there);
        long length = left < right ? left : right;
        length = length < bytes ? length : bytes;
        memmove(into->at + here, from->at + there, (size_t)length);
        here += length, there += length, left -= length, right -= length, bytes -= length;
    }
}

room picture_of(const room *one)
{
    room made = *one;
    if (posix_memalign((void **)&made.base, 64, made.whole ? made.whole : 1)) {
        fprintf(stderr, "rank %d: there is no memory for a picture of %zu bytes\n", rank,
                made.whole);
        MPI_Abort(MPI_COMM_WORLD, 8);
    }
    made.at = made.base + (one->at - one->base);
    write_key(made.base, one->key, 0, made.whole);
    return made;
}

void forget(room *one, long at, long bytes)
{
    unsigned char *into = one->at + at;
    write_key(into, one->key, (uint64_t)(into - one->base), (size_t)bytes);
}

static uint64_t hash(const unsigned char *bytes, size_t count)
{
    uint64_t made = 0xCBF29CE484222325ULL ^ count, word;
    for (; count >= 8; count -= 8, bytes += 8) {
        memcpy(&word, bytes, 8);
        made = (made ^ word) * 0x9FB21C651E98DF25ULL;
        made ^= made >> 29;
    }
    for (; count; count--)
        made = (made ^ *bytes++) * 0x100000001B3ULL;
    return mixed(made);
}

uint64_t compare(const room *one, room *picture, const char *what, int step, int name)
{
    if (memcmp(one->base, picture->base, one->whole) != 0) {
        size_t first = 0, last = one->whole, differ = 0;
        while (one->base[first] == picture->base[first])
            first++;
        while (one->base[last - 1] == picture->base[last - 1])
            last--;
        for (size_t place = first; place < last; place++)
            differ += one->base[place] != picture->base[place];
        wrong("step %d, %s %d: %zu bytes differ, from offset %ld to %ld of %zu bytes with guards "
              "of %d; the first is %02x, not %02x",
              step, what, name, differ, (long)(one->base + first - one->at),
              (long)(one->base + last - 1 - one->at), one->whole, GUARD, one->base[first],
              picture->base[first]);
    }
    free(picture->base);
    return hash(one->base, one->whole);
}

void same(int step, int name, const char *what, const room *one, room *picture)
{
    uint64_t found = compare(one, picture, what, step, name);
    fprintf(record, "%d %s %d: hash %016llx\n", step, what, name, (unsigned long long)found);
}

void step_done(int step)
{
    fprintf(record, "%d done\n", step);
    fflush(record);
}

void begin_program(uint64_t number)
{
    program = number;
    fprintf(record, "program %llu\n", (unsigned long long)number);
    fflush(record);
}

void end_program(void)
{
    while (kept)
        MPI_Type_free(&kept_types[--kept]);
    while (arrays_kept)
        free(arrays[--arrays_kept]);
    MPI_Barrier(MPI_COMM_WORLD);
}
