/* live_tensors.c - lists the live tensors by the functions that made them: for hd_tensor_report,
 * for hd_scope_report, and for the message when memory runs out.
 *
 * A tensor that is made in debug mode enters a list, with the module whose forward runs then. It
 * leaves the list when it is freed. A tensor that the graph saves counts for the function that made
 * the original. While a thread holds hd__start_diagnose_lock, no other thread changes the list or
 * frees a tensor in it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/start.h"
#include "diagnose/diagnose_internal.h"
#include "tensor/repr_text.h"

static struct {
    hd_tensor *first;
    int64_t n;
} live;

/* The tensors of one maker: a function, and the module or the scope in which it was called. */
typedef struct maker {
    const hd__tensor_storage *storage;
    const char *made_by, *made_in; /* made_in: NULL outside a forward */
    int64_t scope;                 /* the scope's number; 0 for the root scope, or if unused */
    int64_t order; /* of the rows of one storage, the one with the lowest order counts the bytes */
    int64_t count, bytes;
} maker;

/* ---------------------------------------------------------------- the list of live tensors */

static void live_add(hd_tensor *t, const char *made_in)
{
    t->made_in = made_in;
    t->flags |= HD__F_LISTED;
    t->live_prev = NULL;
    HD__LOCKED(hd__start_diagnose_lock);
    t->live_next = live.first;
    if (live.first) {
        live.first->live_prev = t;
    }
    live.first = t;
    live.n++;
}

void hd__hear_made(hd_tensor *t)
{
    hd__profile_begin();
    if (hd__event_watching()) {
        live_add(t, hd__debug_module);
    }
}

void hd__hear_saved(hd_tensor *t, const hd_tensor *x)
{
    live_add(t, x->flags & HD__F_LISTED ? x->made_in : NULL);
}

void hd__hear_freed(hd_tensor *t)
{
    HD__LOCKED(hd__start_diagnose_lock);
    *(t->live_prev ? &t->live_prev->live_next : &live.first) = t->live_next;
    if (t->live_next) {
        t->live_next->live_prev = t->live_prev;
    }
    live.n--;
}

void hd__hear_changes(hd_tensor *x)
{
    hd__profile_begin();
    if (x->storage->release) {
        x->storage->changed_by = hd__call_kept();
        x->storage->changed_in = hd__debug_module;
    }
}

/* ---------------------------------------------------------------- makers */

static int order_of(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_storage(const void *a, const void *b)
{
    const maker *x = a, *y = b;
    uintptr_t p = (uintptr_t)x->storage, q = (uintptr_t)y->storage;
    return p != q ? (p > q) - (p < q) : order_of(x->order, y->order);
}

static int by_maker(const void *a, const void *b)
{
    const maker *x = a, *y = b;
    int order = order_of(x->scope, y->scope);
    order = order ? order : strcmp(x->made_by, y->made_by);
    return order ? order : strcmp(x->made_in ? x->made_in : "", y->made_in ? y->made_in : "");
}

static int most_first(const void *a, const void *b)
{
    const maker *x = a, *y = b;
    int order = order_of(x->scope, y->scope);
    order = order ? order : order_of(y->bytes, x->bytes);
    order = order ? order : order_of(y->count, x->count);
    return order ? order : by_maker(a, b);
}

static maker maker_of(const hd_tensor *t)
{
    const char *by = t->made_by ? t->made_by : "?"; /* NULL only in tests of heed */
    return (maker){t->storage, by, .count = 1, .bytes = (int64_t)t->storage->nbytes};
}

/* Counts the bytes of each storage in one row only, joins the rows of one maker, and sorts them by
 * scope and bytes. Returns the number of rows that are left. */
static int64_t join_makers(maker *rows, int64_t n)
{
    qsort(rows, (size_t)n, sizeof *rows, by_storage);
    for (int64_t i = n - 1; i > 0; i--) {
        if (rows[i].storage == rows[i - 1].storage) {
            rows[i].bytes = 0;
        }
    }
    qsort(rows, (size_t)n, sizeof *rows, by_maker);
    int64_t len = 0;
    for (int64_t i = 0; i < n; i++) {
        if (len > 0 && by_maker(&rows[len - 1], &rows[i]) == 0) {
            rows[len - 1].count += rows[i].count;
            rows[len - 1].bytes += rows[i].bytes;
        } else {
            rows[len++] = rows[i];
        }
    }
    qsort(rows, (size_t)len, sizeof *rows, most_first);
    return len;
}

/* ---------------------------------------------------------------- the report of the list */

/* Allocates a row for each listed tensor, and sets *n to their number. The caller frees the rows
 * with hd_free. Returns NULL with an error if memory runs out. */
static maker *list_makers(int64_t *n)
{
    pthread_mutex_lock(&hd__start_diagnose_lock);
    *n = live.n;
    size_t bytes = (size_t)(live.n + 1) * sizeof(maker);
    maker *rows = hd__mem_alloc(bytes), *row = rows;
    for (const hd_tensor *t = live.first; t && rows; t = t->live_next, row++) {
        *row = maker_of(t);
        row->made_in = t->made_in;
        row->order = rows - row; /* the oldest tensor of a storage has the lowest order */
    }
    pthread_mutex_unlock(&hd__start_diagnose_lock);
    return rows ? rows : hd__error_no_memory(bytes);
}

static void warn_of_makers(const maker *rows, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        bool one = rows[i].count == 1;
        char memory[40];
        if (rows[i].bytes) {
            snprintf(memory, sizeof memory, "with %" PRId64 " bytes", rows[i].bytes);
        } else {
            snprintf(memory, sizeof memory, "without memory of %s own", one ? "its" : "their");
        }
        hd_warn("%" PRId64 " tensor%s %s that %s made%s%s %s live", rows[i].count, one ? "" : "s",
                memory, rows[i].made_by, rows[i].made_in ? " in " : "",
                rows[i].made_in ? rows[i].made_in : "", one ? "is" : "are");
    }
}

