/* summary.c - print(model): PyTorch's nested lines.
 *
 * A module is its name and its lines in brackets: first those of its extra text, then one for each
 * child with the child's own text. Further lines of a child's text move two columns to the
 * right. */
#include "nn/nn_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { EXTRA_TEXT = 1024 };

static bool is_blank(const char *line, size_t n)
{
    return strspn(line, " \t\r") >= n;
}

/* Adds s with two more columns before each line but the first. As in PyTorch, blank lines stay
 * empty except in a ModuleList. */
static void add_indented(hd__text *t, const char *s, bool blanks_too)
{
    for (const char *end; (end = strchr(s, '\n')); s = end + 1) {
        hd__text_add(t, s, (size_t)(end - s));
        hd__text_puts(t, "\n");
        size_t n = strcspn(end + 1, "\n");
        if (blanks_too || !is_blank(end + 1, n)) {
            hd__text_puts(t, "  ");
        } else {
            end += n; /* of a blank line only its end is kept */
        }
    }
    hd__text_puts(t, s);
}

/* Adds one line of m, `(key): text`, or `(key): n x text` if n > 1. */
static void add_child(hd__text *t, const hd_module *m, const char *key, const char *text, int64_t n)
{
    hd__text line = {0};
    hd__text_format(&line, "(%s): ", key);
    if (n > 1) {
        hd__text_format(&line, "%" PRId64 " x ", n);
    }
    hd__text_puts(&line, text);
    hd__text_puts(t, "\n  ");
    if (!line.failed) {
        add_indented(t, line.s, hd__is_module_list(m));
    }
    t->failed |= line.failed;
    hd_free(line.s);
}

static void add_lines(hd__text *t, const char *s)
{
    for (size_t n; *s; s += n + (s[n] == '\n')) {
        n = strcspn(s, "\n");
        hd__text_puts(t, "\n  ");
        hd__text_add(t, s, n);
    }
}

/* ---------------------------------------------------------------- one module in another */

/* A module whose text is being made. */
typedef struct level {
    const hd_module *m;
    hd__text text;
    hd__text same; /* of a ModuleList: the text of the children from `first` to `next` - 1 */
    int64_t first, next;
} level;

typedef struct levels {
    hd__stack stack;
    level *v; /* one for each step of the stack */
    int64_t n, room;
    hd__text whole; /* of the outermost module, once it is complete */
} levels;

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
    bool alone = *extra && !hd__has_children(m), one_line = !strchr(extra, '\n');
    if (alone && one_line) {
        hd__text_puts(&at->text, extra);
    } else {
        add_lines(&at->text, extra);
    }
    if (alone && !one_line) {
        hd__text_puts(&at->text, "\n");
    }
}

static bool step_down(hd_module *m, const char *name, void *user)
{
    levels *l = user;
    (void)name;
    if (l->n == LEVELS_MOST) {
        return hd__fail(HD_VALUE,
                        "%s: more than %d modules are nested in each other: expected "
                        "fewer",
                        l->v[0].m->type->name, LEVELS_MOST);
    }
    if (!hd__grow(&l->v, &l->room, l->n + 1, sizeof *l->v)) {
        return false;
    }
    l->v[l->n] = (level){.m = m};
    begin_text(&l->v[l->n++]);
    return true;
}

/* Writes the line of the children `first` to `next` - 1 of a ModuleList, which have one text:
 * `(0-2): 3 x Linear(...)`. */
static void end_equal(level *at)
{
    char key[64];
    int64_t n = at->next - at->first;
    if (n > 0) {
        snprintf(key, sizeof key, n > 1 ? "%" PRId64 "-%" PRId64 : "%" PRId64, at->first,
                 at->next - 1);
        add_child(&at->text, at->m, key, at->same.s, n);
    }
    hd_free(at->same.s);
    at->same = (hd__text){0};
    at->first = at->next;
}

/* text is that of the child in entry `child`. */
static void take_child(level *at, int64_t child, hd__text text)
{
    if (hd__is_module_list(at->m)) {
        if (at->next > at->first && strcmp(text.s, at->same.s) != 0) {
            end_equal(at);
        }
        hd_free(at->same.s);
        at->same = text;
        at->next++;
    } else {
        add_child(&at->text, at->m, at->m->priv->entries[child].name, text.s, 1);
        hd_free(text.s);
    }
}

/* The text of the innermost module is complete. */
static bool step_up(void *user)
{
    levels *l = user;
    level *at = &l->v[l->n - 1];
    if (hd__is_module_list(at->m)) {
        end_equal(at);
    }
    if (hd__has_children(at->m)) {
        hd__text_puts(&at->text, "\n");
    }
    hd__text_puts(&at->text, ")");
    if (at->text.failed) {
        return false;
    }
    hd__text text = at->text;
    if (--l->n) {
        take_child(at - 1, l->stack.v[l->n - 1].next - 1, text);
    } else {
        l->whole = text;
    }
    return true;
}

/* *whole stays empty on failure. */
static bool summary_make(hd__text *whole, hd_module *m)
{
    levels l = {0};
    bool ok = hd__walk(m, &l.stack, NULL, step_down, step_up, &l);
    for (int64_t i = 0; i < l.n; i++) {
        hd_free(l.v[i].text.s);
        hd_free(l.v[i].same.s);
    }
    hd_free(l.v);
    hd_free(l.stack.v);
    *whole = l.whole;
    return ok;
}

/* The caller's scope owns the text. */
static const char *summary_text(const hd_module *m)
{
    if (!hd__object("m", m)) {
        return NULL;
    }
    hd__text t = {0};
    hd_scope *scope = hd_scope_open();
    bool ok = scope && summary_make(&t, (hd_module *)m);
    hd_scope_close(scope);
    t.failed |= !ok;
    return hd__text_give(&t);
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
    if (!hd__object("m", m)) {
        return false;
    }
    HD__SCOPE_OR(false);
    const char *text = summary_text(m);
    if (text && printf("%s\n", text) < 0) {
        return hd__fail(HD_IO, "cannot write to stdout");
    }
    return text;
}
