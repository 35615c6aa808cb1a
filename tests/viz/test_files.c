/* test_files.c - pictures in files: decoded PNG files, files that are written whole or not at all,
 * and memory that runs out. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HEED_HAVE_PNG
#include <png.h>
#endif

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
    ck_assert(!hd_picture_save_png(p, "freed.png", 1));
    ck_error(HD_STATE, "hd_picture_save_png: p was freed by hd_picture_free");
}
END_TEST

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

/* A picture of nothing but a title. */
static hd_picture *titled(const char *title)
{
    static const double y[] = {1, 2};
    hd_series s = {NULL, 2, NULL, y};
    hd_plot_options o = hd_plot_defaults();
    o.width = o.height = 200;
    o.title = title;
    return hd_plot_lines(1, &s, &o);
}

/* What a title of one character looks like: a hash of its pixels, and how much ink it takes. */
static uint64_t shape_of(const char *letter, double *inks)
{
    hd_picture *p = titled(letter);
    pixels image = rasterised(p, 1);
    uint64_t hash = 0;
    for (int yy = 4; yy < 35; yy++) {
        for (int x = 80; x < 120; x++) {
            hash = hash * 31 + (pixel(&image, x, yy) & 255);
        }
    }
    *inks = ink(&image, 80, 4, 120, 35);
    ck_assert_double_eq(ink(&image, 0, 0, 200, 4), 0);
    ck_assert_double_eq_tol(ink(&image, 0, 0, 200, 35), *inks, 1e-9);
    free(image.rgb);
    hd_picture_free(p);
    return hash;
}

/* Each of these letters has a shape that no other has. */
static void ck_shapes(const char *letters, double least, double most)
{
    enum { MOST = 256 };
    uint64_t seen[MOST];
    char all[MOST][8];
    double inks;
    int n = 0;
    for (const char *s = letters; *s; n++) {
        ck_assert_int_lt(n, MOST);
        size_t length = 1;
        while (((unsigned char)s[length] & 0xC0) == 0x80) {
            length++;
        }
        memcpy(all[n], s, length);
        all[n][length] = '\0';
        seen[n] = shape_of(all[n], &inks);
        ck_assert_msg(inks > least && inks < most, "'%s' has %g", all[n], inks);
        for (int k = 0; k < n; k++) {
            ck_assert_msg(seen[k] != seen[n], "'%s' looks like '%s'", all[n], all[k]);
        }
        s += length;
    }
}

START_TEST(letters)
{
    char text[96] = "";
    double inks;
    for (int c = 0x21; c < 0x7F; c++) {
        text[c - 0x21] = (char)c;
    }
    ck_shapes(text, 2, 90);
    shape_of(" ", &inks);
    ck_assert_double_eq(inks, 0);
}
END_TEST

