/* json.c - the values of a JSON file in a flat dictionary, by their paths. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/files/whole.h"
#include "base/text/json.h"
#include "hf/hf_internal.h"

enum { MOST = 1 << 24, PATH = 512 };

/* The reader, and where it is: the length of the path of each level, the index in a list (-1:
 * none), and how many values there were before it. */
typedef struct reading {
    hd__json json;
    const char *function;
    hd__text file; /* for messages */
    hd_dict *values;
    char path[PATH];
    size_t len[HD__JSON_DEPTH + 2];
    int64_t index[HD__JSON_DEPTH + 2];
    int64_t before[HD__JSON_DEPTH + 2];
} reading;

/* The path becomes that of the level `depth` with a name after it. NULL: the next element, if the
 * level is a list. */
static bool enter(reading *r, int depth, const char *name, size_t n)
{
    size_t at = r->len[depth], room = PATH - at;
    const char *dot = at > 0 ? "." : "";
    if (name && at + n == 0) { /* what is inside would seem to be outside */
        return hd__json_fail(&r->json, r->function, r->file.s, "names of one byte or more");
    }
    int put = name ? snprintf(r->path + at, room, "%s%.*s", dot, (int)n, name)
              : r->index[depth] < 0
                  ? 0
                  : snprintf(r->path + at, room, "%s%" PRId64, dot, r->index[depth]++);
    return (size_t)put < room || hd__json_fail(&r->json, r->function, r->file.s, "shorter names");
}

static bool text_put(reading *r, const char *mark, const char *s, size_t n)
{
    hd__text text = {0};
    hd__text_puts(&text, mark);
    hd__text_add(&text, s, n);
    bool ok = !text.failed && hd_dict_set_string(r->values, r->path, text.s);
    hd_free(text.s);
    return ok;
}

static bool value_put(reading *r)
{
    int64_t whole;
    double v;
    if (hd_dict_kind_of(r->values, r->path) != HD_DICT_MISSING) {
        return hd__json_fail(&r->json, r->function, r->file.s, "each name once");
    }
    switch (r->json.kind) {
    case HD__JSON_NULL: return text_put(r, "null", "", 0);
    case HD__JSON_TRUE: return text_put(r, "true", "", 0);
    case HD__JSON_FALSE: return text_put(r, "false", "", 0);
    case HD__JSON_NUMBER:
        return hd__json_int(&r->json, &whole)
                   ? hd_dict_set_int(r->values, r->path, whole)
                   : hd__json_double(&r->json, &v) && hd_dict_set_double(r->values, r->path, v);
    default: return text_put(r, "\"", r->json.s, r->json.len);
    }
}

/* The level of this depth ends. One without anything is a value. */
static bool level_end(reading *r, int depth, const char *value)
{
    r->path[r->len[depth]] = '\0';
    return depth == 1 || r->before[depth] < hd_dict_len(r->values) || text_put(r, value, "", 0);
}

static bool event_take(reading *r)
{
    const hd__json *j = &r->json;
    int depth = j->depth;
    switch (j->kind) {
    case HD__JSON_NAME: return enter(r, depth, j->s, j->len);
    case HD__JSON_OBJECT:
    case HD__JSON_ARRAY:
        if (!enter(r, depth - 1, NULL, 0)) {
            return false;
        }
        r->len[depth] = strlen(r->path);
        r->index[depth] = j->kind == HD__JSON_ARRAY ? 0 : -1;
        r->before[depth] = hd_dict_len(r->values);
        return true;
    case HD__JSON_OBJECT_END: return level_end(r, depth + 1, "{}");
    case HD__JSON_ARRAY_END: return level_end(r, depth + 1, "[]");
    default: return enter(r, depth, NULL, 0) && value_put(r);
    }
}

hd_dict *hd__json_values(const char *function, const char *path)
{
    size_t n;
    reading r = {.function = function, .index = {-1}};
    char *text = hd__whole_read(function, path, MOST, &n);
    r.values = text ? hd_dict_new() : NULL;
    hd__text_format(&r.file, "'%.*s'", HD__CUT(path));
    bool ok = r.values && !r.file.failed;
    if (ok) {
        hd__json_init(&r.json, text, n);
        while (ok && hd__json_next(&r.json) > HD__JSON_END) {
            ok = event_take(&r);
        }
        ok =
            ok && (r.json.kind == HD__JSON_END || hd__json_fail(&r.json, function, r.file.s, NULL));
        hd__json_free(&r.json);
    }
    hd_free(r.file.s);
    hd_free(text);
    return hd__dict_if(ok, r.values);
}

const char *hd__json_text(const hd_dict *values, const char *path)
{
    bool text = hd_dict_kind_of(values, path) == HD_DICT_STRING;
    const char *s = text ? hd_dict_get_string(values, path) : "";
    return *s == '"' ? s + 1 : NULL;
}
