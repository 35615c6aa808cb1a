/* test_freed.c - tests that every function recognises a freed tensor, or a list whose scope closed,
 * and that the message says how it was freed and which call made it.
 *
 * meson runs this suite a second time with HEED_DEBUG=1, which keeps and reports more. */
#include <pthread.h>
#include <stdio.h>

#include "base/memory/quarantine.h"
#include "suites.h"
#include "support/quarantine.h"
#include "support/scarce.h"
#include "tensor/lifecycle.h"

/* The message of a tensor whose scope was opened at `line` of this file. */
static const char *scope_message(const char *call, int line, const char *maker)
{
    static char text[600];
    char place[300] = "";
    if (debugging() && line) {
        snprintf(place, sizeof place, ", opened at %s:%d,", __FILE__, line);
    }
    snprintf(text, sizeof text,
             "%s was freed when its scope%s closed; %s made it. Keep it with hd_retain, hd_assign "
             "or hd_scope_return",
             call, place, maker);
    return text;
}

/* ---------------------------------------------------------------- how tensors are freed */

START_TEST(kept_in_a_loop_without_retain)
{
    hd_tensor *best = NULL;
    int line = 0;
    for (int i = 0; i < 4; i++) {
        line = __LINE__ + 1;
        HD_SCOPE;
        hd_tensor *x = hd_full(HD_FLOAT32, i + 1, 3);
        if (i == 1) {
            best = x;
        }
    }
    ck_assert(!hd_print(best));
    ck_error(HD_STATE, scope_message("hd_print: x", line, "hd_full"));
    ck_assert(isnan(hd_get(best, 0)));
    ck_error(HD_STATE, scope_message("hd_get: x", line, "hd_full"));
}
END_TEST

START_TEST(freed_by_release)
{
    hd_tensor *x = hd_ones(HD_FLOAT32, 3);
    hd_release(x);
    ck_assert_int_eq(hd_numel(x), -1);
    ck_error(HD_STATE, "hd_numel: x was freed by hd_release; hd_ones made it");
    hd_release(x);
    ck_error(HD_STATE, "hd_release: t was freed by hd_release; hd_ones made it");
    ck_assert(!hd_retain(x));
    ck_error(HD_STATE, "hd_retain: t was freed by hd_release; hd_ones made it");
    ck_assert(!hd_scope_return(x));
    ck_error(HD_STATE, "hd_scope_return: t was freed by hd_release; hd_ones made it");
}
END_TEST

START_TEST(freed_by_assign)
{
    hd_tensor *slot = NULL, *old;
    {
        HD_SCOPE;
        old = hd_zeros(HD_FLOAT64, 2);
        ck_assert(hd_assign(&slot, old));
    }
    ck_assert(hd_assign(&slot, HD_NONE));
    ck_assert_str_eq(hd_repr(old), "NULL");
    ck_error(HD_STATE, "hd_repr: x was freed by hd_assign; hd_zeros made it");
    ck_assert(!hd_assign(&slot, old));
    ck_error(HD_STATE, "hd_assign: t was freed by hd_assign; hd_zeros made it");
    ck_assert_ptr_eq(slot, HD_NONE);
    slot = old;
    ck_assert(!hd_assign(&slot, HD_NONE));
    ck_error(HD_STATE, "hd_assign: *slot was freed by hd_assign; hd_zeros made it");
    ck_assert_ptr_eq(slot, old);
}
END_TEST

static hd_tensor *view_of(hd_tensor *x, int64_t n)
{
    HD__CALL("hd_view");
    return hd__tensor_alias(x, 1, &n, (int64_t[]){1}, 0);
}

