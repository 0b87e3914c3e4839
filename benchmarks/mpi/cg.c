/* Conjugate gradients for Poisson's equation in three dimensions: an application dominated by its
 * collective operations when there are many processes.
 *
 * The unit cube has a point grid, cut into equal boxes, one for each process; outside the cube all
 * values are 0. The matrix is the second-order difference with 7 points. An iteration has one
 * matrix-vector product, for which neighbours exchange their box faces, and two scalar products
 * over all points, each an MPI_Allreduce of one number. The right side belongs to a known solution;
 * the error against it is measured at the end.
 *
 *     mpiexec -n 64 ./cg --points 16 --iterations 50
 */
#include "bench.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDES = 6 };

struct box {
    MPI_Comm comm;
    /* Points along a side, and the same with a layer of the neighbours' points on either side. */
    long points, wide;
    int whole[3], place[3], neighbours[SIDES];
    double *out[SIDES], *in[SIDES];
    /* Time in scalar products, and in face exchange. */
    double reducing, exchanging;
};

static size_t at(const struct box *box, long x, long y, long z)
{
    return (size_t)((x + 1) * box->wide * box->wide + (y + 1) * box->wide + z + 1);
}

static double *vector(const struct box *box)
{
    double *values = calloc((size_t)(box->wide * box->wide * box->wide), sizeof *values);
    if (!values)
        fail("there is no memory for %ld points", box->points * box->points * box->points);
    return values;
}

/* The place of a face's point: side 2d is the lower one in dimension d, side 2d + 1 the upper one.
 */
static size_t on_face(const struct box *box, int side, long depth, long one, long other)
{
    long along = side % 2 ? box->points - 1 + depth : -depth;
    if (side / 2 == 0)
        return at(box, along, one, other);
    return side / 2 == 1 ? at(box, one, along, other) : at(box, one, other, along);
}

/* Brings the neighbours' faces to the places where the product reads them. */
static void exchange(struct box *box, double *values)
{
    MPI_Request requests[2 * SIDES];
    long points = box->points;
    int face = (int)(points * points);
    double begin = MPI_Wtime();
    for (int side = 0; side < SIDES; side++) {
        for (long one = 0; one < points; one++)
            for (long other = 0; other < points; other++)
                box->out[side][one * points + other] = values[on_face(box, side, 0, one, other)];
        /* Data sent at one side arrives at the neighbour's opposite side. */
        MPI_Irecv(box->in[side], face, MPI_DOUBLE, box->neighbours[side], side ^ 1, box->comm,
                  &requests[2 * side]);
        MPI_Isend(box->out[side], face, MPI_DOUBLE, box->neighbours[side], side, box->comm,
                  &requests[2 * side + 1]);
    }
    MPI_Waitall(2 * SIDES, requests, MPI_STATUSES_IGNORE);
    for (int side = 0; side < SIDES; side++)
        for (long one = 0; one < points && box->neighbours[side] != MPI_PROC_NULL; one++)
            for (long other = 0; other < points; other++)
                values[on_face(box, side, 1, one, other)] = box->in[side][one * points + other];
    box->exchanging += MPI_Wtime() - begin;
}

/* The product of the matrix, scaled by the squared point distance, with a vector. */
static void multiply(struct box *box, double *values, double *product)
{
    exchange(box, values);
    size_t plane = (size_t)(box->wide * box->wide), line = (size_t)box->wide;
    for (long x = 0; x < box->points; x++)
        for (long y = 0; y < box->points; y++)
            for (long z = 0; z < box->points; z++) {
                size_t here = at(box, x, y, z);
                product[here] = 6 * values[here] - values[here - plane] - values[here + plane] -
                                values[here - line] - values[here + line] - values[here - 1] -
                                values[here + 1];
            }
}

/* The scalar product of two vectors over all processes' points. */
static double dot(struct box *box, const double *one, const double *other)
{
    double own = 0, sum;
    for (long x = 0; x < box->points; x++)
        for (long y = 0; y < box->points; y++)
            for (long z = 0; z < box->points; z++)
                own += one[at(box, x, y, z)] * other[at(box, x, y, z)];
    double begin = MPI_Wtime();
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, box->comm);
    box->reducing += MPI_Wtime() - begin;
    return sum;
}

/* Sets a vector to the solution, a product of polynomials that vanish on the surface, or to the
 * right side that belongs to it. */
