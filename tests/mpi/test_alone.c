/* test_alone.c - tests of a program that mpirun has not started: every call gives the result for
 * one rank. */
#include <stdio.h>

#include "suites.h"

/* ---------------------------------------------------------------- beginning and end */

START_TEST(one_rank_without_init)
{
    ck_assert_int_eq(hd_mpi_rank(), 0);
    ck_assert_int_eq(hd_mpi_size(), 1);
    ck_assert_int_eq(hd_mpi_host_rank(), 0);
    ck_assert_int_eq(hd_mpi_host_size(), 1);
    ck_assert(hd_mpi_finish());
    ck_assert(hd_mpi_finish());
}
END_TEST

/* Each of the processes would train alone, and nobody would see it. */
START_TEST(a_forgotten_init)
{
    HD_SCOPE;
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"};
    hd_module *m = hd_linear_new(2, 1, true);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(setenv(names[i], "3", 1), 0);
        ck_assert_ptr_null(hd_ddp_new(m, NULL));
        ck_error(HD_STATE,
                 "hd_ddp_new: mpirun started 3 processes, but hd_mpi_init was not called. "
                 "Call it first in main");
        ck_assert_int_eq(setenv(names[i], i == 1 ? "many" : "1", 1), 0);
        hd_ddp *d = hd_ddp_new(m, NULL);
        ck_assert_ptr_nonnull(d);
        hd_ddp_free(d);
        unsetenv(names[i]);
    }
    hd_module_free(m);
    ck_no_error();
}
END_TEST

/* The program ends with Check's process for this test. */
START_TEST(init_once)
{
    int argc = 1, threads = hd_num_threads();
    char name[] = "program", *arguments[] = {name, NULL}, **argv = arguments;
    ck_assert(hd_mpi_init(&argc, &argv));
    ck_assert(argc == 1 && argv == arguments);
    ck_assert_int_eq(hd_num_threads(), threads);
    ck_assert(!hd_mpi_init(&argc, &argv));
    ck_error(HD_STATE, "hd_mpi_init: it was called already. Call it once");
    ck_assert_int_eq(hd_mpi_size(), 1);
    ck_assert(hd_mpi_finish());
    ck_assert(hd_mpi_finish());
    ck_assert(!hd_mpi_init(NULL, NULL));
    ck_error(HD_STATE, "hd_mpi_init: it was called already. Call it once");
}
END_TEST

START_TEST(a_rank_described)
{
    char expected[64], *text = hd_mpi_describe();
    const char *end = strchr(text, ',');
    ck_assert_int_eq(strncmp(text, "rank 0 of 1: host ", 18), 0);
    snprintf(expected, sizeof expected, ", %d thread%s, %s", hd_num_threads(),
             hd_num_threads() == 1 ? "" : "s", hd_cpu_level());
    ck_assert_str_eq(end, expected);
    hd_free(text);
}
END_TEST

START_TEST(abort_without_mpi)
{
    hd_mpi_abort(7);
}
END_TEST

/* ---------------------------------------------------------------- agreement */

START_TEST(all_ok)
{
    ck_assert(hd_mpi_all_ok("the work", true));
    ck_assert(!hd_mpi_all_ok("the work", false));
    ck_error(HD_USER, "hd_mpi_all_ok: the work has failed");
    hd_error_set(HD_IO, "the disk is full");
    ck_assert(!hd_mpi_all_ok("the work", false));
    ck_error(HD_IO, "the disk is full");
    ck_assert(hd_mpi_all_same("the text", "one\ntwo"));
}
END_TEST

START_TEST(numbers)
{
    double values[] = {3, -INFINITY, 1e300};
    ck_assert(hd_mpi_sum(3, values) && hd_mpi_max(3, values));
    ck_assert(values[0] == 3 && values[1] == -INFINITY && values[2] == 1e300);
    ck_assert(hd_mpi_sum(0, values) && hd_mpi_max(0, values));
    ck_assert(!hd_mpi_sum(-1, values));
    ck_error(HD_VALUE, "hd_mpi_sum: n -1: expected 0 or more");
    ck_assert(!hd_mpi_max(-2, values));
    ck_error(HD_VALUE, "hd_mpi_max: n -2: expected 0 or more");
}
END_TEST

