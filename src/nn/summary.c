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

static void summary_add(hd__text *t, const hd_module *m);

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

static void add_children(hd__text *t, const hd_module *m)
{
    for (int64_t i = 0; i < m->priv->n && !t->failed; i++) {
        const hd__entry *e = &m->priv->entries[i];
        if (e->kind == HD__CHILD) {
            hd__text text = {0};
            summary_add(&text, hd__child(e));
            t->failed |= text.failed;
            add_child(t, m, e->name, text.failed ? "" : text.s, 1);
            hd_free(text.s);
        }
    }
}

/* Children in a row with the same text share a line: `(0-2): 3 x Linear(...)`. */
static void add_folded(hd__text *t, const hd_module *list)
{
    int64_t first = 0, i = 0;
    hd__text same = {0};
    for (const hd_module *child; !t->failed; i++) {
        hd__text text = {0};
        child = hd__list_child(list, i);
        if (child) {
            summary_add(&text, child);
            t->failed |= text.failed;
        }
        if (i > first && (!child || text.failed || strcmp(text.s, same.s) != 0)) {
            char key[64];
            snprintf(key, sizeof key, i - first > 1 ? "%" PRId64 "-%" PRId64 : "%" PRId64, first,
                     i - 1);
            add_child(t, list, key, same.s, i - first);
            first = i;
        }
        hd_free(same.s);
        same = text;
        if (!child) {
            break;
        }
    }
    hd_free(same.s);
}

static bool has_children(const hd_module *m)
{
    for (int64_t i = 0; i < m->priv->n; i++) {
        if (m->priv->entries[i].kind == HD__CHILD) {
            return true;
        }
    }
    return false;
}

static void add_lines(hd__text *t, const char *s)
{
    for (size_t n; *s; s += n + (s[n] == '\n')) {
        n = strcspn(s, "\n");
        hd__text_puts(t, "\n  ");
        hd__text_add(t, s, n);
    }
}

static void summary_add(hd__text *t, const hd_module *m)
{
    char extra[EXTRA_TEXT] = "";
    uint64_t failures = hd_error_count();
    if (m->type->extra) {
        m->type->extra(m, extra, sizeof extra);
        extra[sizeof extra - 1] = '\0';
    }
    t->failed |= hd_error_count() != failures;
    hd__text_format(t, "%s(", m->type->name);
    if (*extra && !has_children(m) && !strchr(extra, '\n')) {
        hd__text_puts(t, extra);
    } else if (*extra || has_children(m)) {
        add_lines(t, extra);
        if (hd__is_module_list(m)) {
            add_folded(t, m);
        } else {
            add_children(t, m);
        }
        hd__text_puts(t, "\n");
    }
    hd__text_puts(t, ")");
}

/* The text is stored as the bytes of a tensor, which the caller's scope owns. */
static const char *summary_text(const hd_module *m)
{
    if (!hd__object("hd_module_summary", "m", m)) {
        return NULL;
    }
    hd__text t = {0};
    hd_scope *scope = hd_scope_open();
    if (scope) {
        summary_add(&t, m);
        hd_scope_close(scope);
    }
    hd_tensor *bytes = scope && !t.failed ? hd_empty(HD_BOOL, (int64_t)t.len + 1) : NULL;
    char *text = bytes ? hd_data_mut(bytes) : NULL;
    if (text) {
        memcpy(text, t.s, t.len + 1);
    }
    hd_free(t.s);
    return text;
}

const char *hd_module_summary(const hd_module *m)
{
    const char *text = summary_text(m);
    return text ? text : "NULL"; /* which printf takes */
}

bool hd_module_print(const hd_module *m)
{
    if (!hd__object("hd_module_print", "m", m)) {
        return false;
    }
    HD_SCOPE;
    const char *text = summary_text(m);
    if (text && printf("%s\n", text) < 0) {
        return hd_error_set(HD_IO, "hd_module_print: cannot write to stdout");
    }
    return text;
}
