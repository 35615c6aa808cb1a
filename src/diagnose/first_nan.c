/* first_nan.c - debug mode in the graph: the first NaN or infinity, and the two calls of a version
 * error.
 *
 * "First" means that nothing which went in had one: a NaN from inputs without NaN, an infinity from
 * finite inputs. So a mask of -inf is no news to the softmax that follows it, but the NaN of a row
 * that is hidden completely is.
 *
 * Out of debug mode too: what the rounds of a loop have left in a scope, and a loss that is not
 * finite. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "autograd/autograd_internal.h"
#include "tensor/scope.h"

/* An op's backward is running: what its own calls make is told of in terms of the op. */
static HD__TLS bool in_backward;

unsigned int hd__watch_inputs(int64_t n, hd_tensor *const *in)
{
    unsigned int has = 0;
    for (int64_t i = 0; i < n; i++) {
        has |= hd__not_finite(in[i]);
    }
    return has;
}

/* What x has that nothing before it had: HD__HAS_NAN, or HD__HAS_INF, or 0. */
static unsigned int news(unsigned int before, const hd_tensor *x)
{
    unsigned int has = hd__not_finite(x);
    return has & HD__HAS_NAN ? ~before & HD__HAS_NAN : before ? 0 : has;
}

void hd__watch_result(unsigned int before, const hd_tensor *y)
{
    char place[HD__PLACE_TEXT];
    unsigned int first = hd__warns() && !in_backward ? news(before, y) : 0;
    if (first) {
        hd_warn("the result %s has %s, and %s%s%s", HD__SHAPE(y), hd__not_finite_text(y, place),
                first == HD__HAS_NAN ? "no input has nan" : "every input is finite",
                hd__module ? "; in " : "", hd__module ? hd__module : "");
    }
}

/* A view has only elements that were there before. */
static bool is_view(const hd_tensor *y, const hd__record_args *a)
{
    return a->n_in > 0 && !hd__is_none(a->in[0]) && y->storage == a->in[0]->storage;
}

void hd__watch_record(const hd__op *op, int n_out, hd_tensor *const *ys, const hd__record_args *a)
{
    if (!hd__watching() || !hd__warns() || op->fills || in_backward || is_view(ys[0], a)) {
        return;
    }
    for (int k = 0; k < n_out; k++) {
        if (hd__not_finite(ys[k])) { /* else the inputs do not matter */
            hd__watch_result(hd__watch_inputs(a->n_in, a->in), ys[k]);
        }
    }
}

/* "hd_log" or "hd_log in GPT.blocks.0" */
static const char *call_text(const char *by, const char *in, char text[200])
{
    snprintf(text, 200, "%s%s%.150s", by, in ? " in " : "", in ? in : "");
    return text;
}

/* Does backward read what forward made of a NaN or an infinity? Then that was told of. */
static bool saved_finite(const hd__node *n)
{
    unsigned int has = 0;
    for (int i = 0; i < n->n_saved; i++) {
        has |= hd__not_finite(n->saved[i].t);
    }
    return !has;
}

static void tell_of_gradients(const hd__node *n, unsigned int before, hd_tensor *const *dx)
{
    for (int i = 0; i < n->n_in; i++) {
        char name[64], place[HD__PLACE_TEXT], call[200];
        unsigned int first = n->edges[i].node && dx[i] ? news(before, dx[i]) : 0;
        if (first && saved_finite(n)) {
            hd_warn("the gradient %s that %s gave for input %d has %s, and the gradient that "
                    "it got %s%s%s",
                    HD__SHAPE(dx[i]), hd__node_name(n, name), i, hd__not_finite_text(dx[i], place),
                    first == HD__HAS_NAN ? "has no nan" : "is finite",
                    n->made_by ? "; recorded by " : "",
                    n->made_by ? call_text(n->made_by, n->made_in, call) : "");
        }
    }
}

void hd__watch_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    unsigned int before = 0;
    for (int k = 0; k < n->n_out && hd__warns(); k++) {
        before |= dy[k] ? hd__not_finite(dy[k]) : 0; /* now: backward may write over it */
    }
    uint64_t failures = hd_error_count();
    bool outer = in_backward;
    in_backward = true;
    n->op->backward(n, dy, dx);
    in_backward = outer;
    if (hd__warns() && hd_error_count() == failures) {
        tell_of_gradients(n, before, dx);
    }
}