/* A dictionary, as one that a file was loaded into, has the only hold on its tensors. */
START_TEST(freed_by_a_dictionary)
{
    hd_dict *d = hd_dict_new();
    {
        HD_SCOPE;
        ck_assert(hd_dict_set(d, "w", hd_ones(HD_FLOAT32, 2)));
    }
    hd_tensor *w = hd_dict_get(d, "w");
    ck_assert_int_eq(hd_numel(w), 2);
    hd_dict_free(d);
    ck_assert_int_eq(hd_numel(w), -1);
    ck_error(HD_STATE, "hd_numel: x was freed by hd_dict_free; hd_ones made it. Keep it with "
                       "hd_retain or hd_assign");
}
END_TEST

/* ---------------------------------------------------------------- the ring */

START_TEST(views_and_their_bases)
{
    hd_tensor *base, *view;
    {
        HD_SCOPE;
        base = hd_ones(HD_FLOAT32, 2);
        view = hd_retain(view_of(base, 2));
    }
    ck_elements(view, 1, 1); /* the storage lives, the base does not */
    ck_assert_ptr_null(hd_data(base));
    ck_assert_int_eq(hd_error_code(), HD_STATE);
    hd_error_clear();
    hd_release(view);
    ck_assert_ptr_null(hd_data(view));
    ck_error(HD_STATE, "hd_data: x was freed by hd_release; hd_view made it");
    ck_assert_ptr_null(hd_data(base));
    ck_assert_int_eq(hd_error_code(), HD_STATE);
    hd_error_clear();
}
END_TEST

START_TEST(large_tensors_give_their_data_back_at_once)
{
    int64_t before = hd_bytes_live(), tensors = hd_tensor_count();
    hd_tensor *x = hd_ones(HD_FLOAT32, 1 << 20);
    ck_assert_int_ge(hd_bytes_live(), before + (1 << 22));
    hd_release(x);
    ck_assert_int_eq(hd_bytes_live(), before);
    ck_assert_int_eq(hd_tensor_count(), tensors);
    ck_assert_int_eq(hd_ndim(x), -1);
    ck_error(HD_STATE, "hd_ndim: x was freed by hd_release; hd_ones made it");
}
END_TEST

START_TEST(the_last_64_are_known)
{
    hd_tensor *x = hd_ones(HD_FLOAT32, 3), *y;
    hd_release(x);
    for (int i = 0; i < 63; i++) {
        y = hd_zeros(HD_FLOAT32, 3); /* the size class of x */
        ck_assert_ptr_ne(y, x);
        hd_release(y);
        ck_assert_int_eq(hd_numel(x), -1);
        ck_error(HD_STATE, "hd_numel: x was freed by hd_release; hd_ones made it");
    }
}
END_TEST

START_TEST(empty_cache_empties_the_ring)
{
    int64_t before = hd_bytes_live();
    hd_release(hd_ones(HD_FLOAT32, 3));
    ck_assert_int_eq(hd_bytes_live(), before); /* a kept block counts as freed */
    ck_assert(hd__ring_mine->blocks[0]);
    hd_empty_cache();
    ck_assert_int_eq(hd__ring_mine->at, 0); /* the closed ring */
    ck_assert_int_eq(hd_bytes_live(), before);
    hd_release(hd_ones(HD_FLOAT32, 3)); /* and another ring opens */
    ck_assert(hd__ring_mine->blocks[0]);
    hd_shutdown();
    ck_assert_int_eq(hd__ring_mine->at, 0);
}
END_TEST

/* An allocator of the user's has every block back at once. */
START_TEST(off_with_a_users_allocator)
{
    scarce s = {.left = -1};
    hd_release(hd_ones(HD_FLOAT32, 3));
    hd_dict_free(hd_dict_new());
    scarce_use(&s);
    for (int i = 0; i < 3; i++) {
        hd_tensor *x = hd_ones(HD_FLOAT32, i == 1 ? 5000 : 3);
        hd_dict *d = hd_dict_new();
        ck_assert_int_gt(s.blocks, 1);
        hd_dict_free(d);
        hd_release(x);
        ck_assert_int_eq(s.blocks, 0);
    }
    scarce_end();
    hd_tensor *x = hd_ones(HD_FLOAT32, 3);
    hd_release(x);
    ck_assert_int_eq(hd_numel(x), -1); /* and then it is on again */
    ck_error(HD_STATE, "hd_numel: x was freed by hd_release; hd_ones made it");
}
END_TEST

