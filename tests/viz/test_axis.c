/* test_axis.c - tests that the ticks of an axis are round numbers in the right place, with room for
 * their labels. */
#include <stdio.h>
#include <stdlib.h>

#include "suites.h"

/* The SVG of one series; free with hd_free. */
static char *svg_of(int64_t n, const double *x, const double *y, bool log_x, bool log_y)
{
    hd_series s = {NULL, n, x, y};
    hd_plot_options o = hd_plot_defaults();
    o.log_x = log_x;
    o.log_y = log_y;
    hd_picture *p = hd_plot_lines(1, &s, &o);
    char *svg = hd_picture_svg(p);
    hd_picture_free(p);
    ck_assert_ptr_nonnull(svg);
    return svg;
}

/* The labels of one axis with a space between them. Those of x are centred, those of y end at the
 * axis. */
static void labels_of(const char *svg, bool x, char out[4096])
{
    char text[4096];
    out[0] = '\0';
    for (int i = 0; element(svg, "text", i); i++) {
        const char *tag = element(svg, "text", i);
        if (strcmp(attribute(tag, "text-anchor", text), x ? "middle" : "end") == 0) {
            strcat(out, *out ? " " : "");
            strcat(out, content(tag, text));
        }
    }
}

static void ck_labels(double lo, double hi, bool log, const char *x_labels, const char *y_labels)
{
    char labels[4096];
    double v[] = {lo, hi};
    char *svg = svg_of(2, v, v, log, log);
    check_xml(svg);
    labels_of(svg, true, labels);
    ck_assert_str_eq(labels, x_labels);
    labels_of(svg, false, labels);
    ck_assert_str_eq(labels, y_labels);
    hd_free(svg);
}

START_TEST(linear)
{
    ck_labels(0, 1.01, false, "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0",
              "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0");
    ck_labels(0, 2000, false, "0 200 400 600 800 1000 1200 1400 1600 1800 2000",
              "0 200 400 600 800 1000 1200 1400 1600 1800 2000");
    ck_labels(1, 1 + 1e-13, false, "0.95 0.96 0.97 0.98 0.99 1.00 1.01 1.02 1.03 1.04 1.05",
              "0.95 0.96 0.97 0.98 0.99 1.00 1.01 1.02 1.03 1.04 1.05");
    ck_labels(-3, 3, false, "-3 -2 -1 0 1 2 3", "-3 -2 -1 0 1 2 3");
    ck_labels(2.5, 2.75, false, "2.50 2.55 2.60 2.65 2.70 2.75", "2.50 2.55 2.60 2.65 2.70 2.75");
    ck_labels(0, 1e-7, false, "0 1e-8 2e-8 3e-8 4e-8 5e-8 6e-8 7e-8 8e-8 9e-8 1e-7",
              "0 1e-8 2e-8 3e-8 4e-8 5e-8 6e-8 7e-8 8e-8 9e-8 1e-7");
    ck_labels(1e6, 2e6, false, "1e6 1.1e6 1.2e6 1.3e6 1.4e6 1.5e6 1.6e6 1.7e6 1.8e6 1.9e6 2e6",
              "1e6 1.1e6 1.2e6 1.3e6 1.4e6 1.5e6 1.6e6 1.7e6 1.8e6 1.9e6 2e6");
}
END_TEST

START_TEST(logarithmic)
{
    ck_labels(1, 1000, true, "1 10 100 1000", "1 10 100 1000");
    ck_labels(0.001, 10, true, "0.001 0.01 0.1 1 10", "0.001 0.01 0.1 1 10");
    ck_labels(1e-9, 1e9, true, "1e-8 1e-6 1e-4 1e-2 1e0 1e2 1e4 1e6 1e8",
              "1e-8 1e-6 1e-4 1e-2 1e0 1e2 1e4 1e6 1e8");
    ck_labels(0.5, 30, true, "0.5 1 2 5 10 20", "0.5 1 2 5 10 20");
    ck_labels(1.1, 1.9, true, "1.1 1.2 1.3 1.4 1.5 1.6 1.7 1.8 1.9",
              "1.1 1.2 1.3 1.4 1.5 1.6 1.7 1.8 1.9");
}
END_TEST

/* The ticks of x, as of epochs; y keeps its own. */
START_TEST(whole_numbers)
{
    ck_labels(1, 3, false, "1 2 3", "1.0 1.2 1.4 1.6 1.8 2.0 2.2 2.4 2.6 2.8 3.0");
    ck_labels(0, 1, false, "0 1", "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0");
    ck_labels(1, 4, true, "1 2 3 4", "1.0 1.5 2.0 2.5 3.0 3.5 4.0");
    ck_labels(1, 50, false, "5 10 15 20 25 30 35 40 45 50", "0 5 10 15 20 25 30 35 40 45 50");

    char labels[4096];
    double y[] = {3, 2.5, 2.25, 2}, x[] = {0.5, 1, 1.5, 2};
    char *svg = svg_of(4, NULL, y, false, false);
    labels_of(svg, true, labels);
    ck_assert_str_eq(labels, "0 1 2 3");
    hd_free(svg);
    hd_series s = {NULL, 4, x, y};
    hd_plot_options o = hd_plot_defaults();
    ck_assert(!o.whole_x);
    o.whole_x = true;
    hd_picture *p = hd_plot_lines(1, &s, &o);
    svg = hd_picture_svg(p);
    labels_of(svg, true, labels);
    ck_assert_str_eq(labels, "1 2");
    hd_free(svg);
    hd_picture_free(p);
}
END_TEST

