/* forward.c - running a module: it gets a scope of its own, and failures inside it are seen.
 *
 * Each running forward is a frame on its thread's stack. In a frame the count of failures that were
 * not cleared starts at 0. So a failure inside is seen even if its result is not used, if an older
 * error stands, or if a module that this one calls clears its own errors. */
#include "nn/nn_internal.h"

typedef struct frame {
    struct frame *outer;
    hd_module *m;
    hd_scope *scope;
    uint64_t failures; /* those of the frame around, so far */
    bool by_begin;     /* hd_forward_end will end it */
} frame;

static HD__TLS frame *top;

static frame *push(hd_module *m, bool by_begin)
{
    frame *f = hd_alloc(sizeof *f);
    hd_scope *scope = f ? hd_scope_open() : NULL;
    if (!scope) {
        hd_free(f);
        return NULL;
    }
    *f = (frame){top, m, scope, hd__uncleared_swap(0), by_begin};
    top = f;
    return f;
}

/* Ends f, and the frames above it that were begun and never ended. Returns the failures in all of
 * them. */
static uint64_t pop(frame *f)
{
    uint64_t failures = hd__uncleared_swap(0);
    while (top != f) {
        frame *left = top;
        failures += left->failures;
        top = left->outer;
        hd_free(left);
    }
    top = f->outer;
    return failures;
}

/* If the error of a failed forward was cleared, says why the forward gives NULL. */
static hd_tensor *forward_fail(const hd_module *m)
{
    if (hd_error_code() == HD_OK) {
        hd_error_set(HD_STATE, "hd_forward: a call inside %s failed, and its error was cleared",
                     m->type->name);
    }
    return NULL;
}

static hd_tensor *forward_finish(frame *f, hd_tensor *y)
{
    hd_module *m = f->m;
    uint64_t failures = pop(f);
    if (!failures && (!y || y == HD_NONE)) {
        hd_error_set(HD_USER, "hd_forward: %s gave %s: expected a tensor", m->type->name,
                     y ? "HD_NONE" : "NULL without an error");
        failures = 1;
    }
    if (!failures) {
        hd_scope_return(y);
    }
    hd_scope_close(f->scope);
    hd__uncleared_swap(f->failures + failures);
    hd_free(f);
    return failures ? forward_fail(m) : y;
}

hd_tensor *hd_forward(hd_module *m, hd_tensor *x)
{
    if (!hd__object("hd_forward", "m", m) || !hd__tensor_given("hd_forward", "x", x)) {
        return NULL;
    }
    if (!m->type->forward) {
        return hd_error_set(
            HD_STATE,
            "hd_forward: %s has no forward: expected a module whose hd_module_type has one",
            m->type->name);
    }
    frame *f = push(m, false);
    return f ? forward_finish(f, m->type->forward(m, x)) : NULL;
}

bool hd_forward_begin(hd_module *m)
{
    return hd__object("hd_forward_begin", "m", m) && push(m, true);
}

hd_tensor *hd_forward_end(hd_module *m, hd_tensor *y)
{
    if (!hd__object("hd_forward_end", "m", m)) {
        return NULL;
    }
    if (!top || top->m != m || !top->by_begin) {
        return hd_error_set(HD_STATE,
                            "hd_forward_end: %s: expected the module of the last hd_forward_begin",
                            m->type->name);
    }
    return forward_finish(top, y);
}
