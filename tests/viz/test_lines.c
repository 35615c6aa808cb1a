/* test_lines.c - tests of curves: the places of points, gaps, legend, titles, and refusals. */
#include <stdio.h>
#include <stdlib.h>

#include "support/comma_locale.h"
#include "suites.h"

static char *svg_and_free(hd_picture *p)
{
    char *svg = hd_picture_svg(p);
    hd_picture_free(p);
    ck_assert_msg(svg, "%s", hd_error_message());
    check_xml(svg);
    return svg;
}

static char *draw(int64_t n, const hd_series *s, const hd_plot_options *o)
{
    return svg_and_free(hd_plot_lines(n, s, o));
}

/* The i-th path that has the width of a series, or NULL. */
static const char *curve(const char *svg, int i)
{
    char width[4096];
    for (int k = 0; element(svg, "path", k); k++) {
        attribute(element(svg, "path", k), "stroke-width", width);
        if ((strcmp(width, "1.8") == 0 || strcmp(width, "3.6") == 0) && i-- == 0) {
            return element(svg, "path", k);
        }
    }
    return NULL;
}

static int count_curves(const char *svg)
{
    int n = 0;
    while (curve(svg, n)) {
        n++;
    }
    return n;
}

/* The points of a path of at most 64. */
static int points_of(const char *tag, double x[64], double y[64])
{
    char d[4096];
    attribute(tag, "d", d);
    int n = 0;
    for (char *s = d; *s; n++) {
        ck_assert_int_lt(n, 64);
        s += strspn(s, "ML ");
        x[n] = strtod(s, &s);
        y[n] = strtod(s, &s);
    }
    return n;
}

START_TEST(points_lie_at_their_ticks)
{
    double x[] = {100, 300, 700}, y[] = {1, 4, 2}, px[64], py[64];
    hd_series s = {"loss", 3, x, y};
    hd_plot_options o = hd_plot_defaults();
    o.title = "T";
    o.x_label = "step";
    o.y_label = "nats";
    char *svg = draw(1, &s, &o), label[16];
    ck_assert_int_eq(count_elements(svg, "rect"), 1);
    ck_assert_int_eq(count_curves(svg), 1);
    ck_assert_int_eq(points_of(curve(svg, 0), px, py), 3);
    for (int i = 0; i < 3; i++) {
        snprintf(label, sizeof label, "%d.0", (int)y[i]);
        ck_assert_double_eq_tol(number_of(text_element(svg, label), "y") - 4, py[i], 0.011);
        snprintf(label, sizeof label, "%d", (int)x[i]);
        ck_assert_double_eq_tol(number_of(text_element(svg, label), "x"), px[i], 0.011);
    }
    ck_assert_ptr_nonnull(text_element(svg, "T"));
    ck_assert_ptr_nonnull(text_element(svg, "step"));
    ck_assert_ptr_nonnull(text_element(svg, "loss"));
    char turned[4096];
    attribute(text_element(svg, "nats"), "transform", turned);
    ck_assert_int_eq(strncmp(turned, "rotate(-90 ", 11), 0);
    hd_free(svg);
}
END_TEST

START_TEST(size)
{
    double y[] = {1, 2};
    hd_series s = {NULL, 2, NULL, y};
    hd_plot_options o = hd_plot_defaults();
    ck_assert_int_eq(o.width, 720);
    ck_assert_int_eq(o.height, 440);
    o.width = 333;
    o.height = 222;
    hd_picture *p = hd_plot_lines(1, &s, &o);
    ck_assert_double_eq(hd_picture_width(p), 333);
    ck_assert_double_eq(hd_picture_height(p), 222);
    char *svg = svg_and_free(p), box[4096];
    ck_assert_double_eq(number_of(element(svg, "svg", 0), "width"), 333);
    ck_assert_str_eq(attribute(element(svg, "svg", 0), "viewBox", box), "0 0 333 222");
    hd_free(svg);
}
END_TEST

