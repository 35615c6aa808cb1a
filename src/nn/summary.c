/* summary.c - print(model): PyTorch's nested lines.
 *
 * A module is its name and its lines in brackets: first those of its extra text, then one for each
 * child with the child's own text. Further lines of a child's text move two columns to the
 * right. */
#include "nn/containers.h"
#include "nn/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXTRA_TEXT = 1024 };

/* Adds each line of s on a line of its own, two columns further to the right. As in PyTorch, blank
 * lines stay empty unless blanks_too. */
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

/* ---------------------------------------------------------------- one module in another */

/* A module whose text is being made. */
typedef struct level {
    const hd_module *m;
    const char *name; /* under which the level above has it */
    hd__text text;
    hd__text same; /* of a ModuleList: the text of the children from `first` to `next` - 1 */
    int64_t first, next;
} level;

typedef struct open_levels {
    level *v;
    int64_t n, room;
    hd__text whole; /* of the outermost module, once it is complete */
} open_levels;

/* A text of n nested modules has n^2 bytes, because each line is two columns further to the
 * right. */
enum { LEVELS_MOST = 1000 };

/* The module, up to its first child or to its end. */
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

/* Goes down to where the walk is. */
static bool step_down(open_levels *l, const hd__nn_walk *w)
{
    if (l->n == LEVELS_MOST) {
        return hd_fail(HD_VALUE,
                       "%s: more than %d modules are nested in each other: expected fewer",
                       w->root->type->name, LEVELS_MOST);
    }
    if (!hd__text_grow(&l->v, &l->room, l->n + 1, sizeof *l->v)) {
        return false;
    }
    l->v[l->n] = (level){.m = w->m, .name = w->at ? w->at->name : NULL};
    begin_text(&l->v[l->n++]);
    return true;
}

/* Adds what is said of a child, and frees it. */
static void add_child(level *at, hd__text child)
{
    at->text.failed |= child.failed;
    if (!at->text.failed) {
        add_lines(&at->text, child.s, hd__nn_is_module_list(at->m));
    }
    hd_free(child.s);
}

/* Writes the line of the children `first` to `next` - 1 of a ModuleList, which have one text:
 * `(0-2): 3 x Linear(...)`. */
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

/* text is that of the child with this name. */
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

/* The text of the innermost module is complete. */
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

/* The caller's scope owns the text. */
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
    return text ? text : "NULL"; /* which printf takes */
}

bool hd_module_print(const hd_module *m)
{
    HD__CALL("hd_module_print");
    HD__SCOPE_OR(false);
    const char *text = summary_text(m);
    return text && (printf("%s\n", text) >= 0 || hd_fail(HD_IO, "cannot write to stdout"));
}
