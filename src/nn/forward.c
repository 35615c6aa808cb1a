/* forward.c - runs a module's forward in a scope of its own, and fails if any call inside failed.
 *
 * Each thread has a stack of frames, one for each running forward. Each frame counts its own
 * failures from 0. So hd_forward notices a failed call even if the forward ignored its NULL, if an
 * older error was set before, or if an inner module cleared its own errors. After a failure the
 * random generator has the state that it had before the forward. */
#include "base/error/lasting.h"
#include "base/random/draws.h"
#include "nn/module_args.h"

#include <stdio.h>
#include <string.h>

/* How a forward began. BY_FORWARD: hd_forward began it. BY_BEGIN: the user's code called
 * hd_forward_begin. BY_HEED: a function of heed called hd_forward_begin, so errors begin with the
 * name of this function, not with the module's class. ENDED: the frame only waits to be removed. */
enum how { BY_FORWARD, BY_BEGIN, BY_HEED, ENDED };

typedef struct frame {
    struct frame *outer;
    hd_module *m;
    hd_scope *scope;
    uint64_t serial;   /* the scope's serial number */
    uint64_t failures; /* the outer frame's failures before this frame began */
    enum how how;
    const char *name; /* hd__debug_module before this frame: the outer module's path */
    hd__draws draws;  /* the random draws of the forward; it is large, so frames are not copied */
} frame;

static HD__TLS frame *top;

/* Returns the name under which m's parent registered it, or m's class if m has no parent. */
static const char *own_name(const hd_module *m)
{
    const hd_module *parent = m->priv->parent;
    for (int64_t i = 0; parent && i < parent->priv->n; i++) {
        const hd__nn_entry *e = &parent->priv->entries[i];
        if (e->kind == HD__CHILD && hd__nn_child(e) == m) {
            return e->name;
        }
    }
    return m->type->name;
}

/* Returns m's dotted name from its outermost module on, such as "GPT.blocks.0". The beginning of a
 * long name is cut off. */
HD__RARE static const char *path_of(const hd_module *m)
{
    char text[400];
    size_t at = sizeof text - 1;
    text[at] = '\0';
    for (; m; m = m->priv->parent) {
        const char *name = own_name(m);
        size_t length = strlen(name);
        if (length + 5 > at) {
            memcpy(text + (at -= 3), "...", 3);
            break;
        }
        memcpy(text + (at -= length), name, length);
        if (m->priv->parent) {
            text[--at] = '.';
        }
    }
    return hd__lasting_text(text + at);
}

/* Returns the name of m's first registered field that is NULL, or NULL if no field is. */
static const char *empty_field(const hd_module *m)
{
    for (int64_t i = 0; i < m->priv->n; i++) {
        const hd__nn_entry *e = &m->priv->entries[i];
        if (e->tensor ? !*e->tensor : !hd__nn_child(e)) {
            return e->name;
        }
    }
    return NULL;
}

/* Writes into text the end of the error about a NULL argument, which is most likely a field of the
 * running module. Names a registered field that is NULL. If there is none, lists the registered
 * fields, because the user may have forgotten to register the one that is NULL. */
static void note_of_null(char text[HD__NOTE])
{
    const hd_module *m = top ? top->m : NULL;
    const char *empty = m ? empty_field(m) : NULL;
    if (empty) {
        snprintf(text, HD__NOTE, "; the field \"%.60s\" of %.60s is empty", empty, m->type->name);
    } else if (m) {
        int n = snprintf(text, HD__NOTE,
                         "; in the forward of %.60s, whose constructor has registered %s",
                         m->type->name, m->priv->n ? "only" : "no field");
        for (int64_t i = 0; i < m->priv->n && n < HD__NOTE; i++) {
            n += snprintf(text + n, (size_t)(HD__NOTE - n), "%s \"%s\"", i ? "," : "",
                          m->priv->entries[i].name);
        }
    }
}

/* Returns the innermost forward that runs the user's code. Errors in it begin with the class of its
 * module. */
static hd__call_forward forward_running(void)
{
    const frame *f = top;
    while (f && f->how >= BY_HEED) {
        f = f->outer;
    }
    return (hd__call_forward){f ? f->m->type->name : NULL, f};
}

__attribute__((constructor)) static void install_notes(void)
{
    hd__null_note = note_of_null;
    hd__forward_now = forward_running;
}

/* Begins a frame and its scope. x is the argument of the forward, or NULL if hd_forward_begin was
 * called. Returns NULL if memory runs out. */
static frame *push(hd_module *m, hd_tensor *x, enum how how)
{
    frame *f = hd_alloc(sizeof *f);
    hd_scope *scope = f ? hd_scope_open() : NULL;
    if (!scope) {
        hd_free(f);
        return NULL;
    }
    f->outer = top;
    f->m = m;
    f->scope = scope;
    f->serial = hd__scope_serial(scope);
    f->failures = hd__error_uncleared_swap(0);
    f->how = how;
    f->name = hd__debug_module;
    hd__draws_begin(&f->draws);
    top = f;
    if (hd__event_listening()) {
        hd__debug_module = path_of(m);
        hd__events->forward_begins(f->outer ? f->outer->m : NULL, m, x);
    }
    return f;
}