static void *free_one(void *x)
{
    hd_release(x);
    ck_assert_int_eq(hd_numel(x), -1);
    ck_assert_int_eq(hd_error_code(), HD_STATE);
    return NULL;
}

START_TEST(a_threads_ring_ends_with_it)
{
    pthread_t thread;
    hd_tensor *x = hd_retain(hd_ones(HD_FLOAT32, 3));
    hd_release(x);
    int64_t before = hd_bytes_live();
    hd_retain(x);
    hd_scope *s = hd_scope_open();
    hd_tensor *y = hd_retain(hd_ones(HD_FLOAT32, 3));
    hd_scope_close(s);
    ck_assert_int_eq(pthread_create(&thread, NULL, free_one, y), 0);
    pthread_join(thread, NULL);
    ck_assert_int_eq(hd_bytes_live(), before);
    hd_release(x);
}
END_TEST

START_TEST(lists_and_data_end_with_their_scope)
{
    hd_list *l;
    const float *data;
    {
        HD_SCOPE;
        hd_tensor *x = hd_ones(HD_FLOAT32, 3);
        l = hd_list_of(x, x);
        data = hd_data(x);
    }
    ck_assert_int_eq(hd_list_len(l), -1);
    ck_error(HD_STATE, "hd_list_len: l was freed when its scope closed. Use the list inside the "
                       "scope that made it");
    ck_assert(!hd_list_append(l, hd_ones(HD_FLOAT32, 1)));
    ck_assert_int_eq(hd_error_code(), HD_STATE);
    hd_error_clear();
    ck_assert(!debugging() || isnan(data[0]));
}
END_TEST

/* ---------------------------------------------------------------- against a model */

/* A million random calls on a few tensors, with scopes of random depth. The model knows of each
 * tensor who holds it, and how it was freed. heed must keep every tensor that is held, and find
 * each one that was freed lately. */
enum { SLOTS = 24, DEPTH = 6, CALLS = 1000000, KNOWN = 64 };

typedef struct model {
    hd_tensor *x;
    int retains, scope; /* scope: the depth of the one that owns it; -1: none */
    double value;
    bool freed;
    int death;       /* of a freed one: how many tensors had been freed then */
    const char *how; /* and what the error says */
    bool in_vain;    /* hd_scope_return was called in a scope inside of its own */
} model;

#define RELEASED "hd_get: x was freed by hd_release; hd_full made it"
#define CLOSED                                                                                     \
    "hd_get: x was freed when its scope closed; hd_full made it. Keep it with hd_retain, "         \
    "hd_assign or hd_scope_return"
#define IN_VAIN                                                                                    \
    "hd_get: x was freed when its scope closed; hd_full made it. hd_scope_return was called for "  \
    "it in an inner scope, but moves a tensor only out of the innermost scope. Call it once for "  \
    "each scope, as in all = hd_scope_return(hd_cat(1, all, next))"

