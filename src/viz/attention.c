/* attention.c - attention weights as maps of coloured cells: each head has a panel, and the tokens
 * are written along both of its axes.
 *
 * A cell is a whole number of pixels; the more tokens there are, the smaller it is. Where the texts
 * of the tokens would touch, only every second, third, ... token is written. Neighbours of one
 * colour are one rectangle. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "viz/viz_internal.h"

enum {
    TITLE = 16,
    LABEL = 13,
    SMALL = 12,
    TOKEN = 11,
    TOKEN_TEXT = 64,
    TOKEN_WIDTH = 94,
    LINE = 14
};
enum {
    PANEL = 336,
    BIGGEST_CELL = 30,
    GAP = 22,
    BAR_STEPS = 64,
    LEVELS = 256,
    MAX_SIDE = 16384,
    WIDE_TITLE = 720
};

static const hd__rgb nan_color = 0xD55E00;

typedef struct map {
    hd_picture *p;
    const hd_attention_map_options *o;
    const hd_tensor *weights; /* (heads, queries, keys) or (queries, keys) */
    const char *const *query_texts, *const *key_texts;
    int64_t heads, queries, keys;
    int columns, rows;
    double max;
    double cell, beside, below, above; /* in a panel: a cell, and the room for texts around them */
    bool keys_upwards;
    double left, top; /* where the cells of the first panel begin */
} map;

hd_attention_map_options hd_attention_map_defaults(void)
{
    return (hd_attention_map_options){.size = sizeof(hd_attention_map_options)};
}

/* ---------------------------------------------------------------- weights and colours */

static double weight(const map *m, int64_t head, int64_t q, int64_t k)
{
    int64_t index[] = {head, q, k};
    int n = hd_ndim(m->weights);
    return hd_get_n(m->weights, n, index + 3 - n);
}

static double largest(const map *m)
{
    double max = 0;
    for (int64_t h = 0; h < m->heads; h++) {
        for (int64_t q = 0; q < m->queries; q++) {
            for (int64_t k = 0; k < m->keys; k++) {
                double w = weight(m, h, q, k);
                max = isfinite(w) && w > max ? w : max;
            }
        }
    }
    return max > 0 ? max : 1;
}

/* From white to dark blue. A larger weight is always darker, so that a copy in grey can be read. */
static hd__rgb color_of(double w, double max)
{
    static const double stops[][3] = {
        {255, 255, 255}, {191, 221, 240}, {111, 177, 219}, {42, 125, 181}, {11, 42, 74}};
    if (isnan(w)) {
        return nan_color;
    }
    double t = round(fmin(fmax(w / max, 0), 1) * LEVELS) / LEVELS * 4;
    int i = t < 4 ? (int)t : 3;
    hd__rgb color = 0;
    for (int c = 0; c < 3; c++) {
        color =
            color << 8 | (hd__rgb)lround(stops[i][c] + (stops[i + 1][c] - stops[i][c]) * (t - i));
    }
    return color;
}

/* ---------------------------------------------------------------- tokens */

/* What is written for token i: its text, or its number. Spaces and line ends are made visible, and
 * a long text is cut. */
static void token_text(char out[TOKEN_TEXT], const char *const *texts, int64_t i)
{
    char number[24], seen[256];
    snprintf(number, sizeof number, "%" PRId64, i);
    const char *text = texts ? texts[i] : number;
    size_t n = 0;
    for (; *text && n + 4 < sizeof seen; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == ' ') {
            memcpy(seen + n, "\xe2\x90\xa3", 3);
            n += 3;
        } else if (c < ' ' || c == 0x7F) {
            const char *at = strchr("\nn\tt\rr", c);
            seen[n++] = '\\';
            seen[n++] = at && c ? at[1] : '?';
        } else {
            seen[n++] = *text;
        }
    }
    seen[n] = '\0';
    hd__text_fit(out, TOKEN_TEXT, seen, TOKEN, TOKEN_WIDTH);
}

/* The distance from one written token to the next, so that lines of text do not touch. */
static int64_t stride_of(const map *m)
{
    return m->cell >= LINE ? 1 : (int64_t)ceil(LINE / m->cell);
}

static double widest(const map *m, const char *const *texts, int64_t n)
{
    char text[TOKEN_TEXT];
    double width = 0;
    for (int64_t i = 0; i < n; i += stride_of(m)) {
        token_text(text, texts, i);
        width = fmax(width, hd__text_width(text, TOKEN));
    }
    return width;
}

/* ---------------------------------------------------------------- layout */

static double panel_width(const map *m)
{
    return m->beside + m->cell * (double)m->keys + GAP;
}