static void known(const struct box *box, double *values, int solution)
{
    double steps[3];
    for (int along = 0; along < 3; along++)
        steps[along] = 1.0 / (double)(box->whole[along] * box->points + 1);
    for (long x = 0; x < box->points; x++)
        for (long y = 0; y < box->points; y++)
            for (long z = 0; z < box->points; z++) {
                long point[] = {x, y, z};
                double part[3], bend = 0;
                for (int along = 0; along < 3; along++) {
                    double where =
                        (double)(box->place[along] * box->points + point[along] + 1) * steps[along];
                    part[along] = where * (1 - where);
                }
                /* In units of the points' distance along each side the second difference of such a
                 * polynomial is exact. */
                for (int along = 0; along < 3; along++)
                    bend += 2 * steps[along] * steps[along] * part[(along + 1) % 3] *
                            part[(along + 2) % 3];
                values[at(box, x, y, z)] = solution ? part[0] * part[1] * part[2] : bend;
            }
}

static void cut(struct box *box, long points)
{
    int ranks, rank, periods[3] = {0, 0, 0};
    box->points = points;
    box->wide = points + 2;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int along = 0; along < 3; along++)
        box->whole[along] = 0;
    MPI_Dims_create(ranks, 3, box->whole);
    MPI_Cart_create(MPI_COMM_WORLD, 3, box->whole, periods, 0, &box->comm);
    MPI_Comm_rank(box->comm, &rank);
    MPI_Cart_coords(box->comm, rank, 3, box->place);
    for (int along = 0; along < 3; along++)
        MPI_Cart_shift(box->comm, along, 1, &box->neighbours[2 * along],
                       &box->neighbours[2 * along + 1]);
    for (int side = 0; side < SIDES; side++) {
        box->out[side] = (double *)buffer(sizeof(double) * (size_t)(points * points));
        box->in[side] = (double *)buffer(sizeof(double) * (size_t)(points * points));
    }
    box->reducing = box->exchanging = 0;
}

int main(int argc, char **argv)
{
    struct option options[] = {
        {"points", "points of a process along each side", COUNT, "16"},
        {"iterations", "iterations", COUNT, "50"},
    };
    bench_begin(&argc, &argv, "conjugate gradients for Poisson's equation", options, 2);
    struct box box;
    int rank, ranks;
    cut(&box, option_count(&options[0]));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    /* One process reads the input, as in programs. */
    long iterations = option_count(&options[1]);
    MPI_Bcast(&iterations, 1, MPI_LONG, 0, box.comm);
    double *solution = vector(&box), *residual = vector(&box), *direction = vector(&box),
           *product = vector(&box);
    known(&box, residual, 0);
    known(&box, direction, 0);
    double before = dot(&box, residual, residual), first = before;
    box.reducing = box.exchanging = 0;
    MPI_Barrier(box.comm);
    double begin = MPI_Wtime();
    for (long iteration = 0; iteration < iterations; iteration++) {
        multiply(&box, direction, product);
        double step = before / dot(&box, direction, product);
        for (long x = 0; x < box.points; x++)
            for (long y = 0; y < box.points; y++)
                for (long z = 0; z < box.points; z++) {
                    size_t here = at(&box, x, y, z);
                    solution[here] += step * direction[here];
                    residual[here] -= step * product[here];
                }
        double after = dot(&box, residual, residual);
        for (long x = 0; x < box.points; x++)
            for (long y = 0; y < box.points; y++)
                for (long z = 0; z < box.points; z++) {
                    size_t here = at(&box, x, y, z);
                    direction[here] = residual[here] + after / before * direction[here];
                }
        before = after;
    }
    double time = MPI_Wtime() - begin, own[3] = {time, box.reducing, box.exchanging}, times[3];
    MPI_Reduce(own, times, 3, MPI_DOUBLE, MPI_SUM, 0, box.comm);
    known(&box, direction, 1);
    for (long x = 0; x < box.points; x++)
        for (long y = 0; y < box.points; y++)
            for (long z = 0; z < box.points; z++)
                direction[at(&box, x, y, z)] -= solution[at(&box, x, y, z)];
    double error = sqrt(dot(&box, direction, direction));
    if (rank == 0) {
        puts("processes,points,iterations,residual,error,iteration_us,reduction_us,exchange_us");
        double all = (double)ranks * (double)iterations / 1e6;
        printf("%d,%ld,%ld,%.6e,%.6e,%.3f,%.3f,%.3f\n", ranks, box.points, iterations,
               sqrt(before / first), error, times[0] / all, times[1] / all / 2, times[2] / all);
    }
    MPI_Comm_free(&box.comm);
    return bench_end();
}
