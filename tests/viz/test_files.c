/* test_files.c - tests of pictures in files, which are written completely or not at all, of freed
 * pictures, and of missing memory. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suites.h"
#include "support/quarantine.h"

static hd_picture *a_picture(void)
{
    static const double y[] = {1, 3, 2};
    hd_series s = {"loss", 3, NULL, y};
    hd_plot_options o = hd_plot_defaults();
    o.title = "Title";
    return hd_plot_lines(1, &s, &o);
}

static void write_old(const char *path)
{
    FILE *f = fopen(path, "wb");
    fputs("old", f);
    fclose(f);
}

/* While nothing else has taken its memory, a freed picture is found. */
START_TEST(freed_pictures)
{
    if (!quarantine_on()) {
        return;
    }
    hd_picture *p = a_picture();
    hd_picture_free(p);
    hd_picture_free(p);
    ck_error(HD_STATE, "hd_picture_free: p was freed by hd_picture_free");
    ck_assert(isnan(hd_picture_width(p)));
    ck_error(HD_STATE, "hd_picture_width: p was freed by hd_picture_free");
    ck_assert(isnan(hd_picture_height(p)));
    ck_error(HD_STATE, "hd_picture_height: p was freed by hd_picture_free");
    ck_assert_ptr_null(hd_picture_svg(p));
    ck_error(HD_STATE, "hd_picture_svg: p was freed by hd_picture_free");
    ck_assert(!hd_picture_save_svg(p, "freed.svg"));
    ck_error(HD_STATE, "hd_picture_save_svg: p was freed by hd_picture_free");
}
END_TEST

/* ---------------------------------------------------------------- whole or not at all */

START_TEST(saves)
{
    HD_SCOPE;
    hd_picture *p = a_picture();
    char *svg = hd_picture_svg(p);
    const char *path = temporary("a.svg");
    int before = files_in_folder();
    ck_assert(hd_picture_save_svg(p, path));
    ck_file(path, svg);
    write_old(path);
    ck_assert(hd_picture_save_svg(p, path)); /* over an old one */
    ck_file(path, svg);
    hd_tensor *x = hd_requires_grad_(hd_ones(HD_FLOAT32, 1), true);
    char *dot = hd_graph_dot(x, NULL);
    path = temporary("a.dot");
    ck_assert(hd_graph_save_dot(x, NULL, path));
    ck_file(path, dot);
    ck_assert_int_eq(files_in_folder(), before + 2); /* nothing temporary is left */
    hd_free(svg);
    hd_free(dot);
    hd_picture_free(p);
}
END_TEST

START_TEST(keeps_the_old_file)
{
    char message[600];
    hd_picture *p = a_picture();
    const char *path = temporary("old.svg");
    write_old(path);
    hd_error_set(HD_USER, "earlier");
    ck_assert(!hd_picture_save_svg(p, path));
    ck_error(HD_USER, "earlier");
    ck_file(path, "old");
    char nowhere[128];
    snprintf(nowhere, sizeof nowhere, "%s", temporary("no/where.svg"));
    ck_assert(!hd_picture_save_svg(p, nowhere));
    snprintf(message, sizeof message,
             "hd_picture_save_svg: '%s': the folder '%s' does not exist. Create it first", nowhere,
             temporary("no"));
    ck_error(HD_IO, message);

    path = temporary("fifo");
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert(!hd_picture_save_svg(p, path));
    snprintf(message, sizeof message,
             "hd_picture_save_svg: '%s' is a special file: expected a regular file, or none", path);
    ck_error(HD_IO, message);
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert(S_ISFIFO(st.st_mode));
    ck_assert(!hd_picture_save_svg(p, NULL));
    ck_error(HD_NULL_ARG, "hd_picture_save_svg: path is NULL");
    ck_assert(!hd_picture_save_svg(NULL, path));
    ck_error(HD_NULL_ARG, "hd_picture_save_svg: p is NULL");
    hd_picture_free(p);
}
END_TEST

/* ---------------------------------------------------------------- memory */

static bool everything(void)
{
    HD_SCOPE;
    hd_tensor *w = hd_requires_grad_(hd_ones(HD_FLOAT32, 2, 3, 3), true);
    hd_tensor *v = hd_requires_grad_(hd_ones(HD_FLOAT32, 18), true);
    hd_tensor *u = hd_requires_grad_(hd_ones(HD_FLOAT32, 18), true);
    hd_graph_options boxes = hd_graph_defaults();
    boxes.depth = 2;
    boxes.title = "boxes";
    hd_picture *p = hd_attention_map(w, NULL, NULL, NULL), *q = a_picture();
    hd_dict *names = hd_dict_new();
    bool ok =
        p && q && names && hd_picture_save_svg(p, temporary("m.svg")) &&
        hd_dict_set(names, "w", w) && hd_dict_set(names, "a.b.v", v) &&
        hd_dict_set(names, "a.c.d.u", u) && hd_dict_set_string(names, "a.b", "B") &&
        hd_graph_save_dot(hd_sum(hd_mul(hd_flatten(w, 0, -1), v)), names, temporary("m.dot")) &&
        hd_graph_save_dot_with(hd_mul(hd_exp(hd_mul(v, v)), u), names, temporary("b.dot"), &boxes);
    hd_picture_free(p);
    hd_picture_free(q);
    hd_dict_free(names);
    return ok;
}

START_TEST(runs_out_at_every_allocation)
{
    ck_assert_int_gt(scarce_at_each(everything, false), 30);
}
END_TEST

START_TEST(runs_out_once_at_every_allocation)
{
    ck_assert_int_gt(scarce_at_each(everything, true), 30);
}
END_TEST

Suite *suite_files(void)
{
    const TTest *const tests[] = {freed_pictures, saves, keeps_the_old_file,
                                  runs_out_at_every_allocation, runs_out_once_at_every_allocation};
    return SUITE("files", tests);
}