START_TEST(letters_beyond_ascii)
{
    ck_shapes("\u0410\u0411\u0412\u0413\u0414\u0415\u0401\u0416\u0417\u0418\u0419\u041a\u041b\u041c"
              "\u041d\u041e\u041f\u0420\u0421\u0422\u0423\u0424\u0425\u0426\u0427\u0428\u0429\u042a"
              "\u042b\u042c\u042d\u042e\u042f\u0430\u0431\u0432\u0433\u0434\u0435\u0451\u0436\u0437"
              "\u0438\u0439\u043a\u043b\u043c\u043d\u043e\u043f\u0440\u0441\u0442\u0443\u0444\u0445"
              "\u0446\u0447\u0448\u0449\u044a\u044b\u044c\u044d\u044e\u044f\u0404\u0406\u0407\u0490"
              "\u0454\u0456\u0457\u0491",
              8, 90); /* Russian and Ukrainian */
    ck_shapes(
        "\u0391\u0392\u0393\u0394\u0395\u0396\u0397\u0398\u0399\u039a\u039b\u039c\u039d\u039e"
        "\u039f\u03a0\u03a1\u03a3\u03a4\u03a5\u03a6\u03a7\u03a8\u03a9\u03b1\u03b2\u03b3\u03b4"
        "\u03b5\u03b6\u03b7\u03b8\u03b9\u03ba\u03bb\u03bc\u03bd\u03be\u03bf\u03c0\u03c1\u03c3"
        "\u03c2\u03c4\u03c5\u03c6\u03c7\u03c8\u03c9\u03ac\u03ad\u03ae\u03af\u03cc\u03cd\u03ce",
        8, 90); /* Greek */
    ck_shapes("AEIOUYCNaeiouyncs\u00c0\u00c1\u00c2\u00c3\u00c4\u00c5\u00c6\u00c7\u00c8\u00c9\u00ca"
              "\u00cb\u00cc\u00cd\u00ce\u00cf\u00d0\u00d1\u00d2\u00d3\u00d4\u00d5\u00d6\u00d8\u00d9"
              "\u00da\u00db\u00dc\u00dd\u00de\u00df\u00e0\u00e1\u00e2\u00e3\u00e4\u00e5\u00e6\u00e7"
              "\u00e8\u00e9\u00ea\u00eb\u00ec\u00ed\u00ee\u00ef\u00f0\u00f1\u00f2\u00f3\u00f4\u00f5"
              "\u00f6\u00f8\u00f9\u00fa\u00fb\u00fc\u00fd\u00fe\u00ff\u0105\u0107\u010d\u0119\u011f"
              "\u0131\u0142\u0144\u015b\u015f\u0161\u017a\u017c\u017e",
              6, 120); /* Latin */
}
END_TEST

/* A mark stands above its letter, which is drawn as it is without the mark. */
START_TEST(marks_above)
{
    static const char *const pairs[][3] = {{"a", "\u00e0", "\u00e3"},
                                           {"n", "\u0144", "\u00f1"},
                                           {"u", "\u00fb", "\u016f"},
                                           {"e", "\u00eb", "\u011b"},
                                           {"\u0438", "\u0439", "\u0438\u0304"},
                                           {"N", "\u00d1", "\u0143"},
                                           {"O", "\u00d5", "\u00d4"},
                                           {"E", "\u00c8", "\u0401"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        /* Capitals reach up to 16.5 pixels from the top, small letters to 20.3. */
        int top = pairs[i][0][0] >= 'A' && pairs[i][0][0] <= 'Z' ? 15 : 19;
        pixels plain, marked;
        for (int k = 0; k < 3; k++) {
            hd_picture *p = titled(pairs[i][k]);
            *(k ? &marked : &plain) = rasterised(p, 1);
            hd_picture_free(p);
            if (k == 0) {
                ck_assert_double_eq(ink(&plain, 80, 4, 120, top), 0);
                continue;
            }
            ck_assert_double_gt(ink(&marked, 80, 4, 120, top), 1);
            ck_assert_double_lt(ink(&marked, 80, 4, 120, top - 7), 0.1);
            for (int y = top + 1; y < 35; y++) {
                for (int x = 80; x < 120; x++) {
                    ck_assert_msg(pixel(&plain, x, y) == pixel(&marked, x, y), "'%s' at %d %d",
                                  pairs[i][k], x, y);
                }
            }
            free(marked.rgb);
        }
        free(plain.rgb);
    }
}
END_TEST

/* A cedilla hangs as low under a capital as under a small letter. */
START_TEST(marks_below)
{
    static const char *const texts[] = {"\u00c7", "\u00e7"};
    double low[2];
    for (int i = 0; i < 2; i++) {
        hd_picture *p = titled(texts[i]);
        pixels m = rasterised(p, 1);
        low[i] = ink(&m, 80, 29, 120, 35); /* letters end above 29 */
        hd_picture_free(p);
        free(m.rgb);
    }
    ck_assert_double_gt(low[0], 5);
    ck_assert_double_eq(low[0], low[1]);
}
END_TEST

/* Korean: every initial, every vowel, every final, each with its strokes. */
START_TEST(syllables)
{
    char text[4 * 64] = "", *at = text;
    for (int k = 0; k < 19 + 20 + 27; k++) { /* ga, kka, ...; gae, gya, ...; gak, gakk, ... */
        uint32_t code = 0xAC00 + (k < 19   ? (uint32_t)k * 21 * 28
                                  : k < 39 ? (uint32_t)(k - 18) * 28
                                           : (uint32_t)(k - 38));
        *at++ = (char)(0xE0 | code >> 12);
        *at++ = (char)(0x80 | (code >> 6 & 63));
        *at++ = (char)(0x80 | (code & 63));
    }
    *at = '\0';
    ck_shapes(text, 20, 120);
}
END_TEST

/* An accent that follows its letter gives the letter with the accent. What cannot be seen takes no
 * room. Bytes that are no text are boxes. */
START_TEST(marks_and_bytes)
{
    static const char *const same[][2] = {{"e\u0301", "\u00e9"},  {"E\u0301", "\u00c9"},
                                          {"c\u0327", "\u00e7"},  {"\u0438\u0306", "\u0439"},
                                          {"a\u200b\ufe0f", "a"}, {"\xff", "\ufffd"},
                                          {"\u2212", "\u2212"},   {"\x01", "\ufffd"},
                                          {"\xc2\x85", "\ufffd"}, {"a\n", "a "}};
    double inks, box;
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        ck_assert_msg(shape_of(same[i][0], &inks) == shape_of(same[i][1], &box), "%s", same[i][1]);
        ck_assert_double_gt(box, 2);
    }
}
END_TEST

