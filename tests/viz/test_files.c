/* test_files.c - pictures in files: decoded PNG files, files that are written whole or not at all,
 * and memory that runs out. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HEED_HAVE_PNG
#include <png.h>
#endif

#include "suites.h"

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

/* ---------------------------------------------------------------- PNG */

#ifdef HEED_HAVE_PNG

typedef struct pixels {
    int width, height;
    uint8_t *rgb;
} pixels;

static pixels decode(const char *path)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    ck_assert_msg(png_image_begin_read_from_file(&image, path), "%s", image.message);
    ck_assert_int_eq(image.format, PNG_FORMAT_RGB);
    pixels p = {(int)image.width, (int)image.height, malloc(PNG_IMAGE_SIZE(image))};
    ck_assert_msg(png_image_finish_read(&image, NULL, p.rgb, 0, NULL), "%s", image.message);
    return p;
}

static unsigned pixel(const pixels *p, double x, double y)
{
    ck_assert(x >= 0 && y >= 0 && x < p->width && y < p->height);
    const uint8_t *at = p->rgb + 3 * ((size_t)y * (size_t)p->width + (size_t)x);
    return (unsigned)(at[0] << 16 | at[1] << 8 | at[2]);
}

/* How dark a part of the picture is; 0 is white. */
static double ink(const pixels *p, double x0, double y0, double x1, double y1)
{
    double sum = 0;
    for (int y = (int)y0; y < (int)y1; y++) {
        for (int x = (int)x0; x < (int)x1; x++) {
            sum += 255 - (pixel(p, x, y) >> 8 & 255);
        }
    }
    return sum / 255;
}

static pixels rasterised(hd_picture *p, double scale)
{
    const char *path = temporary("picture.png");
    ck_assert_msg(hd_picture_save_png(p, path, scale), "%s", hd_error_message());
    return decode(path);
}

/* Every cell has its colour in its middle and near its corners, at any scale. */
START_TEST(cells)
{
    HD_SCOPE;
    double w[] = {1, 0, 0.5, NAN}, scales[] = {0.5, 1, 1.5, 2, 3};
    static const unsigned colors[] = {0x0B2A4A, 0xFFFFFF, 0x6FB1DB, 0xD55E00};
    hd_picture *p = hd_attention_map(hd_from_data(HD_FLOAT64, w, 2, 2), NULL, NULL, NULL);
    char *svg = hd_picture_svg(p);
    double x = number_of(element(svg, "rect", 1), "x"), y = number_of(element(svg, "rect", 1), "y");
    for (int k = 0; k < 5; k++) {
        double scale = scales[k];
        pixels image = rasterised(p, scale);
        ck_assert_int_eq(image.width, (int)ceil(hd_picture_width(p) * scale));
        ck_assert_int_eq(image.height, (int)ceil(hd_picture_height(p) * scale));
        for (int i = 0; i < 4; i++) {
            for (double at = 4; at <= 26; at += 11) {
                unsigned is = pixel(&image, (x + 30 * (i % 2) + at) * scale,
                                    (y + 30 * (int)(i / 2) + at) * scale);
                ck_assert_msg(is == colors[i], "cell %d at scale %g: %06x", i, scale, is);
            }
        }
        ck_assert_uint_eq(pixel(&image, 0, 0), 0xFFFFFF);
        free(image.rgb);
    }
    hd_free(svg);
    hd_picture_free(p);
}
END_TEST

/* A series of one point is a dot, as in the SVG. */
START_TEST(a_dot)
{
    static const double y[] = {1};
    hd_series s = {NULL, 1, NULL, y};
    hd_picture *p = hd_plot_lines(1, &s, NULL);
    char *svg = hd_picture_svg(p), d[4096];
    const char *tag = strstr(svg, "stroke=\"#0072b2\"");
    while (strncmp(tag, "<path", 5) != 0) {
        tag--;
    }
    char *end;
    double x0 = strtod(attribute(tag, "d", d) + 1, &end), y0 = strtod(end, NULL);
    pixels image = rasterised(p, 4);
    ck_assert_uint_eq(pixel(&image, 4 * x0, 4 * y0), 0x0072B2);
    ck_assert_uint_eq(pixel(&image, 4 * x0 + 6, 4 * y0), 0x0072B2); /* 3.6 wide, so 14.4 here */
    ck_assert_uint_ne(pixel(&image, 4 * x0 + 8, 4 * y0), 0x0072B2);
    free(image.rgb);
    hd_free(svg);
    hd_picture_free(p);
}
END_TEST

