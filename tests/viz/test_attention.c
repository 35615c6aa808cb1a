/* test_attention.c - tests of attention maps: cells, colours, tokens, panels, and refusals. */
#include <stdio.h>
#include <stdlib.h>

#include "suites.h"
#include "support/quarantine.h"

static char *draw(const hd_tensor *w, const char *const *queries, const char *const *keys,
                  const hd_attention_map_options *o)
{
    hd_picture *p = hd_attention_map(w, queries, keys, o);
    char *svg = hd_picture_svg(p);
    hd_picture_free(p);
    ck_assert_msg(svg, "%s", hd_error_message());
    check_xml(svg);
    return svg;
}

enum { BAR = 64 };

typedef struct cell {
    double x, y, w, h;
    char color[8];
} cell;

/* The i-th coloured cell; the first rectangle is the ground. */
static cell cell_at(const char *svg, int i)
{
    char color[4096];
    const char *tag = element(svg, "rect", i + 1);
    cell c = {number_of(tag, "x"), number_of(tag, "y"), number_of(tag, "width"),
              number_of(tag, "height"), ""};
    snprintf(c.color, sizeof c.color, "%.7s", attribute(tag, "fill", color));
    return c;
}

static void ck_cell(const char *svg, int i, int column, int row, int columns, const char *color)
{
    cell first = cell_at(svg, 0), c = cell_at(svg, i);
    ck_assert_double_eq(c.x - first.x, 30 * column);
    ck_assert_double_eq(c.y - first.y, 30 * row);
    ck_assert_double_eq(c.w, 30 * columns);
    ck_assert_double_eq(c.h, 30);
    ck_assert_str_eq(c.color, color);
}

START_TEST(cells)
{
    HD_SCOPE;
    double w[] = {1, 0, -1, 0.5, 0.5, 0.25, NAN, 0.75, INFINITY};
    char *svg = draw(hd_from_data(HD_FLOAT64, w, 3, 3), NULL, NULL, NULL);
    ck_assert_int_eq(count_elements(svg, "rect"), 1 + 6 + BAR); /* ground, cells, colour bar */
    ck_cell(svg, 0, 0, 0, 1, "#0b2a4a");                        /* the largest finite value */
    ck_cell(svg, 1, 0, 1, 2, "#6fb1db");                        /* two of one colour */
    ck_cell(svg, 2, 2, 1, 1, "#bfddf0");
    ck_cell(svg, 3, 0, 2, 1, "#d55e00"); /* NaN */
    ck_cell(svg, 4, 1, 2, 1, "#2a7db5");
    ck_cell(svg, 5, 2, 2, 1, "#0b2a4a");
    ck_assert_ptr_null(text_element(svg, "head 0"));
    ck_assert_ptr_nonnull(text_element(svg, "queries"));
    ck_assert_ptr_nonnull(text_element(svg, "keys"));
    hd_free(svg);
}
END_TEST

START_TEST(scale)
{
    HD_SCOPE;
    float w[] = {0.25f, 0.125f};
    hd_tensor *x = hd_from_data(HD_FLOAT32, w, 1, 2);
    hd_attention_map_options o = hd_attention_map_defaults();
    char *svg = draw(x, NULL, NULL, &o);
    ck_cell(svg, 0, 0, 0, 1, "#0b2a4a");
    ck_assert_ptr_nonnull(text_element(svg, "0.25"));
    ck_assert_ptr_null(text_element(svg, "1.0"));
    const char *top = element(svg, "rect", 1 + 2), *bottom = element(svg, "rect", 1 + 2 + BAR - 1);
    /* The ends of the colour bar have the colours of the largest weight and of 0. */
    char dark[4096], light[4096];
    ck_assert(number_of(top, "y") < number_of(bottom, "y"));
    ck_assert_str_eq(attribute(top, "fill", dark), "#0c2d4d");
    ck_assert_str_eq(attribute(bottom, "fill", light), "#fdfeff");
    hd_free(svg);
    o.max = 1;
    svg = draw(x, NULL, NULL, &o);
    ck_cell(svg, 0, 0, 0, 1, "#bfddf0");
    ck_assert_ptr_nonnull(text_element(svg, "1.0"));
    hd_free(svg);
    svg = draw(hd_zeros(HD_FLOAT32, 2, 2), NULL, NULL, NULL); /* there is nothing to scale to */
    ck_assert_int_eq(count_elements(svg, "rect"), 1 + BAR);
    hd_free(svg);
}
END_TEST