/* A character that the font does not have is an error that names it, and SVG takes it. */
START_TEST(letters_that_png_lacks)
{
    static const char *const texts[][2] = {
        {"loss \u4e2d\u6587", "'loss \u4e2d\u6587' has U+4E2D '\u4e2d'"},
        {"\U0001f600", "'\U0001f600' has U+1F600 '\U0001f600'"},
        {"a\u0326", "'a\u0326' has U+0326 '\u0326'"}};
    char message[400];
    const char *path = temporary("lacks.png");
    for (int i = 0; i < 3; i++) {
        hd_picture *p = titled(texts[i][0]);
        ck_assert(!hd_picture_save_png(p, path, 1));
        snprintf(message, sizeof message,
                 "hd_picture_save_png: %s, which the font of a PNG does not have: expected Latin, "
                 "Greek, Cyrillic or Korean letters; hd_picture_save_svg takes any text",
                 texts[i][1]);
        ck_error(HD_VALUE, message);
        ck_assert_int_eq(access(path, F_OK), -1);
        char *svg = hd_picture_svg(p);
        ck_assert_ptr_nonnull(strstr(svg, texts[i][0]));
        hd_free(svg);
        hd_picture_free(p);
    }
}
END_TEST

/* A pixel of the edge that the picture covers in part is as white as the others. */
START_TEST(edges)
{
    static const double scales[] = {0.503, 0.999, 1.001};
    for (int i = 0; i < 3; i++) {
        hd_picture *p = titled("a");
        pixels m = rasterised(p, scales[i]);
        ck_assert_double_eq(ink(&m, m.width - 1, 0, m.width, m.height), 0);
        ck_assert_double_eq(ink(&m, 0, m.height - 1, m.width, m.height), 0);
        hd_picture_free(p);
        free(m.rgb);
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
    char nowhere[128];
    snprintf(nowhere, sizeof nowhere, "%s", temporary("no/where.svg"));
    ck_assert(!hd_picture_save_svg(p, nowhere));
    snprintf(message, sizeof message,
             "hd_picture_save_svg: '%s': the folder '%s' does not exist: create it first", nowhere,
             temporary("no"));
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
        letters_beyond_ascii,
        marks_above,
        marks_below,
        edges,
        syllables,
        marks_and_bytes,
        letters_that_png_lacks,
        turned_text,
        refused_png,
#else
        without_libpng,
#endif
        freed_pictures,
        saves,
        keeps_the_old_file,
        runs_out_at_every_allocation,
        runs_out_once_at_every_allocation};
    return SUITE("files", tests);
}
