/* scope_report.c - what the scopes of a thread hold, by the function that made it: as a table for
 * hd_scope_report, and in the warning of a scope that grows without end. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/whole.h"
#include "tensor/scope.h"

/* One tensor of a scope. */
typedef struct owned {
    const hd__storage *storage;
    const char *made_by;
    int64_t scope; /* 0: the root */
    int64_t bytes; /* of the storage, where it is counted; else 0 */
} owned;

typedef struct row {
    const char *made_by;
    int64_t count, bytes;
} row;

/* ---------------------------------------------------------------- counting */

static int by_storage(const void *a, const void *b)
{
    const owned *x = a, *y = b;
    uintptr_t p = (uintptr_t)x->storage, q = (uintptr_t)y->storage;
    return p != q ? (p > q) - (p < q) : (x->scope > y->scope) - (x->scope < y->scope);
}

static int by_maker(const void *a, const void *b)
{
    const owned *x = a, *y = b;
    int order = (x->scope > y->scope) - (x->scope < y->scope);
    return order ? order : strcmp(x->made_by, y->made_by);
}

static int by_size(const void *a, const void *b)
{
    const row *x = a, *y = b;
    int order = (x->bytes < y->bytes) - (x->bytes > y->bytes);
    order = order ? order : (x->count < y->count) - (x->count > y->count);
    return order ? order : strcmp(x->made_by, y->made_by);
}

/* The tensors of one scope. Returns their number. */
static int64_t list_owned(const hd_scope *s, int64_t scope, owned *all)
{
    int64_t n = 0;
    for (const hd_tensor *t = s->first; t; t = t->next) {
        all[n++] = (owned){t->storage, t->made_by, scope, 0};
    }
    return n;
}

/* Counts each storage at one tensor, and sorts them all by scope and maker. */
static void count_bytes(owned *all, int64_t n)
{
    qsort(all, (size_t)n, sizeof *all, by_storage);
    for (int64_t i = 0; i < n; i++) {
        if (i == 0 || all[i].storage != all[i - 1].storage) {
            all[i].bytes = (int64_t)all[i].storage->nbytes;
        }
    }
    qsort(all, (size_t)n, sizeof *all, by_maker);
}

/* The rows of one scope, whose tensors are the first n. Returns their number. */
static int64_t report_gather(const owned *all, int64_t n, row *rows)
{
    int64_t len = 0;
    for (int64_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(all[i].made_by, all[i - 1].made_by) != 0) {
            rows[len++] = (row){.made_by = all[i].made_by};
        }
        rows[len - 1].count++;
        rows[len - 1].bytes += all[i].bytes;
    }
    qsort(rows, (size_t)len, sizeof *rows, by_size);
    return len;
}

/* ---------------------------------------------------------------- the table */

static const char *name_of_scope(const hd_scope *s, char *text, size_t size)
{
    if (!s->outer) {
        snprintf(text, size, "the root scope");
    } else if (s->file) {
        snprintf(text, size, "the scope opened at %s:%d", s->file, s->line);
    } else {
        snprintf(text, size, "a scope");
    }
    return text;
}

static void write_scope(hd__text *t, const hd_scope *s, const row *rows, int64_t n)
{
    char name[400];
    int64_t bytes = 0;
    for (int64_t i = 0; i < n; i++) {
        bytes += rows[i].bytes;
    }
    hd__text_format(t, "%s: %" PRId64 " tensor%s, %" PRId64 " bytes\n",
                    name_of_scope(s, name, sizeof name), s->count, s->count == 1 ? "" : "s", bytes);
    for (int64_t i = 0; i < n; i++) {
        hd__text_format(t, "%12" PRId64 " %15" PRId64 " bytes  %s\n", rows[i].count, rows[i].bytes,
                        rows[i].made_by);
    }
}

/* The open scopes, the root first, and *n, their number; hd_free. NULL if memory runs out. */
static const hd_scope **scopes_from_root(int64_t *n)
{
    *n = 0;
    for (const hd_scope *s = hd__top; s; s = s->outer) {
        ++*n;
    }
    const hd_scope **scopes = hd__alloc_items(*n, sizeof *scopes), *s = hd__top;
    for (int64_t i = *n; scopes && i > 0; s = s->outer) {
        scopes[--i] = s;
    }
    return scopes;
}

/* all and rows have room for the tensors of all scopes. */
static void write_scopes(hd__text *t, const hd_scope *const *scopes, int64_t n, owned *all,
                         row *rows)
{
    int64_t tensors = 0;
    for (int64_t i = 0; i < n; i++) {
        tensors += list_owned(scopes[i], i, all + tensors);
    }
    count_bytes(all, tensors);
    for (int64_t i = 0; i < n; all += scopes[i++]->count) {
        write_scope(t, scopes[i], rows, report_gather(all, scopes[i]->count, rows));
    }
}

static bool write_report(hd__text *t)
{
    int64_t n, most = hd_scope_count();
    const hd_scope **scopes = scopes_from_root(&n);
    owned *all = scopes ? hd__alloc_items(most, sizeof *all) : NULL;
    row *rows = all ? hd__alloc_items(most, sizeof *rows) : NULL;
    if (rows) {
        write_scopes(t, scopes, n, all, rows);
    }
    hd_free(rows);
    hd_free(all);
    hd_free(scopes);
    return rows;
}

bool hd_scope_report(FILE *f)
{
    if (!f) {
        return hd__null_arg("hd_scope_report", "f");
    }
    if (!hd__scope_ready()) {
        return false;
    }
    hd__text t = {0};
    bool ok = write_report(&t) && !t.failed;
    errno = 0;
    if (ok && (fwrite(t.s, 1, t.len, f) != t.len || fflush(f) != 0)) {
        ok = hd_error_set(HD_IO, "hd_scope_report: %zu bytes not written: %s", t.len,
                          HD__WHY(errno));
    }
    hd_free(t.s);
    return ok;
}

/* ---------------------------------------------------------------- a scope that grows */

/* The function that made most of the scope's tensors; "?" if memory runs out. */
static row most_made(const hd_scope *s)
{
    row most = {.made_by = "?"};
    owned *all = hd__alloc((size_t)s->count * sizeof *all);
    if (!all) {
        return most;
    }
    int64_t n = list_owned(s, 0, all), count = 0;
    qsort(all, (size_t)n, sizeof *all, by_maker);
    for (int64_t i = 0; i < n; i++) {
        count = i && strcmp(all[i].made_by, all[i - 1].made_by) == 0 ? count + 1 : 1;
        if (count > most.count) {
            most = (row){.made_by = all[i].made_by, .count = count};
        }
    }
    hd_free(all);
    return most;
}

void hd__scope_warn(hd_scope *s)
{
    s->warn_at *= 2;
    if (!hd__warns()) {
        return;
    }
    char name[400];
    row most = most_made(s);
    hd__warn("%s: %s owns %" PRId64 " tensors, of which %s made %" PRId64
             ": write HD_SCOPE; at the start of a loop's body, so that each round frees what it "
             "made (hd_scope_report lists them all)",
             most.made_by, name_of_scope(s, name, sizeof name), s->count, most.made_by, most.count);
}
