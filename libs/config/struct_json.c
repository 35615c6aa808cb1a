/* struct_json.c - writes the values of a struct as JSON, after it has checked them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "config/config_internal.h"

/* ---------------------------------------------------------------- small texts */

const char *hd__config_shown(const char *text, char out[HD__SHOWN])
{
    size_t n = strlen(text), most = HD__SHOWN - 4, len = 0;
    while (len < n && len < most) {
        unsigned char c = (unsigned char)text[len];
        out[len++] = c < ' ' || c == 0x7F ? '?' : (char)c;
    }
    size_t whole = hd__utf8_good(out, len);
    if (len == n || len - whole > 3) { /* else the cut splits a character, which is left out */
        for (size_t i = whole; i < len; i++) {
            out[i] = (unsigned char)out[i] < 0x80 ? out[i] : '?';
        }
        whole = len;
    }
    snprintf(out + whole, HD__SHOWN - whole, "%s", len < n ? "..." : "");
    return out;
}

/* ---------------------------------------------------------------- checks */

static bool text_ok(const hd_config_field *f, const void *config)
{
    const char *text = (const char *)config + f->offset;
    const char *end = memchr(text, 0, f->room);
    return end && hd__utf8_good(text, (size_t)(end - text)) == (size_t)(end - text);
}

static bool value_ok(const hd_config_source *from, const hd_config_field *f, const void *config)
{
    char expected[HD__EXPECTED];
    size_t n;
    if (f->type == HD_CONFIG_STRING) {
        return text_ok(f, config) ||
               hd_config_refuse(
                   from, f->path,
                   "found a text that is not UTF-8 or has no zero at its end: expected %s",
                   hd__config_expected(f, expected));
    }
    double v = hd__config_get(f, config);
    bool choice = f->type == HD_CONFIG_ENUM;
    bool ok = choice ? v >= 0 && hd__config_choice_at(f, (int64_t)v, &n)
                     : v >= hd__config_min(f) && v <= hd__config_max(f) && isfinite(v);
    return ok || hd_config_refuse(from, f->path, "found %s: expected %s", HD__SHORT(v),
                                  hd__config_expected(f, expected));
}

static bool config_ok(const hd_config_table *t, const void *config)
{
    hd_config_source from = {.place = "the struct"};
    if (!hd__config_table_ok(t) || !hd__arg_given("config", config)) {
        return false;
    }
    for (int64_t i = 0; i < t->n; i++) {
        if (!value_ok(&from, &t->fields[i], config)) {
            return false;
        }
    }
    return hd__config_check(t, config, &from);
}

/* ---------------------------------------------------------------- JSON */

static void put_value(hd__text *t, const hd_config_field *f, const void *config)
{
    const char *text = (const char *)config + f->offset;
    double v = f->type == HD_CONFIG_STRING ? 0 : hd__config_get(f, config);
    size_t n = 0;
    switch (f->type) {
    case HD_CONFIG_STRING: hd__text_json(t, text, strlen(text), false); break;
    case HD_CONFIG_ENUM:
        text = hd__config_choice_at(f, (int64_t)v, &n);
        hd__text_json(t, text, n, false);
        break;
    case HD_CONFIG_BOOL: hd__text_puts(t, v != 0 ? "true" : "false"); break;
    case HD_CONFIG_INT: hd__text_format(t, "%" PRId64, (int64_t)v); break;
    default: hd__text_puts(t, HD__SHORT(v));
    }
}

static void put_line_start(hd__text *t, int depth)
{
    hd__text_format(t, "\n%*s", 4 * depth, "");
}

/* Returns the number of objects that contain the field at path, without the outermost one. If
 * `before` is not NULL, counts only the objects that also contain the field at `before`. */
static int objects_in(const char *path, const char *before)
{
    int depth = 0;
    size_t n;
    while ((n = hd__config_prefix(path, depth)) && path[n] == '.' &&
           (!before || (strncmp(path, before, n) == 0 && before[n] == '.'))) {
        depth++;
    }
    return depth;
}

static void close_objects(hd__text *t, int from, int to)
{
    for (; from > to; from--) {
        put_line_start(t, from);
        hd__text_puts(t, "}");
    }
}

/* Writes field f, after the field at `before` (NULL: f is the first). Between them, closes the
 * objects that contain only the field at `before`, and opens those that contain only f. The fields
 * of one object stand together, so each object is opened once. */
static void put_field(hd__text *t, const char *before, const hd_config_field *f, const void *config)
{
    int inside = objects_in(f->path, NULL), shared = before ? objects_in(f->path, before) : 0;
    if (before) {
        close_objects(t, objects_in(before, NULL), shared);
        hd__text_puts(t, ",");
    }
    for (int depth = shared; depth <= inside; depth++) {
        size_t start = depth ? hd__config_prefix(f->path, depth - 1) + 1 : 0;
        put_line_start(t, depth + 1);
        hd__text_json(t, f->path + start, hd__config_prefix(f->path, depth) - start, false);
        hd__text_puts(t, depth < inside ? ": {" : ": ");
    }
    put_value(t, f, config);
}

static char *put_all(const hd_config_table *t, const void *config)
{
    hd__text text = {0};
    const char *before = NULL;
    hd__text_puts(&text, "{");
    for (int64_t i = 0; i < t->n; i++) {
        put_field(&text, before, &t->fields[i], config);
        before = t->fields[i].path;
    }
    close_objects(&text, objects_in(before, NULL), 0);
    hd__text_puts(&text, "\n}\n");
    return hd__text_take(&text);
}

/* ---------------------------------------------------------------- public */

char *hd_config_text(const hd_config_table *t, const void *config)
{
    HD__CALL("hd_config_text");
    return config_ok(t, config) ? put_all(t, config) : NULL;
}

bool hd_config_save(const hd_config_table *t, const void *config, const char *path)
{
    HD__CALL("hd_config_save");
    if (!hd__arg_given("path", path) || !hd__arg_may_save() || !config_ok(t, config)) {
        return false;
    }
    char *text = put_all(t, config);
    size_t n = text ? strlen(text) : 0;
    bool ok =
        n <= HD__CONFIG_LARGEST || hd_fail(HD_VALUE,
                                           "'%.*s': the text has %zu bytes: expected at most %d. "
                                           "hd_config_load reads no larger file",
                                           HD__CUT(path), n, HD__CONFIG_LARGEST);
    ok = ok && text && hd__file_whole_write(path, text, n);
    hd_free(text);
    return ok;
}