int64_t hd_tensor_report(void)
{
    HD__CALL("hd_tensor_report");
    int64_t n;
    maker *rows = list_makers(&n);
    if (!rows) {
        return -1;
    }
    warn_of_makers(rows, join_makers(rows, n));
    hd_free(rows);
    int64_t all = hd_tensor_count();
    if (all > n) {
        hd_warn("%" PRId64 " live tensor%s made while debug mode was off", all - n,
                all - n == 1 ? " was" : "s were");
    }
    return all;
}

/* Warns of the live tensors. Does nothing if there are none, or as many as at the last call. */
void hd__live_tell(void)
{
    static atomic_llong told;
    int64_t n = hd_tensor_count();
    if (atomic_exchange(&told, n) != n && n > 0) {
        hd_tensor_report();
    }
}

/* ---------------------------------------------------------------- the table of the scopes */

/* Writes a row for each tensor of the scope s, behind the first *n rows, and raises *n. `scope` is
 * the scope's number. */
static void list_scope(const hd_scope *s, int64_t scope, maker *rows, int64_t *n)
{
    for (const hd_tensor *t = s->first; t; t = t->next, ++*n) {
        rows[*n] = maker_of(t);
        rows[*n].scope = scope;
        rows[*n].order = *n;
    }
}

const char *hd__live_scope_name(const hd_scope *s, char *text, size_t size)
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

/* Adds to t a line about the scope s, and a line for each of its n rows. */
static void write_scope(hd__text *t, const hd_scope *s, const maker *rows, int64_t n)
{
    char name[400];
    int64_t bytes = 0;
    for (int64_t i = 0; i < n; i++) {
        bytes += rows[i].bytes;
    }
    hd__text_format(t, "%s: %" PRId64 " tensor%s, %" PRId64 " bytes\n",
                    hd__live_scope_name(s, name, sizeof name), s->count, s->count == 1 ? "" : "s",
                    bytes);
    for (int64_t i = 0; i < n; i++) {
        hd__text_format(t, "%12" PRId64 " %15" PRId64 " bytes  %s\n", rows[i].count, rows[i].bytes,
                        rows[i].made_by);
    }
}

/* Allocates an array of the open scopes, the root scope first, and sets *n to their number. The
 * caller frees it with hd_free. Returns NULL with an error if memory runs out. */
static const hd_scope **scopes_from_root(int64_t *n)
{
    *n = 0;
    for (const hd_scope *s = hd__scope_top; s; s = s->outer) {
        ++*n;
    }
    const hd_scope **scopes = hd__arg_alloc_items(*n, sizeof *scopes), *s = hd__scope_top;
    for (int64_t i = *n; scopes && i > 0; s = s->outer) {
        scopes[--i] = s;
    }
    return scopes;
}

static void write_report(hd__text *t)
{
    int64_t scopes, n = 0;
    const hd_scope **each = scopes_from_root(&scopes);
    maker *rows = each ? hd__arg_alloc_items(hd_scope_count(), sizeof *rows) : NULL;
    for (int64_t i = 0; rows && i < scopes; i++) {
        list_scope(each[i], i, rows, &n);
    }
    n = rows ? join_makers(rows, n) : 0;
    for (int64_t i = 0, row = 0; rows && i < scopes; i++) {
        int64_t first = row;
        while (row < n && rows[row].scope == i) {
            row++;
        }
        write_scope(t, each[i], rows + first, row - first);
    }
    t->failed = t->failed || !rows;
    hd_free(rows);
    hd_free(each);
}

bool hd_scope_report(FILE *f)
{
    HD__CALL("hd_scope_report");
    if (!hd__arg_given("f", f) || !hd__scope_ready()) {
        return false;
    }
    hd__text t = {0};
    write_report(&t);
    return hd__tensor_text_print(&t, f, true);
}

/* ---------------------------------------------------------------- memory runs out */

/* The maker with the most bytes among a scope's tensors, and the bytes of all these tensors.
 * large.made_by is "?" if memory runs out. */
typedef struct makers {
    maker large;
    int64_t bytes;
} makers;

static makers makers_in(const hd_scope *s)
{
    maker *rows = hd__mem_alloc((size_t)s->count * sizeof *rows);
    makers found = {{.made_by = "?"}, 0};
    int64_t n = 0;
    if (rows) {
        list_scope(s, 0, rows, &n);
        n = join_makers(rows, n);
    }
    for (int64_t i = 0; i < n; i++) {
        found.large = rows[i].bytes > found.large.bytes ? rows[i] : found.large;
        found.bytes += rows[i].bytes;
    }
    hd_free(rows);
    return found;
}

enum { WORTH_A_NOTE = 1 << 20 }; /* the fewest bytes for which a scope is named */

/* Writes into text which scope holds the most bytes, and which function made most of them. Writes
 * nothing if no scope holds WORTH_A_NOTE bytes. */
void hd__hear_memory_ran_out(char text[HD__NOTE])
{
    makers most = {.bytes = WORTH_A_NOTE - 1};
    const hd_scope *scope = NULL;
    for (const hd_scope *s = hd__scope_top; s; s = s->outer) {
        makers here = makers_in(s);
        scope = here.bytes > most.bytes ? s : scope;
        most = here.bytes > most.bytes ? here : most;
    }
    if (scope) {
        char name[200];
        snprintf(text, HD__NOTE, "; %s holds %" PRId64 " bytes, %" PRId64 " of them made by %s",
                 hd__live_scope_name(scope, name, sizeof name), most.bytes, most.large.bytes,
                 most.large.made_by);
    }
}