const char *hd__watch_places(const hd__node *n, const hd__storage *s, char text[500])
{
    char saved[200], changed[200];
    const char *by = s->release ? s->changed_by : NULL;
    text[0] = '\0';
    if (n->made_by && by) {
        snprintf(text, 500, "; %s saved it, and %s changed it",
                 call_text(n->made_by, n->made_in, saved), call_text(by, s->changed_in, changed));
    } else if (!hd__watching()) {
        snprintf(text, 500, "; hd_set_debug(true) at the start names both calls");
    }
    return text;
}

/* ---------------------------------------------------------------- memory */

/* Bytes. A scope of the program may hold a batch in so many parts, whose gradients are added up. */
enum { MUCH = 1 << 30, MANY_GRAPHS = 32 };

/* What a scope owns of the rounds of a loop: of those between the first and the last loss. One
 * round, the largest, may have made what the program wants to keep. */
typedef struct rounds {
    int64_t graphs; /* losses that this function made, and whose backward is over */
    int64_t bytes, tensors;
    int64_t most_bytes, most_tensors; /* of one round */
    const hd_tensor *largest;
} rounds;

static bool is_loss(const hd_tensor *t, const char *made_by)
{
    const hd__node *n = t->base ? NULL : t->attachment; /* a reader may renew that of a view */
    return n && n->ended == HD__ENDED_LOSS && t->made_by == made_by;
}

/* The newest tensor is the first. */
static rounds rounds_in(const hd_scope *s, const char *made_by)
{
    rounds all = {0}, one = {0};
    for (const hd_tensor *t = s->first; t; t = t->next) {
        if (is_loss(t, made_by)) {
            all = (rounds){.graphs = all.graphs + 1,
                           .bytes = all.bytes + one.bytes,
                           .tensors = all.tensors + one.tensors,
                           .most_bytes = one.bytes > all.most_bytes ? one.bytes : all.most_bytes,
                           .most_tensors =
                               one.tensors > all.most_tensors ? one.tensors : all.most_tensors,
                           .largest = one.largest};
            one = (rounds){.largest = one.largest};
        }
        if (all.graphs && hd__in_storage(t) && !atomic_load(&t->retained)) {
            one.bytes += (int64_t)t->storage->nbytes;
            one.tensors++;
            one.largest = one.largest && one.largest->numel >= t->numel ? one.largest : t;
        }
    }
    return all;
}

static void watch_memory(hd__node *loss, const char *made_by)
{
    static HD__TLS int64_t next = MUCH;
    if (loss->ended) {
        loss->ended = HD__ENDED_LOSS;
    }
    hd_scope *s = hd__top;
    const int64_t live = hd__counted(HD__BYTES), count = s->count;
    if (live < next && count < s->warn_at) {
        return;
    }
    next = live < next ? next : 2 * live;
    s->warn_at = count < s->warn_at ? s->warn_at : 2 * count;
    char name[400];
    const rounds r = rounds_in(s, made_by);
    const bool much = live >= MUCH && r.bytes - r.most_bytes > live / 2;
    const bool many = count >= HD__SCOPE_MANY && r.tensors - r.most_tensors > count / 2;
    if (r.graphs >= (s->outer ? MANY_GRAPHS : 3) && (much || many)) {
        hd_warn("%s owns %" PRId64 " tensors with %" PRId64 " bytes that were made between the "
                "first and the last of %" PRId64 " backwards, as the %s that %s made: write "
                "HD_SCOPE; at the start of a loop's body, so that each round frees what it made "
                "(hd_scope_report lists them all)",
                hd__scope_name(s, name, sizeof name), r.tensors, r.bytes, r.graphs,
                HD__SHAPE(r.largest), r.largest->made_by);
    }
}

static void watch_loss(double loss, const char *made_by)
{
    static atomic_uint_least64_t told;
    if (!isfinite(loss) && hd__first(&told, (uintptr_t)made_by)) {
        hd_warn("the loss of %s is %s: %s", made_by,
                isnan(loss) ? "nan"
                : loss > 0  ? "inf"
                            : "-inf",
                hd__watching() ? "a warning before names the call that made the first one, or it "
                                 "came with the data"
                               : "HEED_DEBUG=1 in the environment names the call that made the "
                                 "first one");
    }
}

void hd__watch_end(hd__node *loss, const char *made_by, double value)
{
    watch_loss(value, made_by);
    if (loss) {
        watch_memory(loss, made_by);
    }
}