static double panel_height(const map *m)
{
    return m->above + m->cell * (double)m->queries + m->below + GAP;
}

static double bar_step(const map *m)
{
    return fmin(fmax(floor(m->cell * (double)m->queries / BAR_STEPS), 2), 4);
}

static void map_layout(map *m)
{
    int64_t most = m->queries > m->keys ? m->queries : m->keys;
    m->cell = fmax(1, fmin(floor((double)PANEL / (double)most), BIGGEST_CELL));
    m->columns = m->o->columns ? m->o->columns : (int)ceil(sqrt((double)m->heads));
    m->columns = m->columns > m->heads ? (int)m->heads : m->columns;
    m->rows = (int)((m->heads + m->columns - 1) / m->columns);
    double keys = widest(m, m->key_texts, m->keys);
    m->keys_upwards = keys + 4 > m->cell * (double)stride_of(m);
    m->beside = ceil(widest(m, m->query_texts, m->queries)) + 8;
    m->below = m->keys_upwards ? ceil(keys) + 8 : LINE + 4;
    m->above = m->heads > 1 ? SMALL + 8 : 0;
    m->left = 16 + LABEL + 8 + m->beside;
    m->top = 14 + (m->o->title && *m->o->title ? TITLE + 14 : 0) + m->above;
}

/* ---------------------------------------------------------------- drawing */

static void draw_cells(const map *m, int64_t head, double x, double y)
{
    for (int64_t q = 0; q < m->queries; q++) {
        for (int64_t k = 0, end; k < m->keys; k = end) {
            hd__rgb color = color_of(weight(m, head, q, k), m->max);
            for (end = k + 1; end < m->keys; end++) {
                if (color_of(weight(m, head, q, end), m->max) != color) {
                    break;
                }
            }
            if (color != HD__WHITE) {
                hd__draw_rect(m->p, x + (double)k * m->cell, y + (double)q * m->cell,
                              (double)(end - k) * m->cell, m->cell, color);
            }
        }
    }
}

static void draw_frame(hd_picture *p, double x, double y, double w, double h)
{
    hd__draw_line(p, 1, 0, HD__INK);
    hd__draw_to(p, x, y);
    hd__draw_to(p, x + w, y);
    hd__draw_to(p, x + w, y + h);
    hd__draw_to(p, x, y + h);
    hd__draw_to(p, x, y);
    hd__draw_end(p);
}

static void draw_tokens(const map *m, double x, double y)
{
    char text[TOKEN_TEXT];
    for (int64_t q = 0; q < m->queries; q += stride_of(m)) {
        token_text(text, m->query_texts, q);
        hd__draw_text(m->p, x - 5, y + ((double)q + 0.5) * m->cell + 4, TOKEN, HD__END, false,
                      text);
    }
    double bottom = y + (double)m->queries * m->cell;
    for (int64_t k = 0; k < m->keys; k += stride_of(m)) {
        double middle = x + ((double)k + 0.5) * m->cell;
        token_text(text, m->key_texts, k);
        if (m->keys_upwards) {
            hd__draw_text(m->p, middle + 4, bottom + 6, TOKEN, HD__END, true, text);
        } else {
            hd__draw_text(m->p, middle, bottom + LINE, TOKEN, HD__MIDDLE, false, text);
        }
    }
}

static void draw_panel(const map *m, int64_t head)
{
    char title[32];
    double x = m->left + panel_width(m) * (double)(head % m->columns);
    double y = m->top + panel_height(m) * (double)(head / m->columns);
    draw_cells(m, head, x, y);
    draw_frame(m->p, x, y, m->cell * (double)m->keys, m->cell * (double)m->queries);
    draw_tokens(m, x, y);
    if (m->heads > 1) {
        snprintf(title, sizeof title, "head %" PRId64, head);
        hd__draw_text(m->p, x, y - 7, SMALL, HD__START, false, title);
    }
}

static void draw_bar(const map *m, double x)
{
    double step = bar_step(m), height = BAR_STEPS * step;
    for (int i = 0; i < BAR_STEPS; i++) {
        hd__draw_rect(m->p, x, m->top + i * step, 14, step,
                      color_of(BAR_STEPS - 0.5 - i, BAR_STEPS));
    }
    draw_frame(m->p, x, m->top, 14, height);
    hd__axis a = hd__axis_of(false, 0, m->max, 0);
    hd__axis_ticks(&a, 6);
    for (int i = 0; i < a.n; i++) {
        double y = m->top + height * (1 - a.at[i]);
        hd__draw_segment(m->p, x + 14, y, x + 18, y, 1, 0, HD__INK);
        hd__draw_text(m->p, x + 22, y + 4, SMALL, HD__START, false, a.label[i]);
    }
}

