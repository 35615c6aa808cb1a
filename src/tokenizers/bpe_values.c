/* bpe_values.c - reads values of a tokenizer.json, which are given as ranges of its bytes. */
#include "tokenizers/bpe_json.h"

hd__bpe_value hd__bpe_whole(hd__bpe_reader *r)
{
    hd__json j;
    hd__json_init(&j, r->f.s, (size_t)r->f.n);
    if (hd__json_next(&j) != HD__JSON_OBJECT) {
        r->failed = !hd__json_fail(&j, r->f.where, "an object");
    }
    hd__json_free(&j);
    return (hd__bpe_value){HD__JSON_OBJECT, 0, (size_t)r->f.n};
}

void hd__bpe_each_begin(const hd__bpe_reader *r, hd__bpe_each *w, hd__bpe_value v)
{
    w->name = (hd__text){0};
    hd__json_init(&w->j, v.end ? r->f.s : "null", v.end ? v.end : 4);
    w->j.next = v.begin;
    hd__json_next(&w->j);
}

/* Sets w->item to the value that begins with the last event of w->j, and reads to the end of this
 * value. If it is malformed, w->j.kind is HD__JSON_BAD afterwards. */
static void read_value(hd__bpe_each *w)
{
    hd__json *j = &w->j;
    const int depth = j->depth;
    w->item = (hd__bpe_value){j->kind, j->at, 0};
    if (j->kind == HD__JSON_OBJECT || j->kind == HD__JSON_ARRAY) {
        while (hd__json_next(j) > HD__JSON_END && j->depth >= depth) {
        }
    }
    w->item.end = j->next;
}

bool hd__bpe_each_next(hd__bpe_reader *r, hd__bpe_each *w)
{
    hd__json *j = &w->j;
    if (j->depth > 0 && hd__json_next(j) == HD__JSON_NAME) {
        hd__text_cut(&w->name, 0);
        hd__text_add(&w->name, j->s, j->len);
        r->failed = r->failed || w->name.failed;
        hd__json_next(j);
    }
    if (j->depth > 0 && j->kind > HD__JSON_END) {
        read_value(w);
    }
    if (!r->failed && j->depth > 0 && j->kind > HD__JSON_END) {
        return true;
    }
    if (j->depth == 0) {
        hd__json_next(j); /* reads to the end of the text; it is an error if there is more */
    }
    if (j->kind == HD__JSON_BAD && !r->failed) {
        hd__json_fail(j, r->f.where, NULL);
        r->failed = true;
    }
    hd__json_free(j);
    hd_free(w->name.s);
    return false;
}

bool hd__bpe_is_text(const hd__text *t, const char *want)
{
    return !t->failed && t->len == strlen(want) && memcmp(t->s, want, t->len) == 0;
}

void hd__bpe_members(hd__bpe_reader *r, hd__bpe_value object, const char *const *names,
                     hd__bpe_value *v, const char *only)
{
    hd__bpe_each w;
    for (int i = 0; names[i]; i++) {
        v[i] = (hd__bpe_value){HD__JSON_NULL, 0, 0};
    }
    for (hd__bpe_each_begin(r, &w, object); hd__bpe_each_next(r, &w);) {
        int i = 0;
        while (names[i] && !hd__bpe_is_text(&w.name, names[i])) {
            i++;
        }
        if (names[i]) {
            v[i] = w.item;
        } else if (only) {
            r->failed = !hd_fail(HD_FORMAT, "%s: %s has the unknown key '%.*s'", r->f.where, only,
                                 HD__CLIP(w.name.s, w.name.len));
        }
    }
}

hd__bpe_value hd__bpe_member(hd__bpe_reader *r, hd__bpe_value object, const char *name)
{
    hd__bpe_value v;
    hd__bpe_members(r, object, (const char *const[]){name, NULL}, &v, NULL);
    return v;
}

void hd__bpe_add_text_of(hd__bpe_reader *r, hd__bpe_value v, hd__text *to)
{
    hd__json j;
    hd__json_init(&j, r->f.s, v.end);
    j.next = v.begin;
    if (v.kind == HD__JSON_STRING && hd__json_next(&j) == HD__JSON_STRING) {
        hd__text_add(to, j.s, j.len);
    } else if (v.kind > HD__JSON_STRING && v.kind != HD__JSON_NULL) {
        hd__text_add(to, r->f.s + v.begin, v.end - v.begin);
    }
    r->failed = r->failed || to->failed || j.kind == HD__JSON_BAD;
    hd__json_free(&j);
}

const hd__text *hd__bpe_text_of(hd__bpe_reader *r, hd__bpe_value v)
{
    hd__text_cut(&r->text, 0);
    hd__text_puts(&r->text, "");
    hd__bpe_add_text_of(r, v, &r->text);
    return &r->text;
}

void hd__bpe_value_fail(hd__bpe_reader *r, const char *key, hd__bpe_value v, const char *expected)
{
    bool scalar = v.kind == HD__JSON_STRING || v.kind == HD__JSON_NUMBER;
    const hd__text *t = hd__bpe_text_of(r, v);
    if (r->failed) {
        return; /* the first error stays set */
    }
    r->failed = true;
    if (!scalar) {
        hd_fail(HD_FORMAT, "%s: %s is %s: expected %s", r->f.where, key, hd__json_kind_name(v.kind),
                expected);
    } else {
        hd_fail(HD_FORMAT, "%s: %s is '%.*s': expected %s", r->f.where, key, HD__CLIP(t->s, t->len),
                expected);
    }
}

void hd__bpe_expect_kind(hd__bpe_reader *r, const char *key, hd__bpe_value v, hd__json_kind kind,
                         const char *expected)
{
    if (v.kind != kind) {
        hd__bpe_value_fail(r, key, v, expected);
    }
}

bool hd__bpe_flag_of(hd__bpe_reader *r, const char *key, hd__bpe_value v, bool null)
{
    const bool left_out = v.kind == HD__JSON_NULL && (null || v.end == 0);
    if (v.kind != HD__JSON_TRUE && v.kind != HD__JSON_FALSE && !left_out) {
        hd__bpe_value_fail(r, key, v, "true or false");
    }
    return v.kind == HD__JSON_TRUE;
}

int64_t hd__bpe_id_of(hd__bpe_reader *r, const char *key, hd__bpe_value v)
{
    const hd__text *t = hd__bpe_text_of(r, v);
    hd__json number = {.s = t->s, .len = t->len};
    int64_t i = -1;
    if (v.kind != HD__JSON_NUMBER || t->failed || !hd__json_int(&number, &i) || i < 0 ||
        i >= HD__MOST_IDS) {
        hd__bpe_value_fail(r, key, v, "an id, an integer from 0 to 1048575");
        return 0;
    }
    return i;
}
