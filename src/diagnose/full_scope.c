/* full_scope.c - warns of a training loop without a scope: its iterations leave their tensors in
 * the scope around the loop. Here an iteration is called a round, and it ends with its backward. */
#include <inttypes.h>

#include "autograd/op.h"
#include "base/memory/count.h"
#include "diagnose/diagnose_internal.h"
#include "tensor/shape.h"

/* MUCH: while fewer bytes are live, no scope gets a warning because of its bytes. MANY_GRAPHS: a
 * scope other than the root scope gets a warning only after this many backwards, because its loop
 * may add up the gradients of several parts of a batch. The root scope gets it after 3. */
enum { MUCH = 1 << 30, MANY_GRAPHS = 32 };

/* Counts of a scope's tensors that were made in the rounds between the first and the last loss. The
 * warning ignores the largest round, which may have made tensors that the program wants to keep. */
typedef struct rounds {
    int64_t graphs; /* the number of losses of one function whose backward has ended */
    int64_t bytes, tensors;
    int64_t most_bytes, most_tensors; /* the most bytes and tensors of one round */
    const hd_tensor *largest;         /* the tensor with the most elements */
} rounds;

/* True if the function `made_by` made t and t is a loss: a backward began at its node. */
static bool is_loss(const hd_tensor *t, const char *made_by)
{
    /* Another thread may replace the node of a view, so views are left out. */
    const hd__node *n = t->base ? NULL : t->attachment;
    return n && n->ended == HD__ENDED_LOSS && t->made_by == made_by;
}

/* Counts the rounds in scope s, and their tensors and bytes. A round ends at each loss that the
 * function made_by returned. Goes from the newest tensor, s->first, to the oldest one. */
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
        if (all.graphs && hd__tensor_in_storage(t) && !atomic_load(&t->retained)) {
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
    hd_scope *s = hd__scope_top;
    const int64_t live = hd__count_counted(HD__BYTES), count = s->count;
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
        hd_warn(
            "%s owns %" PRId64 " tensors with %" PRId64 " bytes that were made between the "
            "first and the last of %" PRId64
            " backwards, such as the %s that %s made. Write HD_SCOPE; at the start of the "
            "loop's body, so that each iteration frees its tensors. hd_scope_report lists them all",
            hd__live_scope_name(s, name, sizeof name), r.tensors, r.bytes, r.graphs,
            HD__SHAPE(r.largest), r.largest->made_by);
    }
}

void hd__hear_backward_ended(hd__node *loss, const char *made_by, double value)
{
    hd__watch_loss(value, made_by);
    if (loss) {
        watch_memory(loss, made_by);
    }
}
