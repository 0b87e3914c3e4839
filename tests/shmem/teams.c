/* OpenSHMEM 1.5's teams: members, collective calls and contexts. */
#include "check.h"
#include <complex.h>

#define MOST 40
static int from[8 * MOST], to[8 * MOST];
static long double wide[MOST], wides[MOST];
static double complex point = 1 + 2 * I, points;
static unsigned char letters[MOST], letter[MOST];
static long word;

static void calls(shmem_team_t team)
{
    int place = shmem_team_my_pe(team), size = shmem_team_n_pes(team), n = MOST;
#define PE(k) shmem_team_translate_pe(team, k, SHMEM_TEAM_WORLD)
    CHECK(place >= 0 && place < size && PE(place) == me && PE(size) == -1);
    for (int i = 0; i < 8 * MOST; i++) {
        from[i] = me * 1000 + i;
        to[i] = -1;
    }
    shmem_team_sync(team);
    CHECK(shmem_broadcast(team, to, from, n, size - 1) == 0);
    for (int i = 0; i < n; i++)
        CHECK(to[i] == PE(size - 1) * 1000 + i); /* at the root, too */
    shmem_team_sync(team);
    CHECK(shmem_fcollect(team, to, from, n) == 0);
    for (int i = 0; i < n * size; i++)
        CHECK(to[i] == PE(i / n) * 1000 + i % n);
    shmem_team_sync(team);
    CHECK(shmem_collectmem(team, to, from, 4 * (place + 1)) == 0);
    for (int k = 0, at = 0; k < size; k++)
        for (int i = 0; i < k + 1; i++, at++)
            CHECK(to[at] == PE(k) * 1000 + i);
    shmem_team_sync(team);
    CHECK(shmem_int_alltoall(team, to, from, n) == 0);
    for (int i = 0; i < n * size; i++)
        CHECK(to[i] == PE(i / n) * 1000 + place * n + i % n);
    shmem_team_sync(team);
    CHECK(shmem_alltoalls(team, to, from, 2, 1, n / 2) == 0);
    for (int i = 0; i < n / 2 * size; i++)
        CHECK(to[2 * i] == PE(i / (n / 2)) * 1000 + place * (n / 2) + i % (n / 2));
    shmem_team_sync(team);

    int sum = 0, most = 0, least = 1 << 30, both = -1;
    for (int k = 0; k < size; k++) {
        sum += PE(k) * 1000 + 3;
        most = most > PE(k) ? most : PE(k);
        least = least < PE(k) ? least : PE(k);
        both &= PE(k) * 1000 + 3;
    }
    CHECK(shmem_sum_reduce(team, to, from, n) == 0 && to[3] == sum);
    CHECK(shmem_max_reduce(team, to, from, n) == 0 && to[3] == most * 1000 + 3);
    CHECK(shmem_min_reduce(team, to, from, n) == 0 && to[3] == least * 1000 + 3);
    CHECK(shmem_and_reduce(team, to, from, n) == 0 && to[3] == both);
    for (int i = 0; i < MOST; i++) {
        wides[i] = i + 0.5L;
        letters[i] = 200 + place;
    }
    CHECK(shmem_longdouble_sum_reduce(team, wide, wides, MOST) == 0);
    CHECK(shmem_uchar_max_reduce(team, letter, letters, MOST) == 0);
    CHECK(shmem_complexd_prod_reduce(team, &points, &point, 1) == 0);
    double complex power = 1;
    for (int k = 0; k < size; k++)
        power *= point;
    CHECK(points == power && wide[2] == size * 2.5L && letter[MOST - 1] == 200 + size - 1);

    shmem_ctx_t ctx;
    shmem_team_t found;
    CHECK(shmem_team_create_ctx(team, 0, &ctx) == 0 && shmem_ctx_get_team(ctx, &found) == 0 &&
          found == team);
    word = 0;
    shmem_team_sync(team);
    shmem_ctx_long_atomic_add(ctx, &word, place + 1, (place + 1) % size);
    shmem_ctx_quiet(ctx);
    shmem_team_sync(team);
    CHECK(word == (place + size - 1) % size + 1);
    shmem_ctx_destroy(ctx);
    shmem_sync(team);
}

int main(void)
{
    begin();
    shmem_team_t team, rows, columns, back;
    shmem_team_config_t config = {3}, got = {0};

    CHECK(shmem_team_my_pe(SHMEM_TEAM_WORLD) == me && shmem_team_n_pes(SHMEM_TEAM_WORLD) == all);
    CHECK(shmem_team_n_pes(SHMEM_TEAM_SHARED) == 1 && shmem_team_my_pe(SHMEM_TEAM_INVALID) == -1);
    calls(SHMEM_TEAM_WORLD);
    shmem_barrier_all();
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (all + 1) / 2, &config,
                                   SHMEM_TEAM_NUM_CONTEXTS, &team) == 0);
    CHECK((team != SHMEM_TEAM_INVALID) == (me % 2 == 0));
    if (team != SHMEM_TEAM_INVALID) {
        CHECK(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &got) == 0 &&
              got.num_contexts == 3);
        calls(team);
        CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 1, team) == -1);
        CHECK(shmem_team_ptr(team, &me, -1) == NULL);
        shmem_team_destroy(team);
    }
    shmem_barrier_all();
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, all - 1, -1, all, NULL, 0, &back) == 0);
    CHECK(shmem_team_my_pe(back) == all - 1 - me);
    calls(back);
    CHECK(shmem_team_split_2d(back, 3, NULL, 0, &rows, NULL, 0, &columns) == 0);
    calls(rows);
    calls(columns);
    CHECK(shmem_team_my_pe(rows) == (all - 1 - me) % 3 &&
          shmem_team_my_pe(columns) == (all - 1 - me) / 3);
    shmem_team_destroy(rows);
    shmem_team_destroy(columns);
    shmem_team_destroy(back);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, all + 1, NULL, 0, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID && shmem_team_sync(team) != 0);
    end();
    return 0;
}
