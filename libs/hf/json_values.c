/* json_values.c - reads a JSON file into a flat dictionary, which has each value under its path.
 *
 * A path consists of names and indices with dots between them: rope_scaling.factor, layer_types.0.
 * A name that could be read as several names or as an index is written as a JSON string:
 * "rope_scaling.factor", id2label."0". */
#include <inttypes.h>
#include <string.h>

#include "base/files/whole_file.h"
#include "base/text/json.h"
#include "hf/hf_internal.h"

enum { JSON_MOST = 1 << 24, PATH = 512 };

/* The state of the reader. Entry d of an array is for the open list or object at depth d; the
 * file's own object is at depth 1. */
typedef struct reading {
    hd__json json;
    hd__text file; /* the name of the file in messages */
    hd_dict *values;
    hd_dict *paths; /* the paths of all values, lists and objects read so far */
    hd__text path;
    size_t len[HD__JSON_DEPTH + 2];     /* the length in bytes of the path of the list or object */
    int64_t index[HD__JSON_DEPTH + 2];  /* the next index in the list, or -1 for an object */
    int64_t before[HD__JSON_DEPTH + 2]; /* the number of values before the list or object */
} reading;

/* True if the name needs no quotation marks in a path. */
static bool name_is_plain(const char *name, size_t n)
{
    bool plain = n > 0 && !hd__text_is_digit(name[0]);
    for (size_t i = 0; plain && i < n; i++) {
        plain = (unsigned char)name[i] >= ' ' && !strchr(".\"\\", name[i]);
    }
    return plain;
}

static bool path_ok(reading *r)
{
    return !r->path.failed &&
           (r->path.len < PATH || hd__json_fail(&r->json, r->file.s, "shorter names"));
}

/* Sets r->path to the path of the open object at `depth`, followed by the name. Returns false with
 * an error if the path is too long or memory runs out. */
static bool enter_name(reading *r, int depth, const char *name, size_t n)
{
    hd__text_cut(&r->path, r->len[depth]);
    hd__text_puts(&r->path, r->path.len > 0 ? "." : "");
    if (name_is_plain(name, n)) {
        hd__text_add(&r->path, name, n);
    } else {
        hd__text_json(&r->path, name, n, true);
    }
    return path_ok(r);
}

/* Begins a value in the open list or object at `depth`. In a list, sets r->path to the path of the
 * next element. In an object, r->path already has the name. Returns false with an error if the file
 * has two values with this path. */
static bool enter_value(reading *r, int depth)
{
    if (r->index[depth] >= 0) {
        hd__text_cut(&r->path, r->len[depth]);
        hd__text_format(&r->path, "%s%" PRId64, r->path.len > 0 ? "." : "", r->index[depth]++);
    }
    if (!path_ok(r) || r->path.len == 0) {
        return r->path.len == 0; /* no path: the value is the whole text */
    }
    if (hd_dict_kind_of(r->paths, r->path.s) != HD_DICT_MISSING) {
        return hd__json_fail(&r->json, r->file.s, "each name once");
    }
    return hd_dict_set_int(r->paths, r->path.s, 0);
}

/* Stores a string under r->path: the mark and the n bytes at s. A text with U+0000, which a C
 * string cannot have, is stored in its JSON form. Returns false with an error if memory runs
 * out. */
static bool text_put(reading *r, const char *mark, const char *s, size_t n)
{
    hd__text text = {0};
    hd__text_puts(&text, mark);
    if (memchr(s, 0, n)) {
        hd__text_json(&text, s, n, true);
    } else {
        hd__text_add(&text, s, n);
    }
    bool ok = !text.failed && hd_dict_set_string(r->values, r->path.s, text.s);
    hd_free(text.s);
    return ok;
}

static bool value_put(reading *r)
{
    int64_t whole;
    double v;
    switch (r->json.kind) {
    case HD__JSON_NULL: return text_put(r, "null", "", 0);
    case HD__JSON_TRUE: return text_put(r, "true", "", 0);
    case HD__JSON_FALSE: return text_put(r, "false", "", 0);
    case HD__JSON_NUMBER:
        return hd__json_int(&r->json, &whole)
                   ? hd_dict_set_int(r->values, r->path.s, whole)
                   : hd__json_double(&r->json, &v) && hd_dict_set_double(r->values, r->path.s, v);
    default: return text_put(r, "\"", r->json.s, r->json.len);
    }
}

/* Ends the list or object at `depth`. If it is empty and not the whole file, stores `value`, which
 * is "[]" or "{}". Returns false with an error if memory runs out. */
static bool level_end(reading *r, int depth, const char *value)
{
    hd__text_cut(&r->path, r->len[depth]);
    return depth == 1 || r->before[depth] < hd_dict_len(r->values) || text_put(r, value, "", 0);
}

static bool event_take(reading *r)
{
    const hd__json *j = &r->json;
    int depth = j->depth;
    switch (j->kind) {
    case HD__JSON_NAME: return enter_name(r, depth, j->s, j->len);
    case HD__JSON_OBJECT:
    case HD__JSON_ARRAY:
        if (!enter_value(r, depth - 1)) {
            return false;
        }
        r->len[depth] = r->path.len;
        r->index[depth] = j->kind == HD__JSON_ARRAY ? 0 : -1;
        r->before[depth] = hd_dict_len(r->values);
        return true;
    case HD__JSON_OBJECT_END: return level_end(r, depth + 1, "{}");
    case HD__JSON_ARRAY_END: return level_end(r, depth + 1, "[]");
    default:
        if (depth == 0) { /* the value is the whole text */
            return hd__json_fail(&r->json, r->file.s, "an object");
        }
        return enter_value(r, depth) && value_put(r);
    }
}

hd_dict *hd__hf_json_values(const char *path)
{
    size_t n;
    reading r = {.index = {-1}};
    char *text = hd__file_whole_read(path, JSON_MOST, &n);
    r.values = text ? hd_dict_new() : NULL;
    r.paths = r.values ? hd_dict_new() : NULL;
    hd__text_puts(&r.path, "");
    hd__text_format(&r.file, "'%.*s'", HD__CUT(path));
    bool ok = r.paths && !r.file.failed && !r.path.failed;
    if (ok) {
        hd__json_init(&r.json, text, n);
        while (ok && hd__json_next(&r.json) > HD__JSON_END) {
            ok = event_take(&r);
        }
        ok = ok && (r.json.kind == HD__JSON_END || hd__json_fail(&r.json, r.file.s, NULL));
        hd__json_free(&r.json);
    }
    hd_dict_free(r.paths);
    hd_free(r.path.s);
    hd_free(r.file.s);
    hd_free(text);
    return hd__hf_dict_if(ok, r.values);
}

const char *hd__hf_json_text(const hd_dict *values, const char *path)
{
    bool text = hd_dict_kind_of(values, path) == HD_DICT_STRING;
    const char *s = text ? hd_dict_get_string(values, path) : "";
    return *s == '"' ? s + 1 : NULL;
}
