/* attention_map.c - hd_attention_map: draws attention weights as coloured cells, with a panel for
 * each head.
 *
 * The tokens are written along both axes. If their texts would touch, only every stride-th token is
 * written. The side of a cell is a whole number of pixels. Neighbouring cells of one colour are
 * drawn as one rectangle. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "viz/viz_internal.h"

enum { MAP_TITLE = 16, MAP_LABEL = 13, MAP_SMALL = 12, TOKEN = 11, LINE = 14 };
enum { TOKEN_TEXT = 256, TOKEN_WIDTH = 94, WIDE_TITLE = 720, MAX_SIDE = 16384 };
enum { PANEL = 336, BIGGEST_CELL = 30, GAP = 22, BAR_STEPS = 64, MAP_LEVELS = 256 };

static const hd__viz_rgb nan_color = 0xD55E00;

typedef struct heat_map {
    hd_picture *p;
    const hd_attention_map_options *o;
    const hd_tensor *weights; /* (heads, queries, keys) or (queries, keys) */
    const char *const *query_texts, *const *key_texts;
    int64_t heads, queries, keys;
    double max;
    int columns;                      /* the number of panels in a row */
    int64_t stride;                   /* the distance from one written token to the next */
    bool keys_upwards;                /* true: the texts of the keys run upwards */
    double cell;                      /* the side of a cell */
    double beside, below;             /* the space for texts left of the cells, and below them */
    double panel_width, panel_height; /* the size of a panel and the gap after it */
    double left, top;                 /* the place where the cells of the first panel begin */
    double right, bottom;             /* the ends of the last column and the last row of panels */
    double bar_step;                  /* the height of one colour in the colour bar */
} heat_map;

hd_attention_map_options hd_attention_map_defaults(void)
{
    return (hd_attention_map_options){.size = sizeof(hd_attention_map_options)};
}

/* ---------------------------------------------------------------- weights and colours */

static double weight(const heat_map *m, int64_t head, int64_t q, int64_t k)
{
    int64_t index[] = {head, q, k};
    int n = hd_ndim(m->weights);
    return hd_get_n(m->weights, n, index + 3 - n);
}

static double largest(const heat_map *m)
{
    double max = 0;
    int64_t cells = m->queries * m->keys;
    for (int64_t i = 0; i < m->heads * cells; i++) {
        double w = weight(m, i / cells, i % cells / m->keys, i % m->keys);
        max = isfinite(w) && w > max ? w : max;
    }
    return max > 0 ? max : 1;
}

/* Returns the colour of w, from white for 0 to dark blue for max. A larger weight is darker, so a
 * grey copy can be read, too. */
static hd__viz_rgb color_of(double w, double max)
{
    static const double stops[][3] = {
        {255, 255, 255}, {191, 221, 240}, {111, 177, 219}, {42, 125, 181}, {11, 42, 74}};
    if (isnan(w)) {
        return nan_color;
    }
    double t = round(fmin(fmax(w / max, 0), 1) * MAP_LEVELS) / MAP_LEVELS * 4;
    int i = t < 4 ? (int)t : 3;
    hd__viz_rgb color = 0;
    for (int c = 0; c < 3; c++) {
        color = color << 8 |
                (hd__viz_rgb)lround(stops[i][c] + (stops[i + 1][c] - stops[i][c]) * (t - i));
    }
    return color;
}

/* ---------------------------------------------------------------- tokens */

/* Writes the label of token i: its text, or its number if texts is NULL. Replaces spaces and
 * control characters by visible ones, and cuts the text to fit into out. */
static void token_text(char out[TOKEN_TEXT], const char *const *texts, int64_t i)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, i);
    const char *text = texts ? texts[i] : number;
    size_t n = 0;
    for (; *text && n + 4 < TOKEN_TEXT; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == ' ') {
            memcpy(out + n, "\xe2\x90\xa3", 3);
            n += 3;
        } else if (c < ' ' || c == 0x7F) {
            const char *at = strchr("\nn\tt\rr", c);
            out[n++] = '\\';
            out[n++] = at ? at[1] : '?';
        } else {
            out[n++] = *text;
        }
    }
    out[n] = '\0';
}

static double widest(const heat_map *m, const char *const *texts, int64_t n)
{
    char text[TOKEN_TEXT];
    double width = 0;
    for (int64_t i = 0; i < n; i += m->stride) {
        token_text(text, texts, i);
        width = fmax(width, hd__viz_text_width(text, TOKEN));
    }
    return fmin(width, TOKEN_WIDTH);
}

/* ---------------------------------------------------------------- layout */

