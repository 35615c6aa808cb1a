/* scope.c - scopes: each owns the tensors that were made while it was the innermost one.
 *
 * Each thread has a stack of scopes; the lowest one, the root, is never popped. A scope keeps its
 * tensors in a doubly linked list. So adding, removing or moving a tensor takes the same time for
 * any number of tensors. Only the thread that owns a scope reads or changes its list. */
#include "base/error/lasting.h"
#include "base/memory/count.h"
#include "base/start.h"
#include "tensor/dict.h"
#include "tensor/lifecycle.h"
#include "tensor/list.h"
#include "tensor/scope.h"
#include "tensor/tensor_args.h"

#include <stdio.h>

/* The NEAR outermost scopes of a thread lie in thread-local memory, so that opening them cannot
 * fail. NEAR is small, because a library that is loaded at run time gets little of this memory. */
enum { NEAR = 8 };

/* These are fields of one variable, so that a function computes one thread-local address only. */
static HD__TLS struct {
    int depth;       /* number of open scopes, without the root */
    uint64_t serial; /* serial number of the scope that was opened last */
    hd_scope root;
    hd_scope near[NEAR];
} scopes;
HD__TLS hd_scope *hd__scope_top;

/* ---------------------------------------------------------------- opening and closing */

/* Returns the file of the innermost scope that has one, and sets *line to its line. heed's own
 * scopes have none. Returns NULL if no scope has a file. */
HD__RARE static const char *place_of_scope(int *line)
{
    const hd_scope *s = hd__scope_top;
    while (s && !s->file) {
        s = s->outer;
    }
    *line = s ? s->line : 0;
    return s ? s->file : NULL;
}

/* Returns the text that s's tensors get in freed_by with HEED_DEBUG=1. It names the place that
 * opened s. */
HD__RARE static const char *text_of_end(const hd_scope *s)
{
    char text[400];
    snprintf(text, sizeof text, "when its scope, opened at %s:%d, closed",
             hd__error_tail(s->file, 300), s->line);
    return hd__lasting_text(text);
}

static void drain(hd_scope *s)
{
    const char *end = s->file && hd__debug_on() ? text_of_end(s) : hd__lasting_scope_end;
    const char *before = hd__call_swap(end);
    while (s->first) {
        hd_tensor *t = s->first;
        s->first = t->next;
        if (t->next) {
            t->next->prev = NULL;
        }
        t->scope = NULL;
        s->count--;
        hd__tensor_drop(t);
    }
    hd__call_swap(before);
}

static void close_top(void)
{
    hd_scope *s = hd__scope_top;
    drain(s);
    hd__assert(s->count == 0);
    hd__assert(scopes.depth > NEAR || s == &scopes.near[scopes.depth - 1]);
    hd__scope_top = s->outer;
    if (--scopes.depth >= NEAR) {
        hd_free(s);
    }
}

static void close_all(void)
{
    while (hd__scope_top && hd__scope_top != &scopes.root) {
        close_top();
    }
    drain(&scopes.root);
    hd__scope_top = NULL;
}

/* Opens the root scope, and arranges that the end of the thread closes all its scopes. Returns
 * false with an error if heed cannot start. */
bool hd__scope_enter_thread(void)
{
    if (!hd__init()) {
        return false;
    }
    hd__error_on_message(place_of_scope);
    hd__start_on_thread_end(close_all);
    hd__start_thread_arm();
    scopes.root.head.serial = ++scopes.serial;
    scopes.root.warn_at = HD__SCOPE_MANY;
    hd__scope_top = &scopes.root;
    return true;
}

int hd__scopes_above(const hd_scope *s, uint64_t wanted)
{
    int n = 0;
    const hd_scope *each = hd__scope_top;
    for (; each && each != s; each = each->outer) {
        n++;
    }
    bool same = !each || !wanted || each->head.serial == wanted;
    return (each || !s) && same ? n : -1;
}

bool hd__scopes_wrong(const char *who, int above)
{
    if (above < 0) {
        return hd_fail(HD_STATE,
                       "%s closed a scope that it had not opened: the tensors in it are gone", who);
    }
    return hd_fail(HD_STATE, "%s left %d scope%s open. Call hd_scope_close for each hd_scope_open",
                   who, above, above == 1 ? "" : "s");
}

/* Returns the memory of a new scope. hd_scope_open_at calls it if the thread has no scope yet, or
 * has NEAR or more open scopes. Returns NULL with an error if memory runs out. */