static void map_titles(const map *m, double right, double bottom)
{
    double x = m->left - m->beside, y = (m->top + bottom - m->below) / 2, wide = m->p->width;
    hd__draw_title(m->p, wide / 2, 12 + TITLE, TITLE, false, m->o->title, wide - 24);
    hd__draw_text(m->p, (m->left + right) / 2, bottom + LABEL, LABEL, HD__MIDDLE, false, "keys");
    hd__draw_text(m->p, x - 8, y, LABEL, HD__MIDDLE, true, "queries");
}

/* A picture is as wide as its title, unless that is very long. */
static double title_width(const map *m)
{
    const char *title = m->o->title ? m->o->title : "";
    return fmin(ceil(hd__text_width(title, TITLE)) + 24, WIDE_TITLE);
}

static hd_picture *draw_map(map *m)
{
    map_layout(m);
    double right = m->left - m->beside + m->columns * panel_width(m) - GAP;
    double bottom = m->top - m->above + m->rows * panel_height(m) - GAP;
    double maps = right + 2 * GAP + 14 + 60, width = fmax(maps, title_width(m));
    double aside = floor((width - maps) / 2); /* below a wide title the maps are in the middle */
    m->left += aside;
    right += aside;
    double height = fmax(bottom + LABEL + 14, m->top + BAR_STEPS * bar_step(m) + 20);
    if (width > MAX_SIDE || height > MAX_SIDE) {
        return hd_error_set(HD_VALUE,
                            "hd_attention_map: %" PRId64 " heads of %" PRId64
                            " queries and %" PRId64
                            " keys take %.0f x %.0f pixels: expected sides of at most %d",
                            m->heads, m->queries, m->keys, width, height, MAX_SIDE);
    }
    m->p = hd__picture_new(width, height);
    for (int64_t h = 0; h < m->heads && m->p; h++) {
        draw_panel(m, h);
    }
    if (m->p) {
        draw_bar(m, right + GAP);
        map_titles(m, right, bottom);
    }
    return hd__picture_ready(m->p);
}

/* ---------------------------------------------------------------- public */

static bool map_options_ok(const hd_attention_map_options *o)
{
    if (!HD__SIZE_OK_TO("hd_attention_map", o, "hd_attention_map_defaults()")) {
        return false;
    }
    if (o->columns < 0) {
        return hd_error_set(HD_VALUE, "hd_attention_map: columns %d: expected 0 or more",
                            o->columns);
    }
    return (o->max >= 0 && o->max <= 1e300) ||
           hd_error_set(HD_VALUE, "hd_attention_map: max %g: expected 0, or a number above it",
                        o->max);
}

static bool texts_ok(const char *arg, const char *const *texts, int64_t n)
{
    for (int64_t i = 0; texts && i < n; i++) {
        if (!texts[i]) {
            return hd_error_set(HD_NULL_ARG, "hd_attention_map: %s[%" PRId64 "] is NULL", arg, i);
        }
    }
    return true;
}

static bool weights_ok(const hd_tensor *weights)
{
    if (!hd__viz_tensor_given("hd_attention_map", "weights", weights)) {
        return false;
    }
    hd_dtype d = hd_dtype_of(weights);
    if (d != HD_FLOAT32 && d != HD_FLOAT64) {
        return hd_error_set(HD_DTYPE,
                            "hd_attention_map: weights of %s: expected float32 or float64",
                            hd_dtype_name(d));
    }
    int n = hd_ndim(weights);
    if ((n != 2 && n != 3) || hd_numel(weights) == 0) {
        return hd_error_set(HD_SHAPE,
                            "hd_attention_map: weights %s: expected (heads, queries, keys) or "
                            "(queries, keys), none of them 0",
                            HD__SIZES(n, hd_sizes(weights)));
    }
    return true;
}

hd_picture *hd_attention_map(const hd_tensor *weights, const char *const *queries,
                             const char *const *keys, const hd_attention_map_options *o)
{
    hd_attention_map_options defaults = hd_attention_map_defaults();
    o = o ? o : &defaults;
    if (!weights_ok(weights) || !map_options_ok(o)) {
        return NULL;
    }
    map m = {.o = o, .weights = weights, .query_texts = queries};
    m.heads = hd_ndim(weights) == 3 ? hd_size(weights, 0) : 1;
    m.queries = hd_size(weights, -2);
    m.keys = hd_size(weights, -1);
    m.key_texts = keys || m.keys != m.queries ? keys : queries;
    if (!texts_ok("queries", queries, m.queries) || !texts_ok("keys", keys, m.keys)) {
        return NULL;
    }
    m.max = o->max > 0 ? o->max : largest(&m);
    return draw_map(&m);
}