static bool is_held(const model *m)
{
    return m->x && (m->retains > 0 || m->scope >= 0);
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Returns true if m is a freed tensor that was found. */
static bool check_one(const model *m, int deaths)
{
    if (is_held(m)) {
        ck_each(hd_get(m->x, 0) == m->value, "a tensor that is held was freed, or changed");
        return false;
    }
    if (!m->freed || deaths - m->death > KNOWN - SLOTS) {
        return false; /* SLOTS: one call may free them all, in any order */
    }
    const char *how = m->in_vain && strcmp(m->how, CLOSED) == 0 ? IN_VAIN : m->how;
    ck_each(isnan(hd_get(m->x, 0)) && hd_error_code() == HD_STATE &&
                strcmp(hd_error_message(), how) == 0,
            "%s: expected %s", hd_error_message(), how);
    hd_error_clear();
    return true;
}

/* What the last call freed, which was `how`. Returns how many tensors. */
static int bury(model *all, int depth, int deaths, const char *how)
{
    int more = 0;
    for (int k = 0; k < SLOTS; k++) {
        model *m = &all[k];
        m->scope = m->scope > depth ? -1 : m->scope; /* what a scope owned ends with it */
        if (m->x && !m->freed && !is_held(m)) {
            m->freed = true;
            m->death = deaths;
            m->how = how;
            more++;
        }
    }
    return more;
}

static void fuzz_call(uint32_t *state, model *m, hd_scope **scopes, int *depth)
{
    bool alive = is_held(m);
    switch (next_random(state) % 8) {
    case 0:
        if (!alive) {
            m->value = (double)(next_random(state) % 1000);
            m->x = hd_full(HD_FLOAT32, m->value, next_random(state) % 16 ? 3 : 2000);
            m->retains = 0;
            m->scope = *depth;
            m->freed = m->in_vain = false;
        }
        break;
    case 1:
    case 2:
        if (alive) {
            ck_each(hd_retain(m->x) == m->x, "hd_retain");
            m->retains++;
        }
        break;
    case 3:
    case 4:
        if (alive) {
            hd_release(m->x);
            m->scope = m->retains > 0 ? m->scope : -1;
            m->retains -= m->retains > 0;
        }
        break;
    case 5:
        if (alive && *depth > 0) {
            hd_scope_return(m->x);
            m->in_vain = m->scope == *depth - 1 || (m->in_vain && m->scope != *depth);
            m->scope -= m->scope == *depth;
        }
        break;
    case 6:
        if (*depth < DEPTH) {
            scopes[++*depth] = hd_scope_open();
        }
        break;
    case 7:
        if (*depth > 0) {
            hd_scope_close(scopes[(*depth)--]);
        }
        break;
    }
}

START_TEST(a_million_calls_against_a_model)
{
    model all[SLOTS] = {0};
    hd_scope *scopes[DEPTH + 1];
    int depth = 0, deaths = 0, by_release = 0, by_scope = 0;
    uint32_t state = 1;
    for (int i = 0; i < CALLS; i++) {
        int before = depth;
        fuzz_call(&state, &all[next_random(&state) % SLOTS], scopes, &depth);
        ck_each(hd_error_code() == HD_OK, "%s", hd_error_message());
        const char *how = depth < before ? CLOSED : RELEASED;
        deaths += bury(all, depth, deaths, how);
        const model *m = &all[next_random(&state) % SLOTS];
        if (check_one(m, deaths)) {
            by_release += strcmp(m->how, RELEASED) == 0;
            by_scope += strcmp(m->how, CLOSED) == 0;
        }
    }
    ck_assert_msg(by_release > 10000 && by_scope > 10000,
                  "%d found released, %d when scopes closed", by_release, by_scope);
    for (int k = 0; k < SLOTS; k++) {
        for (; all[k].x && all[k].retains > 0; all[k].retains--) {
            hd_release(all[k].x);
        }
    }
    while (depth > 0) {
        hd_scope_close(scopes[depth--]);
    }
}
END_TEST

Suite *suite_freed(void)
{
    const TTest *const tests[] = {
        kept_in_a_loop_without_retain,
        freed_by_release,
        freed_by_assign,
        freed_by_a_dictionary,
        views_and_their_bases,
        large_tensors_give_their_data_back_at_once,
        the_last_64_are_known,
        empty_cache_empties_the_ring,
        off_with_a_users_allocator,
        a_threads_ring_ends_with_it,
        lists_and_data_end_with_their_scope,
        a_million_calls_against_a_model,
    };
    return quarantine_on() ? SUITE_OF("freed", tests) : suite_create("freed");
}
