/* summary.c - hd_module_summary, which is PyTorch's print(model).
 *
 * A module's text is its class name and a pair of brackets. The brackets contain the lines of the
 * module's extra text, and then, for each child, "(name): " and the child's text. All lines inside
 * the brackets are indented by two columns. */
#include "nn/containers.h"
#include "nn/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXTRA_TEXT = 1024 };

/* Adds the lines of s, each indented by two columns. As in PyTorch, blank lines become empty unless
 * `blanks_too`. */
static void add_lines(hd__text *t, const char *s, bool blanks_too)
{
    for (size_t n; *s; s += n + (s[n] == '\n')) {
        n = strcspn(s, "\n");
        bool blank = strspn(s, " \t\r") >= n;
        hd__text_puts(t, "\n");
        if (blanks_too || !blank) {
            hd__text_puts(t, "  ");
            hd__text_add(t, s, n);
        }
    }
}

/* ---------------------------------------------------------------- nested modules */

/* A module whose text is not complete yet. */
typedef struct level {
    const hd_module *m;
    const char *name; /* m's name in its parent; NULL for the outermost module */
    hd__text text;
    /* ModuleList only: the text that the children first to next - 1 have in common */
    hd__text same;
    int64_t first, next;
} level;

typedef struct open_levels {
    level *v;
    int64_t n, room;
    hd__text whole; /* the outermost module's text, once it is complete */
} open_levels;

/* The most modules that may be nested. The text of n nested modules has O(n^2) bytes, because each
 * level indents it further. */
enum { LEVELS_MOST = 1000 };

/* Writes to at->text the module's text up to its first child; without children, up to its closing
 * bracket. */
static void begin_text(level *at)
{
    const hd_module *m = at->m;
    char extra[EXTRA_TEXT] = "";
    uint64_t failures = hd_error_count();
    if (m->type->extra) {
        HD__CALLS_BACK;
        m->type->extra(m, extra, sizeof extra);
        extra[sizeof extra - 1] = '\0';
    }
    at->text.failed |= hd_error_count() != failures;
    hd__text_format(&at->text, "%s(", m->type->name);
    if (hd__nn_has_children(m) || strchr(extra, '\n')) {
        add_lines(&at->text, extra, true);
    } else {
        hd__text_puts(&at->text, extra);
    }
}

/* Adds a level for the walk's current module, and begins its text. Returns false with an error if
 * there are too many levels or memory runs out. */
static bool step_down(open_levels *l, const hd__nn_walk *w)
{
    if (l->n == LEVELS_MOST) {
        return hd_fail(HD_VALUE,
                       "%s: modules are nested more than %d levels deep: expected fewer levels",
                       w->root->type->name, LEVELS_MOST);
    }
    if (!hd__text_grow(&l->v, &l->room, l->n + 1, sizeof *l->v)) {
        return false;
    }
    l->v[l->n] = (level){.m = w->m, .name = w->at ? w->at->name : NULL};
    begin_text(&l->v[l->n++]);
    return true;
}

/* Adds a child's text to that of the level, and frees it. */
static void add_child(level *at, hd__text child)
{
    at->text.failed |= child.failed;
    if (!at->text.failed) {
        add_lines(&at->text, child.s, hd__nn_is_module_list(at->m));
    }
    hd_free(child.s);
}

/* Adds the successive children of a ModuleList that have equal texts, as `(0-2): 3 x
 * Linear(...)`. */
static void end_equal(level *at)
{
    hd__text child = {0};
    int64_t n = at->next - at->first;
    if (n > 1) {
        hd__text_format(&child, "(%" PRId64 "-%" PRId64 "): %" PRId64 " x %s", at->first,
                        at->next - 1, n, at->same.s);
    } else {
        hd__text_format(&child, "(%" PRId64 "): %s", at->first, at->same.s);
    }
    add_child(at, child);
    hd_free(at->same.s);
    at->same = (hd__text){0};
    at->first = at->next;
}

/* Takes over `text`, the complete text of the child `name`. Adds it to the text of at->m at once;
 * but if at->m is a ModuleList, only when a child with another text follows or the list ends. */
static void take_child(level *at, const char *name, hd__text text)
{
    if (!hd__nn_is_module_list(at->m)) {
        hd__text child = {0};
        hd__text_format(&child, "(%s): %s", name, text.s);
        add_child(at, child);
        hd_free(text.s);
        return;
    }
    int64_t place = strtoll(name, NULL, 10);
    if (at->same.s && (place != at->next || strcmp(text.s, at->same.s) != 0)) {
        end_equal(at);
    }
    at->first = at->same.s ? at->first : place;
    hd_free(at->same.s);
    at->same = text;
    at->next = place + 1;
}

/* Completes the innermost module's text, and adds it to that of the level above; for the outermost
 * module, sets l->whole to it. Returns false if memory has run out. */
static bool step_up(open_levels *l)
{
    level *at = &l->v[l->n - 1];
    if (at->same.s) {
        end_equal(at);
    }
    bool lines = at->text.s && strchr(at->text.s, '\n');
    hd__text_puts(&at->text, lines ? "\n)" : ")");
    if (at->text.failed) {
        return false;
    }
    hd__text text = at->text;
    if (--l->n) {
        take_child(at - 1, at->name, text);
    } else {
        l->whole = text;
    }
    return true;
}

/* Returns the summary of m. If memory runs out, sets an error and the text's field `failed`. */
static hd__text summary_make(hd_module *m)
{
    HD__SCOPE_OR((hd__text){.failed = true});
    open_levels l = {0};
    hd__nn_walk w = {.root = m};
    bool ok = true;
    while (ok && hd__nn_walk_next(&w)) {
        while (ok && l.n >= w.n) {
            ok = step_up(&l);
        }
        ok = ok && step_down(&l, &w);
    }
    ok = hd__nn_walk_end(&w) && ok;
    while (ok && l.n) {
        ok = step_up(&l);
    }
    for (int64_t i = 0; i < l.n; i++) {
        hd_free(l.v[i].text.s);
        hd_free(l.v[i].same.s);
    }
    hd_free(l.v);
    l.whole.failed |= !ok;
    return l.whole;
}

/* Returns the summary, whose text the caller's scope owns; NULL on error. */
static const char *summary_text(const hd_module *m)
{
    if (!hd__object("m", m)) {
        return NULL;
    }
    hd__text t = summary_make((hd_module *)m);
    return hd__tensor_text_give(&t);
}

const char *hd_module_summary(const hd_module *m)
{
    HD__CALL("hd_module_summary");
    const char *text = summary_text(m);
    return text ? text : "NULL"; /* because a program may pass the result to printf */
}

bool hd_module_print(const hd_module *m)
{
    HD__CALL("hd_module_print");
    HD__SCOPE_OR(false);
    const char *text = summary_text(m);
    return text && (printf("%s\n", text) >= 0 || hd_fail(HD_IO, "cannot write to stdout"));
}