/* A line is as wide and as dark as it should be, and dashes are half as dark. */
START_TEST(lines)
{
    static const double y[] = {1, 1};
    hd_series s[8];
    for (int k = 0; k < 8; k++) {
        s[k] = (hd_series){NULL, 2, NULL, y};
    }
    double full = 0;
    for (int dashed = 0; dashed < 2; dashed++) {
        s[0].y = dashed ? NULL : y; /* the eighth is blue too, and dashed */
        s[0].n = dashed ? 0 : 2;
        for (int k = 1; k < 7; k++) {
            s[k].n = 0;
        }
        hd_picture *p = hd_plot_lines(dashed ? 8 : 1, s, NULL);
        char *svg = hd_picture_svg(p), d[4096];
        const char *tag = strstr(svg, "stroke=\"#0072b2\"");
        while (strncmp(tag, "<path", 5) != 0) {
            tag--;
        }
        double x0 = strtod(attribute(tag, "d", d) + 1, NULL);
        double x1 = strtod(strchr(d, 'L') + 1, NULL), at = strtod(strrchr(d, ' '), NULL);
        pixels image = rasterised(p, 2);
        double blue = 0; /* measured by the lack of red, as the grid line below is grey */
        for (int yy = (int)(2 * at) - 6; yy < 2 * at + 6; yy++) {
            for (int x = (int)(2 * x0) + 20; x < (int)(2 * x1) - 20; x++) {
                unsigned c = pixel(&image, x, yy);
                blue += (c >> 16) < (c & 255) ? (double)((c & 255) - (c >> 16)) / 0xB2 : 0;
            }
        }
        double thick = blue / (2 * x1 - 2 * x0 - 40);
        if (!dashed) {
            full = thick;
            ck_assert_double_eq_tol(thick, 3.6, 0.4);
            ck_assert_uint_eq(pixel(&image, x0 + x1, 2 * at), 0x0072B2);
        } else { /* 6 of 12 and round ends, 1.8 in all */
            ck_assert_double_eq_tol(thick / full, 0.62, 0.05);
        }
        free(image.rgb);
        hd_free(svg);
        hd_picture_free(p);
    }
}
END_TEST

/* Every character of ASCII has a shape of its own; any other character is a box. */
START_TEST(letters)
{
    static const double y[] = {1, 2};
    hd_series s = {NULL, 2, NULL, y};
    hd_plot_options o = hd_plot_defaults();
    o.width = o.height = 200;
    double inks[128] = {0}, box = 0;
    uint64_t seen[128] = {0};
    for (int c = 0x20; c < 0x80; c++) {
        char title[] = {(char)c, '\0'};
        o.title = c == 0x7F ? "\xc3\xa9" : title;
        hd_picture *p = hd_plot_lines(1, &s, &o);
        pixels image = rasterised(p, 1);
        *(c == 0x7F ? &box : &inks[c]) = ink(&image, 80, 10, 120, 35);
        for (int yy = 10; yy < 35; yy++) { /* a hash of the shape */
            for (int x = 80; x < 120; x++) {
                seen[c] = seen[c] * 31 + (pixel(&image, x, yy) & 255);
            }
        }
        ck_assert_double_eq(ink(&image, 0, 0, 200, 10), 0);
        free(image.rgb);
        hd_picture_free(p);
    }
    ck_assert_double_eq(inks[' '], 0);
    ck_assert_double_gt(box, 20);
    for (int c = 0x21; c < 0x7F; c++) {
        ck_assert_msg(inks[c] > 2 && inks[c] < 90, "'%c' has %g", c, inks[c]);
        for (int k = 0x20; k < c; k++) {
            ck_assert_msg(seen[k] != seen[c], "'%c' looks like '%c'", c, k);
        }
    }
}
END_TEST

