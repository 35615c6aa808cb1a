/* json.c - the values of a JSON file in a flat dictionary, by their paths. */
#include <stdio.h>
#include <string.h>

#include "base/text/json.h"
#include "base/text/whole.h"
#include "hf/hf_internal.h"

enum { MOST = 1 << 24, PATH = 512 };

/* Where the reader is: the length of the path of each level, and the index in a list (-1: none). */
typedef struct place {
    char path[PATH];
    size_t len[HD__JSON_DEPTH + 2];
    int64_t index[HD__JSON_DEPTH + 2];
    bool too_long;
} place;

/* The path becomes that of the level `depth` with a name after it. */
static bool enter(place *p, int depth, const char *name, size_t n)
{
    size_t at = p->len[depth];
    if (at + n + 2 > PATH) {
        p->too_long = true;
        return false;
    }
    if (at > 0) {
        p->path[at++] = '.';
    }
    memcpy(p->path + at, name, n);
    p->path[at + n] = '\0';
    return true;
}

/* The next element of a list is a name, too. */
static bool enter_element(place *p, int depth)
{
    char number[24];
    if (p->index[depth] < 0) {
        return true;
    }
    int n = snprintf(number, sizeof number, "%lld", (long long)p->index[depth]++);
    return enter(p, depth, number, (size_t)n);
}

static bool value_put(hd_dict *d, const hd__json *j, const char *path)
{
    int64_t whole;
    double v;
    switch (j->kind) {
    case HD__JSON_TRUE: return hd_dict_set_string(d, path, "true");
    case HD__JSON_FALSE: return hd_dict_set_string(d, path, "false");
    case HD__JSON_NULL: return true;
    case HD__JSON_NUMBER:
        if (hd__json_int(j, &whole)) {
            return hd_dict_set_int(d, path, whole);
        }
        return hd__json_double(j, &v) && hd_dict_set_double(d, path, v);
    default: break;
    }
    char *text = hd_alloc(j->len + 1);
    if (text) {
        memcpy(text, j->s, j->len);
        text[j->len] = '\0';
    }
    bool ok = text && hd_dict_set_string(d, path, text);
    hd_free(text);
    return ok;
}

/* Takes an event; false with an error, or with p->too_long. */
static bool event_take(hd_dict *d, const hd__json *j, place *p)
{
    int depth = j->depth;
    switch (j->kind) {
    case HD__JSON_NAME: return enter(p, depth, j->s, j->len);
    case HD__JSON_OBJECT:
    case HD__JSON_ARRAY:
        if (!enter_element(p, depth - 1)) {
            return false;
        }
        p->len[depth] = strlen(p->path);
        p->index[depth] = j->kind == HD__JSON_ARRAY ? 0 : -1;
        return true;
    case HD__JSON_OBJECT_END:
    case HD__JSON_ARRAY_END: p->path[p->len[depth]] = '\0'; return true;
    default: return enter_element(p, depth) && value_put(d, j, p->path);
    }
}

hd_dict *hd__json_values(const char *function, const char *path)
{
    size_t n;
    char *text = hd__whole_read(function, path, MOST, &n);
    hd_dict *d = text ? hd_dict_new() : NULL;
    place p = {.path = "", .index = {-1}};
    hd__json j;
    bool ok = d;
    if (d) {
        hd__text where = {0};
        hd__text_format(&where, "'%.*s'", HD__CUT(path));
        hd__json_init(&j, text, n);
        while (ok && hd__json_next(&j) > HD__JSON_END) {
            ok = event_take(d, &j, &p);
        }
        if (!where.failed && (p.too_long || j.kind == HD__JSON_BAD)) {
            hd__json_fail(&j, function, where.s, "shorter names");
        }
        ok = ok && j.kind == HD__JSON_END && !where.failed;
        hd__json_free(&j);
        hd_free(where.s);
    }
    hd_free(text);
    if (!ok) {
        hd_dict_free(d);
        d = NULL;
    }
    return d;
}