/* Returns the number of failures in f and in the frames above it, which were begun but not
 * ended. */
static uint64_t failures_since(const frame *f)
{
    uint64_t failures = hd__error_uncleared_swap(0);
    for (const frame *each = top; each != f; each = each->outer) {
        failures += each->failures;
    }
    return failures;
}

/* Ends the top frame and its scope, and moves y, the result of the forward, to the outer scope. If
 * y is NULL, the forward has failed, and its random draws are taken back. */
static void leave_top(hd_tensor *y)
{
    frame *left = top;
    top = left->outer;
    hd__draws_end(&left->draws, y);
    if (hd__event_telling()) {
        hd__events->forward_ends(y);
    }
    hd__debug_module = left->name;
    if (y) {
        hd_scope_return(y);
    }
    if (hd__scope_top == left->scope || hd__scopes_above(left->scope, 0) >= 0) {
        hd_scope_close(left->scope);
    }
    hd_free(left);
}

/* Checks that the scopes of f and of the frames above f are open, and that no other scope is open
 * above the scope of f. Otherwise returns false with an error that names f's module: its forward
 * has closed one of these scopes, or left another scope open. */
static bool scopes_ok(frame *f)
{
    bool innermost = hd__scope_top == f->scope && hd__scope_serial(hd__scope_top) == f->serial;
    if (HD__UNLIKELY(top != f || !innermost)) {
        int above = hd__scopes_above(f->scope, f->serial);
        for (frame *each = top; each != f && above >= 0; each = each->outer) {
            each->how = ENDED;
            /* After the loop, hd__debug_module names f, for the error. */
            hd__debug_module = each->name;
            above = hd__scopes_above(each->scope, each->serial) < 0 ? -1 : above - 1;
        }
        if (above != 0) {
            f->how = ENDED;
            return hd__scopes_wrong(f->m->type->name, above);
        }
    }
    return true;
}

/* Fails because a forward returned y, which is NULL, HD_NONE or freed, although no call inside it
 * failed. Returns false. */
static bool refuse_result(frame *f, const hd_tensor *y)
{
    const char *type = f->m->type->name;
    const bool by_begin = f->how != BY_FORWARD;
    f->how = ENDED;
    if (!y || y == HD_NONE) {
        return hd_fail(HD_USER, "%s gave %s: expected a tensor", type,
                       y ? "HD_NONE" : "NULL without an error");
    }
    if (by_begin) {
        return hd__tensor_given("y", y, false);
    }
    char name[100];
    snprintf(name, sizeof name, "the result of %.60s's forward", type);
    return hd__tensor_given(name, y, false);
}

/* Ends f and the frames above it. Returns y, or NULL with an error if any call inside failed, y is
 * not a tensor, or the forward has closed its scope or left another one open. */
static hd_tensor *forward_finish(frame *f, hd_tensor *y)
{
    frame *outer = f->outer;
    const hd_module *m = f->m;
    uint64_t failures = failures_since(f), before = f->failures;
    bool gave = !failures && scopes_ok(f) && ((y && hd__tensor_exists(y)) || refuse_result(f, y));
    while (top != outer) {
        leave_top(gave ? y : NULL);
    }
    failures += !failures && !gave;
    hd__error_uncleared_swap(before + failures);
    if (failures && hd_error_code() == HD_OK) { /* hd_forward may return NULL only with an error */
        hd_fail(HD_STATE, "a call inside %s failed, and its error was cleared", m->type->name);
    }
    return failures ? NULL : y;
}

static hd_tensor *run_forward(hd_module *m, hd_tensor *x)
{
    HD__CALLS_BACK;
    return m->type->forward(m, x);
}

hd_tensor *hd_forward(hd_module *m, hd_tensor *x)
{
    HD__CALL("hd_forward");
    if (!hd__object("m", m) || !hd__nn_tensor_given("x", x)) {
        return NULL;
    }
    if (!m->type->forward) {
        return hd_fail(HD_STATE,
                       "%s has no forward: expected a module whose hd_module_type has one",
                       m->type->name);
    }
    frame *f = push(m, x, BY_FORWARD);
    return f ? forward_finish(f, run_forward(m, x)) : NULL;
}

bool hd_forward_begin(hd_module *m)
{
    HD__CALL("hd_forward_begin");
    return hd__object("m", m) && push(m, NULL, hd__call_before ? BY_HEED : BY_BEGIN);
}

hd_tensor *hd_forward_end(hd_module *m, hd_tensor *y)
{
    HD__CALL("hd_forward_end");
    if (!hd__object("m", m)) {
        return NULL;
    }
    if (!top || top->m != m || !(top->how == BY_BEGIN || top->how == BY_HEED)) {
        return hd_fail(HD_STATE, "m is a %s: expected the module of the last hd_forward_begin",
                       m->type->name);
    }
    return forward_finish(top, y);
}