START_TEST(one_value)
{
    ck_labels(7, 7, false, "7", "6.7 6.8 6.9 7.0 7.1 7.2 7.3");
    ck_labels(0, 0, false, "0", "-0.5 -0.4 -0.3 -0.2 -0.1 0 0.1 0.2 0.3 0.4 0.5");
    ck_labels(NAN, NAN, false, "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0",
              "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0");
}
END_TEST

/* ---------------------------------------------------------------- whatever the range */

typedef struct tick {
    double value, at, width;
} tick;

/* About as wide as DejaVu Sans, at 12 pixels. */
static double wide_font(const char *text)
{
    double em = 0;
    for (; *text; text++) {
        em += *text == '.' || *text == '-' ? 0.36 : 0.636;
    }
    return 12 * em;
}

/* The ticks of one axis, at pixels to the right or upwards. */
static int ticks_of(const char *svg, bool x, tick ticks[32])
{
    char text[4096], *end;
    int n = 0;
    for (int i = 0; element(svg, "text", i); i++) {
        const char *tag = element(svg, "text", i);
        if (strcmp(attribute(tag, "text-anchor", text), x ? "middle" : "end") == 0) {
            content(tag, text);
            ticks[n].value = strtod(text, &end);
            ck_assert_msg(!*end, "%s", text);
            ticks[n].at = x ? number_of(tag, "x") : -number_of(tag, "y");
            ticks[n++].width = wide_font(text);
            ck_assert_int_lt(n, 32);
        }
    }
    return n;
}

/* The values rise evenly (on a log axis their logarithms do) between lo and hi, and no label
 * touches another. */
static void ck_ticks(const tick *ticks, int n, bool x, bool log, double lo, double hi)
{
    double room = (hi - lo) * 0.06;
    double v0 = log ? log10(ticks[0].value) : ticks[0].value;
    double v1 = log ? log10(ticks[n - 1].value) : ticks[n - 1].value;
    ck_assert_int_ge(n, 2);
    for (int i = 0; i < n; i++) {
        double v = log ? log10(ticks[i].value) : ticks[i].value;
        double at = ticks[0].at + (ticks[n - 1].at - ticks[0].at) * (v - v0) / (v1 - v0);
        ck_assert_double_eq_tol(ticks[i].at, at, 0.03);
        ck_assert_msg(log || (v >= lo - room && v <= hi + room), "%g outside %g, %g", v, lo, hi);
        if (i > 0) {
            double apart = ticks[i].at - ticks[i - 1].at;
            double needs = x ? (ticks[i].width + ticks[i - 1].width) / 2 + 4 : 12;
            ck_assert_msg(apart >= needs, "%g and %g: %g apart, %g needed", ticks[i - 1].value,
                          ticks[i].value, apart, needs);
        }
    }
}

START_TEST(random_ranges)
{
    hd_generator *g = hd_default_generator();
    tick ticks[32];
    for (int i = 0; i < 400; i++) {
        double size = pow(10, (double)(hd_generator_random(g) % 25) - 12);
        double lo = size * (hd_generator_random(g) % 2001 - 1000.0) / 100;
        double v[] = {lo, lo + size * (1 + hd_generator_random(g) % 5000) / 1000.0};
        bool log = i % 4 == 3;
        if (log) { /* up to 19 decades */
            v[0] = size;
            v[1] = size * pow(10, 0.3 + hd_generator_random(g) % 190 / 10.0);
        }
        char *svg = svg_of(2, v, v, log, log);
        int n = ticks_of(svg, true, ticks);
        ck_ticks(ticks, n, true, log, v[0], v[1]);
        n = ticks_of(svg, false, ticks);
        ck_ticks(ticks, n, false, log, v[0], v[1]);
        hd_free(svg);
    }
}
END_TEST

START_TEST(extremes)
{
    static const double ends[][2] = {
        {-1e300, 1e300}, {0, 1e300}, {5e-324, 1e-323}, {1, 1 + 2e-16}, {1e15, 1e15 + 1}};
    for (int i = 0; i < 5; i++) {
        char *svg = svg_of(2, ends[i], ends[i], false, false);
        check_xml(svg);
        ck_assert_int_ge(count_elements(svg, "text"), 4);
        hd_free(svg);
    }
    double v[] = {5e-324, 1e300};
    char *svg = svg_of(2, v, v, true, true);
    check_xml(svg);
    hd_free(svg);
}
END_TEST

Suite *suite_axis(void)
{
    const TTest *const tests[] = {linear,    logarithmic,   whole_numbers,
                                  one_value, random_ranges, extremes};
    return SUITE("axis", tests);
}
