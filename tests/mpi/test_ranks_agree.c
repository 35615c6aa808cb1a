/* test_ranks_agree.c - tests of the calls that all ranks make together: sums, gathers, broadcasts,
 * texts, and checks with the same answer on every rank. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ranks.h"

static bool sums(void)
{
    int n = hd_mpi_size(), r = hd_mpi_rank();
    double v[3] = {1, r, r == n - 1 ? 1e300 : 0.1}, m[2] = {-r, r};
    double tenths = 0;
    CHECK(hd_mpi_sum(3, v));
    for (int i = 0; i < n - 1; i++) {
        tenths += 0.1;
    }
    CHECK(v[0] == n && v[1] == n * (n - 1) / 2.0 && v[2] == tenths + 1e300);
    CHECK(hd_mpi_max(2, m));
    CHECK(m[0] == 0 && m[1] == n - 1);
    m[0] = r == n - 1 ? NAN : 1;
    CHECK(hd_mpi_max(1, m) && m[0] != m[0]);
    CHECK(hd_mpi_sum(0, v));
    CHECK(!hd_mpi_sum(-1, v) && error_has(HD_VALUE, "hd_mpi_sum", "n -1"));
    CHECK(!hd_mpi_max(1, NULL) && error_has(HD_NULL_ARG, "hd_mpi_max", "values is NULL"));
    return true;
}

static bool sums_of_other_counts(void)
{
    double v[2] = {1, 2};
    if (hd_mpi_size() > 1) {
        CHECK(!hd_mpi_sum(hd_mpi_rank() == 1 ? 2 : 1, v));
        CHECK(error_has(HD_VALUE, "hd_mpi_sum: 1 values on rank 0", "2 values on rank 1"));
        CHECK(v[0] == 1 && v[1] == 2);
    }
    return true;
}

static bool all_ok(void)
{
    int last = hd_mpi_size() - 1;
    char who[32];
    CHECK(hd_mpi_all_ok("the work", true));
    CHECK(!hd_mpi_all_ok("the work", hd_mpi_rank() != last));
    snprintf(who, sizeof who, last > 0 && hd_mpi_rank() != last ? "rank %d" : "hd_mpi_all_ok",
             last);
    CHECK(error_has(HD_USER, who, "the work has failed"));
    if (hd_mpi_rank() == last) {
        hd_error_set(HD_IO, "the disk is full");
    }
    CHECK(!hd_mpi_all_ok("the work", hd_mpi_rank() != last));
    CHECK(error_has(HD_IO, "the disk is full", ""));
    CHECK(!hd_mpi_all_ok(NULL, true) && error_has(HD_NULL_ARG, "hd_mpi_all_ok", "what"));
    CHECK(hd_mpi_all_ok("the work", true));
    return true;
}

#define LONG "0123456789012345678901234567890123456789012345678901234567890123456789"

static bool all_same(void)
{
    char text[64];
    bool last = hd_mpi_size() > 1 && hd_mpi_rank() == hd_mpi_size() - 1;
    CHECK(hd_mpi_all_same("the configuration", "a\nb\n"));
    CHECK(hd_mpi_all_same("the configuration", ""));
    CHECK(!hd_mpi_all_same("the configuration", NULL) && error_has(HD_NULL_ARG, "text", ""));
    if (hd_mpi_size() > 1) {
        snprintf(text, sizeof text, "lr 1\nsteps %d\n", last ? 7 : 5);
        CHECK(!hd_mpi_all_same("the configuration", text));
        CHECK(error_has(HD_VALUE, "line 2 is 'steps 5' on rank 0", "'steps 7' on rank "));
        CHECK(!hd_mpi_all_same("the configuration", last ? "a\n" : "a\nb"));
        CHECK(error_has(HD_VALUE, "line 2 is 'b' on rank 0", "the end of the text on rank "));
        CHECK(!hd_mpi_all_same("the configuration", last ? "a" : "a\nb"));
        CHECK(error_has(HD_VALUE, "line 2 is 'b' on rank 0", "missing on rank "));
        CHECK(!hd_mpi_all_same("the configuration", last ? "a\n" : "a"));
        CHECK(error_has(HD_VALUE, "line 2 is missing on rank 0", "the end of the text on rank "));
        CHECK(!hd_mpi_all_same("the configuration", last ? "ab" : "a"));
        CHECK(error_has(HD_VALUE, "line 1 is 'a' on rank 0", "'ab' on rank "));
        CHECK(!hd_mpi_all_same("the configuration", last ? LONG "a" LONG : LONG "b" LONG));
        CHECK(error_has(HD_VALUE, "0123456789b0123456789", "0123456789a0123456789"));
    }
    return true;
}

static bool gathers(void)
{
    int n = hd_mpi_size();
    hd_tensor *x = hd_full(HD_INT64, hd_mpi_rank(), 2, 3);
    hd_tensor *all = hd_mpi_gather(hd_t(x)); /* (n, 3, 2) */
    CHECK(all && hd_ndim(all) == 3 && hd_size(all, 0) == n && hd_size(all, 1) == 3);
    for (int r = 0; r < n; r++) {
        CHECK(hd_get_int(all, r, 2, 1) == r);
    }
    CHECK(hd_numel(hd_mpi_gather(hd_empty(HD_FLOAT32, 0))) == 0);
    CHECK(hd_size(hd_mpi_gather(hd_full_n(HD_FLOAT64, 1.5, 0, NULL)), 0) == n); /* () */
    CHECK(!hd_mpi_gather(NULL) && error_has(HD_NULL_ARG, "hd_mpi_gather", "x is NULL"));
    if (n > 1) {
        CHECK(!hd_mpi_gather(hd_mpi_rank() == 1 ? hd_zeros(HD_FLOAT32, 2) : hd_zeros(HD_INT64, 2)));
        CHECK(error_has(HD_VALUE, "(2,) int64 on rank 0", "(2,) float32 on rank 1"));
    }
    return true;
}