START_TEST(tokens)
{
    HD_SCOPE;
    static const char *const queries[] = {"Your", " journey", "a\n\tb\x01"};
    static const char *const keys[] = {"k0", "k1"};
    hd_tensor *w = hd_ones(HD_FLOAT32, 3, 2);
    char *svg = draw(w, queries, keys, NULL), turned[4096];
    cell first = cell_at(svg, 0);
    static const char *const seen[] = {"Your", "\xe2\x90\xa3journey", "a\\n\\tb\\?"};
    for (int i = 0; i < 3; i++) {
        const char *tag = text_element(svg, seen[i]);
        ck_assert_msg(tag, "%s", seen[i]);
        ck_assert_double_eq(number_of(tag, "x"), first.x - 5);
        ck_assert_double_eq(number_of(tag, "y"), first.y + 30 * i + 19);
    }
    const char *key = text_element(svg, "k1");
    ck_assert_double_eq(number_of(key, "x"), first.x + 45);
    ck_assert_str_eq(attribute(key, "transform", turned), "");
    hd_free(svg);

    svg = draw(w, NULL, NULL, NULL); /* numbers */
    ck_assert_ptr_nonnull(text_element(svg, "2"));
    hd_free(svg);
    svg = draw(hd_ones(HD_FLOAT32, 3, 3), queries, NULL, NULL); /* the queries' texts, turned */
    ck_assert_int_eq(strncmp(attribute(strstr(svg, "</text>\n<text") + 8, "fill", turned), "#", 1),
                     0);
    int times = 0;
    for (const char *at = svg; (at = strstr(at, ">Your<")); at++) {
        times++;
    }
    ck_assert_int_eq(times, 2);
    ck_assert_ptr_nonnull(strstr(svg, "rotate(-90"));
    hd_free(svg);
}
END_TEST

/* A picture is as wide as its title, with the map in the middle. A very long title is cut. Korean
 * letters are square, which the room for them takes into account; SVG is told the language. */
START_TEST(titles_and_languages)
{
    HD_SCOPE;
    static const char *const tokens[] = {"\ud559\uad50\uc5d0", "\u5b66\u6821\u306b",
                                         "\u0448\u0449"};
    hd_tensor *w = hd_ones(HD_FLOAT32, 3, 3);
    hd_attention_map_options o = hd_attention_map_defaults();
    char *svg = draw(w, tokens, NULL, &o), text[4096];
    double narrow = number_of(strstr(svg, "<svg"), "width"), left = cell_at(svg, 0).x;
    ck_assert_double_ge(left - 5 - 16 - 13 - 8, 3 * 11); /* three squares of the font's size */
    ck_assert_str_eq(attribute(text_element(svg, tokens[0]), "xml:lang", text), "ko");
    ck_assert_str_eq(attribute(text_element(svg, tokens[1]), "xml:lang", text), "ja");
    ck_assert_str_eq(attribute(text_element(svg, tokens[2]), "xml:lang", text), "");
    hd_free(svg);
    o.title = "Attention of the third head in the last layer";
    svg = draw(w, tokens, NULL, &o);
    double wide = number_of(strstr(svg, "<svg"), "width");
    ck_assert_double_gt(wide, narrow);
    ck_assert_double_eq_tol(cell_at(svg, 0).x, left + (wide - narrow) / 2, 1);
    ck_assert_ptr_nonnull(text_element(svg, o.title));
    ck_assert_double_eq(number_of(text_element(svg, o.title), "x"), wide / 2);
    hd_free(svg);
    char title[200];
    memset(title, 'm', sizeof title - 1);
    title[sizeof title - 1] = '\0';
    o.title = title;
    svg = draw(w, tokens, NULL, &o);
    ck_assert_double_eq(number_of(strstr(svg, "<svg"), "width"), 720);
    ck_assert_ptr_nonnull(strstr(svg, "mm\u2026</text>"));
    hd_free(svg);
}
END_TEST

START_TEST(long_tokens_are_cut)
{
    HD_SCOPE;
    static const char *const texts[] = {"internationalisation and more", ""};
    char *svg = draw(hd_ones(HD_FLOAT32, 2, 2), texts, NULL, NULL);
    ck_assert_ptr_nonnull(strstr(svg, ">internationalis"));
    ck_assert_ptr_nonnull(strstr(svg, "\xe2\x80\xa6</text>"));
    ck_assert_ptr_null(strstr(svg, "and"));
    hd_free(svg);
}
END_TEST

/* 100 tokens: cells have 3 pixels, and every fifth token is written. */
START_TEST(many_tokens)
{
    HD_SCOPE;
    char *svg = draw(hd_eye(HD_FLOAT32, 100, 100), NULL, NULL, NULL);
    ck_assert_double_eq(cell_at(svg, 0).h, 3);
    double y5 = number_of(text_element(svg, "5"), "y"),
           y10 = number_of(text_element(svg, "10"), "y");
    ck_assert_double_eq(y10 - y5, 15);
    ck_assert_ptr_null(text_element(svg, "6"));
    hd_free(svg);
}
END_TEST