HD__RARE static hd_scope *scope_memory(void)
{
    HD__CALL("hd_scope_open");
    return !hd__scope_ready()    ? NULL
           : scopes.depth < NEAR ? &scopes.near[scopes.depth]
                                 : hd_alloc(sizeof(hd_scope));
}

hd_scope *hd_scope_open_at(const char *file, int line)
{
    bool near = hd__scope_top && scopes.depth < NEAR;
    hd_scope *s = near ? &scopes.near[scopes.depth] : scope_memory();
    if (!s) {
        return NULL;
    }
    *s = (hd_scope){
        {++scopes.serial}, hd__scope_top, .warn_at = HD__SCOPE_MANY, .file = file, .line = line};
    hd__scope_top = s;
    scopes.depth++;
    return s;
}

hd_scope *hd_scope_open(void)
{
    return hd_scope_open_at(NULL, 0);
}

void hd_scope_close(hd_scope *s)
{
    if (!s) {
        return;
    }
    if (s == &scopes.root || (s != hd__scope_top && hd__scopes_above(s, 0) < 0)) {
        HD__CALL("hd_scope_close");
        hd_fail(HD_STATE, "s is not a scope that is open on this thread. Close each scope once, on "
                          "the thread that opened it");
        return;
    }
    for (bool last = false; !last;) {
        last = hd__scope_top == s;
        close_top();
    }
}

hd_tensor *hd_scope_return(hd_tensor *t)
{
    HD__CALL("hd_scope_return");
    if (!t || !hd__tensor_any_arg("t", t, true)) {
        return NULL;
    }
    hd_scope *outer = hd__scope_top ? hd__scope_top->outer : NULL;
    if (outer && t->scope == hd__scope_top) {
        hd__scope_unlink(t);
        hd__scope_link(outer, t);
        t->returned = false;
    } else if (outer && t->scope == outer &&
               !hd__call_before) { /* not inside another call of heed */
        t->returned = true;
    }
    return t;
}

int64_t hd_scope_count(void)
{
    int64_t n = 0;
    for (const hd_scope *s = hd__scope_top; s; s = s->outer) {
        n += s->count;
    }
    return n;
}

int64_t hd_tensor_count(void)
{
    return hd__count_counted(HD__TENSORS);
}

void *hd__scope_alloc(size_t bytes)
{
    int64_t n = (int64_t)bytes;
    hd_tensor *t = hd__tensor_empty(HD_BOOL, 1, &n);
    if (!t) {
        return NULL;
    }
    /* With HEED_DEBUG=1, this byte overwrites freed memory. So a freed string is empty. */
    t->storage->spoiled = 0;
    return t->storage->data;
}

/* ---------------------------------------------------------------- debuggers */

/* The table is here, because every program with a tensor links this file of libheed.a. */
const hd_debug_layout_table hd_debug_layout = {
    .size = sizeof(hd_debug_layout_table),
    .dtype = offsetof(hd_tensor, dtype),
    .ndim = offsetof(hd_tensor, ndim),
    .sizes = offsetof(hd_tensor, sizes),
    .strides = offsetof(hd_tensor, strides),
    .offset = offsetof(hd_tensor, offset),
    .storage = offsetof(hd_tensor, storage),
    .storage_data = offsetof(hd__tensor_storage, data),
    .storage_nbytes = offsetof(hd__tensor_storage, nbytes),
    .refs = offsetof(hd_tensor, refs),
    .refs_freed = (uint32_t)HD__REFS_FREED,
    .freed_by = offsetof(hd_tensor, freed_by),
    .made_by = offsetof(hd_tensor, made_by),
    .attachment = offsetof(hd_tensor, attachment),
    .next = offsetof(hd_tensor, next),
    .scope_first = offsetof(hd_scope, first),
    .scope_count = offsetof(hd_scope, count),
    .scope_file = offsetof(hd_scope, file),
    .scope_line = offsetof(hd_scope, line),
    .list_len = offsetof(hd_list, len),
    .list_items = offsetof(hd_list, items),
    .dict_len = offsetof(hd_dict, len),
    .dict_entries = offsetof(hd_dict, entries),
    .entry_kind = offsetof(hd__dict_entry, kind),
    .entry_value = offsetof(hd__dict_entry, v),
    .entry_name = offsetof(hd__dict_entry, name),
};