static bool texts(void)
{
    char mine[32], want[256] = "";
    snprintf(mine, sizeof mine, "rank %d", hd_mpi_rank());
    char *all = hd_mpi_gather_text(mine);
    for (int r = 0; r < hd_mpi_size(); r++) {
        snprintf(want + strlen(want), sizeof want - strlen(want), "rank %d\n", r);
    }
    CHECK(all && strcmp(all, want) == 0);
    hd_free(all);
    CHECK(!hd_mpi_gather_text(NULL) && error_has(HD_NULL_ARG, "text", ""));
    all = hd_mpi_describe();
    snprintf(want, sizeof want, "rank %d of %d: host ", hd_mpi_rank(), hd_mpi_size());
    CHECK(all && strncmp(all, want, strlen(want)) == 0 && strstr(all, hd_cpu_level()));
    hd_free(all);
    return true;
}

static bool broadcasts(void)
{
    hd_tensor *x = hd_full(HD_FLOAT32, hd_mpi_rank() + 3, 4, 2);
    CHECK(hd_mpi_broadcast_(x) == x && hd_get(x, 3, 1) == 3);
    hd_tensor *y = hd_full(HD_FLOAT64, hd_mpi_rank() + 3, 4, 2);
    CHECK(hd_mpi_broadcast_(hd_slice_step(y, 0, 0, 4, 2)));
    CHECK(hd_get(y, 2, 1) == 3 && hd_get(y, 1, 1) == hd_mpi_rank() + 3);
    CHECK(!hd_mpi_broadcast_(HD_NONE) && error_has(HD_NULL_ARG, "HD_NONE", ""));
    return true;
}

static bool begun_once(void)
{
    CHECK(!hd_mpi_init(NULL, NULL) && error_has(HD_STATE, "hd_mpi_init", "already"));
    CHECK(hd_mpi_rank() >= 0 && hd_mpi_rank() < hd_mpi_size());
    CHECK(hd_mpi_host_rank() < hd_mpi_host_size() && hd_mpi_host_size() <= hd_mpi_size());
    CHECK(hd_num_threads() >= 1);
    return true;
}

const ranks_case agree_cases[] = {
    {"begun_once", begun_once},
    {"sums", sums},
    {"sums_of_other_counts", sums_of_other_counts},
    {"all_ok", all_ok},
    {"all_same", all_same},
    {"gathers", gathers},
    {"texts", texts},
    {"broadcasts", broadcasts},
    {NULL, NULL},
};