START_TEST(gaps)
{
    double y[] = {1, 2, NAN, 3, INFINITY, 1, 2, -1e301, 3}, px[64], py[64];
    hd_series s = {NULL, 9, NULL, y};
    char *svg = draw(1, &s, NULL);
    ck_assert_int_eq(count_curves(svg), 4);
    static const int lengths[] = {2, 2, 2, 2}; /* the second and last: dots */
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(points_of(curve(svg, i), px, py), lengths[i]);
        ck_assert_int_eq(px[0] == px[1], i == 1 || i == 3);
    }
    hd_free(svg);

    double with_zero[] = {1, 0, 10, -5, 100}; /* on a log axis */
    hd_plot_options o = hd_plot_defaults();
    o.log_y = true;
    s = (hd_series){NULL, 5, NULL, with_zero};
    svg = draw(1, &s, &o);
    ck_assert_int_eq(count_curves(svg), 3);
    hd_free(svg);

    double none[] = {NAN, NAN};
    s = (hd_series){"empty", 2, NULL, none};
    svg = draw(1, &s, NULL);
    ck_assert_int_eq(count_curves(svg), 0);
    ck_assert_ptr_nonnull(text_element(svg, "empty"));
    hd_free(svg);
    s = (hd_series){NULL, 0, NULL, NULL};
    svg = draw(1, &s, NULL);
    ck_assert_int_eq(count_curves(svg), 0);
    hd_free(svg);
}
END_TEST

/* Of 200,000 points only a few are drawn; the one far from the others is among them. */
START_TEST(many_points)
{
    static double y[200000];
    for (int i = 0; i < 200000; i++) {
        y[i] = i % 7;
    }
    y[123457] = 50;
    hd_series s = {NULL, 200000, NULL, y};
    char *svg = draw(1, &s, NULL);
    ck_assert_uint_lt(strlen(svg), 100000);
    const char *top = text_element(svg, "50");
    char y_text[32];
    snprintf(y_text, sizeof y_text, " %.6g", number_of(top, "y") - 4);
    ck_assert_msg(strstr(curve(svg, 0), y_text), "no point at y%s", y_text);
    hd_free(svg);
}
END_TEST

START_TEST(colors_and_dashes)
{
    double y[] = {1, 2};
    hd_series s[21];
    char seen[21][64], color[4096], dash[4096];
    for (int k = 0; k < 21; k++) {
        s[k] = (hd_series){NULL, 2, NULL, y};
    }
    char *svg = draw(21, s, NULL);
    ck_assert_int_eq(count_curves(svg), 21);
    for (int k = 0; k < 21; k++) {
        attribute(curve(svg, k), "stroke", color);
        snprintf(seen[k], sizeof seen[k], "%.8s %.8s", color,
                 attribute(curve(svg, k), "stroke-dasharray", dash));
        for (int i = 0; i < k; i++) {
            ck_assert_str_ne(seen[i], seen[k]);
        }
    }
    ck_assert_str_eq(seen[0], "#0072b2 ");
    hd_free(svg);
}
END_TEST

/* The legend's entries stand beside and below each other, inside the picture and above the axes. */
START_TEST(legend)
{
    double y[] = {1, 2};
    char names[12][40];
    hd_series s[12];
    hd_plot_options o = hd_plot_defaults();
    o.width = 520;
    for (int k = 0; k < 12; k++) {
        snprintf(names[k], sizeof names[k], "%.*s run %d", 3 * (k % 5), "abcdefghijklmnop", k);
        s[k] = (hd_series){names[k], 2, NULL, y};
    }
    char *svg = draw(12, s, &o);
    double right = 0, row = 0, top = 1e9, px[64], py[64];
    points_of(curve(svg, 0), px, py);
    top = fmin(py[0], py[1]);
    for (int k = 0; k < 12; k++) {
        const char *tag = text_element(svg, names[k]);
        ck_assert_msg(tag, "%s", names[k]);
        double x = number_of(tag, "x"), at = number_of(tag, "y");
        ck_assert_msg(at > row || x - 34 > right, "%s", names[k]);
        right = x + 12 * 0.56 * (double)strlen(names[k]);
        row = at;
        ck_assert_double_le(right, 520);
        ck_assert_double_lt(at, top);
    }
    hd_free(svg);
}
END_TEST