static void panel_layout(heat_map *m)
{
    int64_t most = m->queries > m->keys ? m->queries : m->keys;
    m->cell = fmax(1, fmin(floor((double)PANEL / (double)most), BIGGEST_CELL));
    m->stride = (int64_t)ceil(LINE / m->cell);
    double keys = widest(m, m->key_texts, m->keys);
    m->keys_upwards = keys + 4 > m->cell * (double)m->stride;
    m->beside = ceil(widest(m, m->query_texts, m->queries)) + 8;
    m->below = m->keys_upwards ? ceil(keys) + 8 : LINE + 4;
    m->panel_width = m->beside + m->cell * (double)m->keys + GAP;
    m->panel_height = m->cell * (double)m->queries + m->below + GAP;
    m->bar_step = fmin(fmax(floor(m->cell * (double)m->queries / BAR_STEPS), 2), 4);
}

/* Computes the layout and returns a new picture, or NULL with an error if the picture is too large.
 * The picture is as wide as the maps. If the title is wider, the picture is as wide as the title,
 * but not widened beyond WIDE_TITLE, and the maps are centred. */
static hd_picture *map_picture(heat_map *m)
{
    const char *title = m->o->title ? m->o->title : "";
    double above = m->heads > 1 ? MAP_SMALL + 8 : 0; /* the space for the number of a head */
    panel_layout(m);
    m->panel_height += above;
    m->columns = m->o->columns ? m->o->columns : (int)ceil(sqrt((double)m->heads));
    m->columns = m->columns > m->heads ? (int)m->heads : m->columns;
    double maps = 16 + MAP_LABEL + 8 + m->columns * m->panel_width + GAP + 14 + 60;
    double width = fmax(maps, fmin(ceil(hd__viz_text_width(title, MAP_TITLE)) + 24, WIDE_TITLE));
    m->left = 16 + MAP_LABEL + 8 + m->beside + floor((width - maps) / 2);
    m->right = m->left - m->beside + m->columns * m->panel_width - GAP;
    m->top = 14 + (*title ? MAP_TITLE + 14 : 0) + above;
    m->bottom =
        m->top - above - GAP + (double)((m->heads + m->columns - 1) / m->columns) * m->panel_height;
    double height = fmax(m->bottom + MAP_LABEL + 14, m->top + BAR_STEPS * m->bar_step + 20);
    return width <= MAX_SIDE && height <= MAX_SIDE
               ? hd__viz_picture_new(width, height)
               : hd_fail(HD_VALUE,
                         "%" PRId64 " heads of %" PRId64 " queries and %" PRId64
                         " keys take %.0f x %.0f pixels: expected sides of at most %d",
                         m->heads, m->queries, m->keys, width, height, MAX_SIDE);
}

/* ---------------------------------------------------------------- drawing */

static void draw_cells(const heat_map *m, int64_t head, double x, double y)
{
    for (int64_t q = 0; q < m->queries; q++) {
        for (int64_t k = 0, end; k < m->keys; k = end) {
            hd__viz_rgb color = color_of(weight(m, head, q, k), m->max);
            end = k + 1;
            while (end < m->keys && color_of(weight(m, head, q, end), m->max) == color) {
                end++;
            }
            if (color != HD__WHITE) {
                hd__viz_draw_rect(m->p, x + (double)k * m->cell, y + (double)q * m->cell,
                                  (double)(end - k) * m->cell, m->cell, color);
            }
        }
    }
}

static void draw_tokens(const heat_map *m, double x, double y)
{
    char text[TOKEN_TEXT];
    for (int64_t q = 0; q < m->queries; q += m->stride) {
        token_text(text, m->query_texts, q);
        hd__viz_draw_text(m->p, x - 5, y + ((double)q + 0.5) * m->cell + 4, TOKEN, "end", false,
                          TOKEN_WIDTH, text);
    }
    double bottom = y + (double)m->queries * m->cell;
    bool up = m->keys_upwards;
    for (int64_t k = 0; k < m->keys; k += m->stride) {
        double middle = x + ((double)k + 0.5) * m->cell;
        token_text(text, m->key_texts, k);
        hd__viz_draw_text(m->p, up ? middle + 4 : middle, bottom + (up ? 6 : LINE), TOKEN,
                          up ? "end" : "middle", up, TOKEN_WIDTH, text);
    }
}

static void draw_panel(const heat_map *m, int64_t head)
{
    char title[32];
    double x = m->left + m->panel_width * (double)(head % m->columns);
    double y = m->top + m->panel_height * (double)(head / m->columns);
    draw_cells(m, head, x, y);
    hd__viz_draw_frame(m->p, x, y, m->cell * (double)m->keys, m->cell * (double)m->queries);
    draw_tokens(m, x, y);
    if (m->heads > 1) {
        snprintf(title, sizeof title, "head %" PRId64, head);
        hd__viz_draw_text(m->p, x, y - 7, MAP_SMALL, "start", false, INFINITY, title);
    }
}