/* Turned to the left, the letters are the same, in the other direction. */
START_TEST(turned_text)
{
    static const double y[] = {1, 2};
    hd_series s = {NULL, 2, NULL, y};
    hd_plot_options o = hd_plot_defaults();
    o.x_label = "lllllIIIIIlllll";
    hd_picture *p = hd_plot_lines(1, &s, &o);
    pixels flat = rasterised(p, 2);
    double lying = ink(&flat, 300, 836, 1200, 880);
    hd_picture_free(p);
    o.x_label = NULL;
    o.y_label = "lllllIIIIIlllll";
    p = hd_plot_lines(1, &s, &o);
    pixels up = rasterised(p, 2);
    ck_assert_double_eq_tol(ink(&up, 0, 100, 56, 760), lying, 0.15 * lying);
    ck_assert_double_gt(lying, 300);
    hd_picture_free(p);
    free(flat.rgb);
    free(up.rgb);
}
END_TEST

START_TEST(refused_png)
{
    hd_picture *p = a_picture();
    const char *path = temporary("none.png");
    ck_assert(!hd_picture_save_png(p, path, 0));
    ck_error(HD_VALUE, "hd_picture_save_png: scale 0: expected 0.1 to 16");
    ck_assert(!hd_picture_save_png(p, path, NAN));
    ck_error(HD_VALUE, "hd_picture_save_png: scale nan: expected 0.1 to 16");
    ck_assert_int_eq(access(path, F_OK), -1);
    hd_picture_free(p);
    static const double y[] = {1};
    hd_series s = {NULL, 1, NULL, y};
    hd_plot_options o = hd_plot_defaults();
    o.width = 8000;
    p = hd_plot_lines(1, &s, &o);
    ck_assert(!hd_picture_save_png(p, path, 5));
    ck_error(HD_VALUE, "hd_picture_save_png: 8000 x 440 at scale 5: expected sides of at most "
                       "32768 pixels");
    hd_picture_free(p);
    ck_assert(hd_has_png());
}
END_TEST

#else

START_TEST(without_libpng)
{
    hd_picture *p = a_picture();
    ck_assert(!hd_has_png());
    ck_assert(!hd_picture_save_png(p, temporary("none.png"), 1));
    ck_error(HD_STATE, "hd_picture_save_png: heed was built without libpng");
    hd_picture_free(p);
}
END_TEST

#endif

/* ---------------------------------------------------------------- whole or not at all */

START_TEST(saves)
{
    HD_SCOPE;
    size_t n;
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
    if (hd_has_png()) {
        path = temporary("a.png");
        ck_assert(hd_picture_save_png(p, path, 1));
        char *first = read_file(path, &n);
        size_t again;
        ck_assert(hd_picture_save_png(p, path, 1));
        char *second = read_file(path, &again);
        ck_assert_uint_eq(n, again);
        ck_assert_mem_eq(first, second, n);
        free(first);
        free(second);
    }
    ck_assert_int_eq(files_in_folder(), before + 2 + hd_has_png()); /* nothing temporary is left */
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
    ck_assert(!hd_picture_save_svg(p, temporary("no/where.svg")));
    snprintf(message, sizeof message,
             "hd_picture_save_svg: '%s': cannot create a file beside it: No such file or directory",
             temporary("no/where.svg"));
    ck_error(HD_IO, message);

    path = temporary("fifo");
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert(!hd_picture_save_svg(p, path));
    snprintf(message, sizeof message,
             "hd_picture_save_svg: '%s': a special file: expected a regular file, or none", path);
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
        hd_graph_save_dot_with(hd_mul(hd_exp(hd_mul(v, v)), u), names, temporary("b.dot"),
                               &boxes) &&
        (!hd_has_png() || hd_picture_save_png(q, temporary("m.png"), 0.5)); /* the last */
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
    const TTest *const tests[] = {
#ifdef HEED_HAVE_PNG
        cells,
        a_dot,
        lines,
        letters,
        turned_text,
        refused_png,
#else
        without_libpng,
#endif
        saves,
        keeps_the_old_file,
        runs_out_at_every_allocation,
        runs_out_once_at_every_allocation};
    return SUITE("files", tests);
}