/* Every text has the room that it takes in the widest of the fonts that an SVG names: in hundredths
 * of its size 99 for W, 28 for i, 100 for a Korean syllable. */
START_TEST(room_for_texts)
{
    static const char *const names[] = {"WWWW", "iiiiiiii", "\ud55c\uad6d\uc5b4", "\u0448\u00e9",
                                        "end"};
    static const int widths[] = {4 * 99, 8 * 28, 3 * 100, 2 * 80};
    double y[] = {1, 2};
    hd_series s[5];
    for (int k = 0; k < 5; k++) {
        s[k] = (hd_series){names[k], 2, NULL, y};
    }
    char *svg = draw(5, s, NULL);
    for (int k = 0; k < 4; k++) {
        double x = number_of(text_element(svg, names[k]), "x");
        double next = number_of(text_element(svg, names[k + 1]), "x");
        ck_assert_double_eq_tol(next - x, 0.12 * widths[k] + 20 + 26 + 8, 0.011);
    }
    hd_free(svg);
}
END_TEST

START_TEST(escaping)
{
    double y[] = {1, 2};
    hd_series s = {"a<b & \"c\" 'd' >", 2, NULL, y};
    hd_plot_options o = hd_plot_defaults();
    o.title = "\xec\x95\x88 \x01\xff\xc3 \xed\xa0\x80 \xf4\x90\x80\x80 \xef\xbf\xbf end";
    char *svg = draw(1, &s, &o);
    ck_assert_ptr_nonnull(text_element(svg, s.name));
    ck_assert_ptr_nonnull(strstr(svg, "a&lt;b &amp; &quot;c&quot; 'd' &gt;"));
#define BAD "\xef\xbf\xbd"
    ck_assert_ptr_nonnull(text_element(svg, "\xec\x95\x88 " BAD BAD BAD " " BAD BAD BAD
                                            " " BAD BAD BAD BAD " " BAD " end"));
    hd_free(svg);
    char *long_title = malloc(10001);
    memset(long_title, 'x', 10000);
    long_title[10000] = '\0';
    o.title = long_title;
    svg = draw(1, &s, &o);
    const char *tag = strstr(svg, ">xxxx");
    size_t n = strspn(tag + 1, "x");
    ck_assert_msg(n > 50 && n * 16 * 0.48 < 720, "%zu", n);
    ck_assert_int_eq(strncmp(tag + 1 + n, "\xe2\x80\xa6</text>", 10), 0);
    hd_free(svg);
    free(long_title);
}
END_TEST

START_TEST(same_bytes_in_every_locale)
{
    double y[] = {0.125, 1234567.5, 3};
    hd_series s = {"s", 3, NULL, y};
    char *first = draw(1, &s, NULL);
    comma_locale();
    char *second = draw(1, &s, NULL);
    setlocale(LC_ALL, "C");
    ck_assert_str_eq(first, second);
    hd_free(first);
    hd_free(second);
}
END_TEST

/* Of many points in one column of pixels, four are drawn: the first, the last, the lowest and the
 * highest. */
START_TEST(dense_points)
{
    enum { N = 200000 };
    double *y = calloc(N, sizeof *y), px[64], py[64], top = INFINITY, bottom = 0;
    y[70001] = 1;
    y[140001] = -1;
    hd_series s = {NULL, N, NULL, y};
    char *svg = draw(1, &s, NULL);
    const char *path = curve(svg, 0), *end = strchr(strstr(path, "d=\"") + 3, '"');
    int points = 0;
    for (const char *at = strstr(path, "d=\"") + 3; at < end; points++) {
        at += strspn(at, "ML ");
        strtod(at, (char **)(uintptr_t)&at);
        double v = strtod(at, (char **)(uintptr_t)&at);
        top = fmin(top, v);
        bottom = fmax(bottom, v);
    }
    ck_assert_int_lt(points, 4 * 2 * 720);
    double spike[] = {-1, 1}; /* the same axis, undecimated */
    hd_series ends = {NULL, 2, NULL, spike};
    char *plain = draw(1, &ends, NULL);
    ck_assert_int_eq(points_of(curve(plain, 0), px, py), 2);
    ck_assert(bottom == py[0] && top == py[1]);
    hd_free(plain);
    hd_free(svg);
    free(y);
}
END_TEST