static void draw_bar(const heat_map *m)
{
    double x = m->right + GAP, height = BAR_STEPS * m->bar_step;
    for (int i = 0; i < BAR_STEPS; i++) {
        hd__viz_draw_rect(m->p, x, m->top + i * m->bar_step, 14, m->bar_step,
                          color_of(BAR_STEPS - 0.5 - i, BAR_STEPS));
    }
    hd__viz_draw_frame(m->p, x, m->top, 14, height);
    hd__viz_axis a = hd__viz_axis_of(false, 0, m->max, 0);
    hd__viz_axis_ticks(&a, 6);
    for (int i = 0; i < a.n; i++) {
        double y = m->top + height * (1 - a.at[i]);
        hd__viz_draw_segment(m->p, x + 14, y, x + 18, y, 1, 0, HD__INK);
        hd__viz_draw_text(m->p, x + 22, y + 4, MAP_SMALL, "start", false, INFINITY, a.label[i]);
    }
}

static void map_titles(const heat_map *m)
{
    double wide = m->p->width;
    hd__viz_draw_text(m->p, wide / 2, 12 + MAP_TITLE, MAP_TITLE, "middle", false, wide - 24,
                      m->o->title);
    hd__viz_draw_text(m->p, (m->left + m->right) / 2, m->bottom + MAP_LABEL, MAP_LABEL, "middle",
                      false, INFINITY, "keys");
    hd__viz_draw_text(m->p, m->left - m->beside - 8, (m->top + m->bottom - m->below) / 2, MAP_LABEL,
                      "middle", true, INFINITY, "queries");
}

/* ---------------------------------------------------------------- public */

static bool map_options_ok(const hd_attention_map_options *o)
{
    return HD__SIZE_OK(o, "hd_attention_map_defaults()") &&
           (o->columns >= 0 || hd_fail(HD_VALUE, "columns %d: expected 0 or more", o->columns)) &&
           ((o->max >= 0 && o->max <= 1e300) ||
            hd_fail(HD_VALUE, "max %g: expected 0 to 1e300", o->max));
}

static bool texts_ok(const char *arg, const char *const *texts, int64_t n)
{
    for (int64_t i = 0; texts && i < n; i++) {
        if (!texts[i]) {
            return hd_fail(HD_NULL_ARG, "%s[%" PRId64 "] is NULL", arg, i);
        }
    }
    return true;
}

static bool weights_ok(const hd_tensor *weights)
{
    if (!hd__tensor_given("weights", weights, false)) {
        return false;
    }
    hd_dtype d = hd_dtype_of(weights);
    int n = hd_ndim(weights);
    return (d == HD_FLOAT32 || d == HD_FLOAT64 ||
            hd_fail(HD_DTYPE, "weights of %s: expected float32 or float64", hd_dtype_name(d))) &&
           (((n == 2 || n == 3) && hd_numel(weights) > 0) ||
            hd_fail(HD_SHAPE,
                    "weights %s: expected (heads, queries, keys) or "
                    "(queries, keys), none of them 0",
                    HD__SIZES(n, hd_sizes(weights))));
}

hd_picture *hd_attention_map(const hd_tensor *weights, const char *const *queries,
                             const char *const *keys, const hd_attention_map_options *o)
{
    HD__CALL("hd_attention_map");
    hd_attention_map_options defaults = hd_attention_map_defaults();
    o = o ? o : &defaults;
    if (!HD__SIBLING_OK() || !weights_ok(weights) || !map_options_ok(o)) {
        return NULL;
    }
    heat_map m = {.o = o, .weights = weights, .query_texts = queries};
    m.heads = hd_ndim(weights) == 3 ? hd_size(weights, 0) : 1;
    m.queries = hd_size(weights, -2);
    m.keys = hd_size(weights, -1);
    m.key_texts = keys || m.keys != m.queries ? keys : queries;
    if (!texts_ok("queries", queries, m.queries) || !texts_ok("keys", keys, m.keys)) {
        return NULL;
    }
    m.max = o->max > 0 ? o->max : largest(&m);
    m.p = map_picture(&m);
    if (!m.p) {
        return NULL;
    }
    for (int64_t h = 0; h < m.heads; h++) {
        draw_panel(&m, h);
    }
    draw_bar(&m);
    map_titles(&m);
    return hd__viz_picture_ready(m.p);
}