START_TEST(texts)
{
    static const char *const given[] = {"", "a", "two\nlines", "h\xc3\xa9"};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        char expected[32], *text = hd_mpi_gather_text(given[i]);
        snprintf(expected, sizeof expected, "%s\n", given[i]);
        ck_assert_str_eq(text, expected);
        hd_free(text);
    }
}
END_TEST

/* ---------------------------------------------------------------- tensors */

/* x: any sizes. The gathered one has its elements, and none of its memory. */
static void gathers(hd_tensor *x)
{
    hd_tensor *all = hd_mpi_gather(x); /* (1, x's sizes) */
    ck_no_error();
    ck_assert_int_eq(hd_ndim(all), hd_ndim(x) + 1);
    ck_assert_int_eq(hd_size(all, 0), 1);
    ck_assert(hd_dtype_of(all) == hd_dtype_of(x) && !hd_requires_grad(all));
    ck_assert_str_eq(hd_repr(hd_select(all, 0, 0)), hd_repr(hd_detach(x)));
    ck_assert(hd_numel(x) == 0 || hd_data(all) != hd_data(x));
}

START_TEST(gathered)
{
    HD_SCOPE;
    hd_tensor *x = hd_rand(HD_FLOAT32, 3, 4);
    gathers(x);
    gathers(hd_transpose(x, 0, 1));
    gathers(hd_slice_step(x, 1, 0, 4, 2));
    gathers(hd_requires_grad_(hd_rand(HD_FLOAT64, 2), true));
    gathers(hd_arange(0, 5, 1)); /* int64 */
    gathers(hd_gt_scalar(x, 0.5));
    gathers(hd_scalar_tensor(HD_FLOAT32, 2));
    gathers(hd_zeros(HD_FLOAT32, 0, 3));
}
END_TEST

START_TEST(too_many_dims)
{
    HD_SCOPE;
    int64_t sizes[HD_MAX_DIMS];
    char message[96];
    for (int i = 0; i < HD_MAX_DIMS; i++) {
        sizes[i] = 1;
    }
    ck_assert_ptr_null(hd_mpi_gather(hd_ones_n(HD_FLOAT32, HD_MAX_DIMS, sizes)));
    snprintf(
        message, sizeof message,
        "hd_mpi_gather: x has %d dims: expected at most %d, because the result has one dim more",
        HD_MAX_DIMS, HD_MAX_DIMS - 1);
    ck_error(HD_SHAPE, message);
}
END_TEST

START_TEST(broadcast)
{
    HD_SCOPE;
    hd_tensor *x = hd_tensor_of(((float[]){1, 2, 3, 4}), 2, 2);
    hd_tensor *column = hd_select(x, 1, 1); /* (2,) */
    ck_assert(hd_mpi_broadcast_(x) == x && hd_mpi_broadcast_(column) == column);
    ck_elements(x, 1, 2, 3, 4);
}
END_TEST

/* ---------------------------------------------------------------- memory */

static bool everything(void)
{
    HD_SCOPE;
    double values[] = {1, 2};
    char *text = hd_mpi_gather_text("a text"), *self = hd_mpi_describe();
    bool ok = text && self && hd_mpi_sum(2, values) &&
              hd_mpi_broadcast_(hd_mpi_gather(hd_ones(HD_FLOAT32, 3)));
    hd_free(text);
    hd_free(self);
    return ok && hd_mpi_all_same("what", "text");
}

START_TEST(memory_runs_out)
{
    ck_assert_int_gt(scarce_at_each(everything, false), 3);
    ck_assert_int_gt(scarce_at_each(everything, true), 3);
}
END_TEST

Suite *suite_alone(void)
{
    const TTest *const tests[] = {one_rank_without_init,
                                  a_forgotten_init,
                                  init_once,
                                  a_rank_described,
                                  all_ok,
                                  numbers,
                                  texts,
                                  gathered,
                                  too_many_dims,
                                  broadcast,
                                  memory_runs_out};
    Suite *s = SUITE("alone", tests);
    TCase *aborts = tcase_create("abort");
    tcase_add_exit_test(aborts, abort_without_mpi, 7);
    suite_add_tcase(s, aborts);
    return s;
}