START_TEST(refused)
{
    double y[] = {1, 2};
    hd_series s[65] = {{NULL, 2, NULL, y}}, bad = {NULL, 2, NULL, NULL};
    hd_plot_options o = hd_plot_defaults();
    ck_assert_ptr_null(hd_plot_lines(0, s, NULL));
    ck_error(HD_VALUE, "hd_plot_lines: n 0: expected 1 to 64 series");
    ck_assert_ptr_null(hd_plot_lines(65, s, NULL));
    ck_error(HD_VALUE, "hd_plot_lines: n 65: expected 1 to 64 series");
    ck_assert_ptr_null(hd_plot_lines(1, NULL, NULL));
    ck_error(HD_NULL_ARG, "hd_plot_lines: series is NULL");
    ck_assert_ptr_null(hd_plot_lines(1, &bad, NULL));
    ck_error(HD_VALUE,
             "hd_plot_lines: series 0: n 2, y NULL: expected n of 0 or more, and n values of y");
    bad = (hd_series){NULL, -1, NULL, y};
    ck_assert_ptr_null(hd_plot_lines(1, &bad, NULL));
    ck_error(HD_VALUE,
             "hd_plot_lines: series 0: n -1, y given: expected n of 0 or more, and n values of y");
    ck_assert_ptr_null(hd_plot_lines(1, s, &(hd_plot_options){.width = 300, .height = 300}));
    ck_error(HD_VALUE, sized("hd_plot_lines: o->size 0: expected %zu, as hd_plot_defaults() gives",
                             sizeof(hd_plot_options)));
    o.width = 199;
    ck_assert_ptr_null(hd_plot_lines(1, s, &o));
    ck_error(HD_VALUE, "hd_plot_lines: width 199: expected 200 to 8192");
    o.width = 200;
    o.height = 8193;
    ck_assert_ptr_null(hd_plot_lines(1, s, &o));
    ck_error(HD_VALUE, "hd_plot_lines: height 8193: expected 200 to 8192");
    ck_assert(isnan(hd_picture_width(NULL)));
    ck_error(HD_NULL_ARG, "hd_picture_width: p is NULL");
    ck_assert(isnan(hd_picture_height(NULL)));
    ck_error(HD_NULL_ARG, "hd_picture_height: p is NULL");
    ck_assert_ptr_null(hd_picture_svg(NULL));
    ck_error(HD_NULL_ARG, "hd_picture_svg: p is NULL");
    hd_picture_free(NULL);
}
END_TEST

/* Small pictures with everything on them: some room is left for the axes. */
START_TEST(smallest)
{
    double y[] = {1, 2};
    hd_series s[64];
    hd_plot_options o = hd_plot_defaults();
    o.width = o.height = 200;
    o.title = o.x_label = o.y_label = "label";
    for (int k = 0; k < 64; k++) {
        s[k] = (hd_series){"a name", 2, NULL, y};
    }
    char *svg = draw(2, s, &o);
    hd_free(svg);
    svg = draw(64, s, &o);
    ck_assert_int_eq(count_curves(svg), 64);
    hd_free(svg);
}
END_TEST

Suite *suite_lines(void)
{
    const TTest *const tests[] = {points_lie_at_their_ticks,
                                  size,
                                  gaps,
                                  dense_points,
                                  many_points,
                                  colors_and_dashes,
                                  legend,
                                  room_for_texts,
                                  escaping,
                                  same_bytes_in_every_locale,
                                  refused,
                                  smallest};
    return SUITE("lines", tests);
}