START_TEST(panels)
{
    HD_SCOPE;
    hd_tensor *w = hd_ones(HD_FLOAT32, 6, 2, 2);
    hd_attention_map_options o = hd_attention_map_defaults();
    o.title = "Layer 3";
    for (int columns = 0; columns < 9; columns++) {
        int want = columns == 0 ? 3 : columns > 6 ? 6 : columns;
        o.columns = columns;
        char *svg = draw(w, NULL, NULL, &o), title[24];
        ck_assert_ptr_nonnull(text_element(svg, "Layer 3"));
        ck_assert_int_eq(count_elements(svg, "rect"), 1 + 12 + BAR);
        for (int h = 0; h < 6; h++) {
            snprintf(title, sizeof title, "head %d", h);
            const char *tag = text_element(svg, title);
            cell c = cell_at(svg, 2 * h), same_row = cell_at(svg, 2 * (h - h % want));
            ck_assert_double_eq(number_of(tag, "x"), c.x);
            ck_assert_double_eq(number_of(tag, "y"), c.y - 7);
            ck_assert_double_eq(c.y, same_row.y);
            ck_assert(h % want == 0 || c.x >= cell_at(svg, 2 * h - 2).x + 60 + 20);
            ck_assert(h < want || c.y >= cell_at(svg, 2 * (h - want)).y + 60 + 20);
        }
        hd_free(svg);
    }
}
END_TEST

START_TEST(refused)
{
    HD_SCOPE;
    static const char *const holes[] = {"a", NULL};
    hd_tensor *w = hd_ones(HD_FLOAT32, 2, 2);
    hd_attention_map_options o = hd_attention_map_defaults();
    ck_assert_ptr_null(hd_attention_map(NULL, NULL, NULL, NULL));
    ck_error(HD_NULL_ARG, "hd_attention_map: weights is NULL");
    ck_assert_ptr_null(hd_attention_map(HD_NONE, NULL, NULL, NULL));
    ck_error(HD_NULL_ARG, "hd_attention_map: weights is HD_NONE: expected a tensor");
    ck_assert_ptr_null(hd_attention_map(hd_ones(HD_INT64, 2, 2), NULL, NULL, NULL));
    ck_error(HD_DTYPE, "hd_attention_map: weights of int64: expected float32 or float64");
    ck_assert_ptr_null(hd_attention_map(hd_ones(HD_FLOAT32, 1, 4, 6, 6), NULL, NULL, NULL));
    ck_error(HD_SHAPE, "hd_attention_map: weights (1, 4, 6, 6): expected (heads, queries, "
                       "keys) or (queries, keys), none of them 0");
    ck_assert_ptr_null(hd_attention_map(hd_ones(HD_FLOAT32, 2, 0), NULL, NULL, NULL));
    ck_error(HD_SHAPE, "hd_attention_map: weights (2, 0): expected (heads, queries, "
                       "keys) or (queries, keys), none of them 0");
    ck_assert_ptr_null(hd_attention_map(w, holes, NULL, NULL));
    ck_error(HD_NULL_ARG, "hd_attention_map: queries[1] is NULL");
    ck_assert_ptr_null(hd_attention_map(w, NULL, holes, NULL));
    ck_error(HD_NULL_ARG, "hd_attention_map: keys[1] is NULL");
    o.columns = -1;
    ck_assert_ptr_null(hd_attention_map(w, NULL, NULL, &o));
    ck_error(HD_VALUE, "hd_attention_map: columns -1: expected 0 or more");
    o.columns = 0;
    o.max = NAN;
    ck_assert_ptr_null(hd_attention_map(w, NULL, NULL, &o));
    ck_error(HD_VALUE, "hd_attention_map: max nan: expected 0 to 1e300");
    o.size = 8;
    ck_assert_ptr_null(hd_attention_map(w, NULL, NULL, &o));
    ck_error(HD_VALUE, sized("hd_attention_map: o->size 8: expected %zu, as "
                             "hd_attention_map_defaults() gives",
                             sizeof(hd_attention_map_options)));
    ck_assert_ptr_null(hd_attention_map(hd_ones(HD_FLOAT32, 1, 20000), NULL, NULL, NULL));
    ck_error(HD_VALUE, "hd_attention_map: 1 heads of 1 queries and 20000 keys take 20171 x 162 "
                       "pixels: expected sides of at most 16384");
}
END_TEST

START_TEST(freed_weights)
{
    if (!quarantine_on()) {
        return;
    }
    HD_SCOPE;
    hd_tensor *w = hd_ones(HD_FLOAT32, 2, 2);
    hd_release(w);
    ck_assert_ptr_null(hd_attention_map(w, NULL, NULL, NULL));
    ck_error(HD_STATE, "hd_attention_map: weights was freed by hd_release; hd_ones made it");
    ck_assert_ptr_null(hd_graph_dot(w, NULL));
    ck_error(HD_STATE, "hd_graph_dot: x was freed by hd_release; hd_ones made it");
}
END_TEST

Suite *suite_attention(void)
{
    const TTest *const tests[] = {
        cells,       scale,  tokens,  titles_and_languages, long_tokens_are_cut,
        many_tokens, panels, refused, freed_weights};
    return SUITE("attention", tests);
}
