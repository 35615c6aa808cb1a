/* atomic.h - asserts that a call that runs out of memory has changed nothing: no tensor, no
 * dictionary, no generator, and nothing else that the test compares. */
#ifndef HEED_TESTS_ATOMIC_H
#define HEED_TESTS_ATOMIC_H

#include <string.h>

#include "support/scarce.h"
#include "support/support.h"

/* The arguments of a call. The test compares the first three; prepare makes those that it needs. */
typedef struct world {
    hd_tensor *x;
    hd_dict *d;
    void *object, *other;
} world;

typedef struct atomic_call {
    const char *name;
    void (*prepare)(world *w);
    bool (*call)(world *w);
    uint64_t (*look)(
        const world *w);   /* a hash of the part of w->object that the call may change, or NULL */
    void (*end)(world *w); /* frees the objects, or NULL */
} atomic_call;

static inline uint64_t mix(uint64_t h, const void *bytes, size_t n)
{
    for (const unsigned char *p = bytes; n > 0; n--) {
        h = (h ^ *p++) * 0x100000001b3u;
    }
    return h;
}

/* A hash of the names in their order, and of the values; of a tensor, its address. */
static inline uint64_t look_at_dict(uint64_t h, const hd_dict *d)
{
    for (int64_t i = 0; d && i < hd_dict_len(d); i++) {
        const char *name = hd_dict_name(d, i), *text;
        hd_dict_kind kind = hd_dict_kind_of(d, name);
        const hd_tensor *t;
        double v;
        h = mix(h, name, strlen(name) + 1);
        h = mix(h, &kind, sizeof kind);
        if (kind == HD_DICT_TENSOR) {
            t = hd_dict_get(d, name);
            h = mix(h, &t, sizeof t);
        } else if (kind == HD_DICT_STRING) {
            text = hd_dict_get_string(d, name);
            h = mix(h, text, strlen(text) + 1);
        } else if (hd_dict_get_double(d, name, &v)) {
            h = mix(h, &v, sizeof v);
        }
    }
    return h;
}

/* All that a generator saves. No error may stand. */
static inline uint64_t look_at_generator(uint64_t h, hd_generator *g)
{
    HD_SCOPE;
    hd_dict *d = hd_dict_new();
    ck_assert_msg(hd_generator_save(g, d, ""), "%s", hd_error_message());
    hd_tensor *words = hd_dict_get(d, "state");
    for (int64_t i = 0; i < hd_numel(words); i++) {
        int64_t word = hd_get_int(words, i);
        h = mix(h, &word, sizeof word);
    }
    ck_assert(hd_dict_remove(d, "state"));
    h = look_at_dict(h, d);
    hd_dict_free(d);
    return h;
}

static inline uint64_t look_at_world(const atomic_call *c, const world *w)
{
    uint64_t h = look_at_generator(0, hd_generator_current());
    h = look_at_dict(h, w->d);
    if (w->x) {
        uint32_t version = hd_version_of(w->x);
        for (int64_t i = 0; i < hd_numel(w->x); i++) {
            double v = element_at(w->x, i);
            h = mix(h, &v, sizeof v);
        }
        h = mix(h, &version, sizeof version);
    }
    return c->look ? h + c->look(w) : h;
}

/* Makes one call, and refuses the block after `left` others. Returns true if a block was refused;
 * then the call must fail. */
static inline bool atomic_try(const atomic_call *c, int64_t left, bool once)
{
    scarce s = {.left = -1};
    scarce_use(&s);
    hd_scope *scope = hd_scope_open();
    world w = {0};
    hd_manual_seed(7);
    ck_assert_ptr_nonnull(hd_randn(HD_FLOAT32, 3)); /* the generator has a spare number */
    c->prepare(&w);
    ck_no_error();
    uint64_t before = look_at_world(c, &w);
    s.left = left;
    s.once = once;
    bool ok = c->call(&w);
    s.left = -1;
    bool refused = s.refused > 0;
    ck_assert_msg(hd_error_code() == (ok ? HD_OK : HD_MEMORY) && ok == !refused,
                  "%s after %d%s: %s, %d blocks refused: %s", c->name, (int)left,
                  once ? " once" : "", ok ? "succeeded" : "failed", (int)s.refused,
                  hd_error_message());
    hd_error_clear();
    ck_assert_msg(ok || look_at_world(c, &w) == before, "%s after %d%s has changed something",
                  c->name, (int)left, once ? " once" : "");
    if (c->end) {
        c->end(&w);
    }
    hd_dict_free(w.d);
    hd_scope_close(scope);
    hd_shutdown();
    ck_assert_msg(s.blocks == 0, "%s after %d: %d blocks are left", c->name, (int)left,
                  (int)s.blocks);
    scarce_end();
    return refused;
}

/* Refuses the call's first block, its second, and so on until the last: first that block alone,
 * then that block and all later ones. */
static inline void atomic_at_each(const atomic_call *c)
{
    hd_shutdown();
    for (int once = 0; once < 2; once++) {
        int64_t left = 0;
        while (atomic_try(c, left, once)) {
            left++;
            ck_assert_int_lt(left, 4000);
        }
        ck_assert_msg(left > 0, "%s asks for no memory", c->name);
    }
}

/* The same for each call of an array. */
#define ATOMIC_AT_EACH(calls)                                                                      \
    do {                                                                                           \
        for (size_t i = 0; i < sizeof(calls) / sizeof *(calls); i++) {                             \
            atomic_at_each(&(calls)[i]);                                                           \
        }                                                                                          \
    } while (0)

#endif
