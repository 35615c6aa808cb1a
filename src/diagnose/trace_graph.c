/* trace_graph.c - writes the lines that HEED_TRACE prints, and counts the times that HEED_PROFILE
 * prints: for each op when its result is ready, and for each node when backward reaches it. */
#include "autograd/node.h"
#include "autograd/record.h"
#include "base/error/lasting.h"
#include "diagnose/diagnose_internal.h"

/* ---------------------------------------------------------------- ops */

/* Writes the line of an op. n_out is 0 if a user's op has failed. `name` is the name of the op's
 * node, such as "AddBackward0", or NULL for an op that is never recorded. If this call was not
 * recorded, the line has only "Add". */
static void trace_op(const char *name, int n_out, hd_tensor *const *ys, int64_t n_in,
                     hd_tensor *const *in)
{
    hd__trace_line l;
    hd__trace_line_begin(&l, hd__call);
    hd__trace_line_tensors(&l, n_in, in);
    hd__trace_line_add(&l, n_out ? " ->" : " -> an error");
    hd__trace_line_tensors(&l, n_out, ys);
    if (name && n_out) {
        bool recorded = hd__tensor_is_float(ys[0]->dtype) && hd__record_any_wants_grad(n_in, in);
        const char *end = recorded ? NULL : strstr(name, "Backward");
        hd__trace_line_add(&l, " %.*s", (int)(end ? end - name : (ptrdiff_t)strlen(name)), name);
    }
    hd__trace_line_end(&l, hd__debug_module);
}

/* Counts an op that has ended, and writes its line (trace_op). `span` is true for a user's op: the
 * ops that it has called are not counted (hd__profile_end). Ignores an op that the backward of a
 * node has called. */
static void tell_op(bool span, const char *name, int n_out, hd_tensor *const *ys, int64_t n_in,
                    hd_tensor *const *in)
{
    hd__diagnose_profiled e = {.name = hd__call, .module = hd__debug_module, .calls = 1};
    if (hd__trace_heard()->walking == hd__call) {
        return; /* the op belongs to a node of the backward, not to the program */
    }
    for (int k = 0; k < n_out; k++) { /* a view or a tensor changed in place has in[0]'s memory */
        bool fresh = n_in == 0 || ys[k]->storage != in[0]->storage;
        e.bytes += fresh ? ys[k]->numel * hd__tensor_bytes_of(ys[k]->dtype) : 0;
    }
    hd__profile_end(span, &e);
    if (hd__debug_any() & HD__TRACES) {
        trace_op(name, n_out, ys, n_in, in);
    }
}

void hd__hear_ready(const hd__op *op, hd_tensor *y, int n_in, hd_tensor *const *in)
{
    tell_op(false, op ? op->name : NULL, 1, &y, n_in, in);
}

void hd__hear_recorded(const hd__op *op, int n_out, hd_tensor *const *ys, const hd__record_args *a)
{
    if (hd__event_telling()) {
        tell_op(false, op->name, n_out, ys, a->n_in, a->in);
    }
    hd__watch_record(op, n_out, ys, a);
}

void hd__hear_applied(hd__node *n, int n_out, hd_tensor *const *ys, hd_tensor *const *in)
{
    char name[64];
    n->made_by = hd__lasting_text(hd__node_user_name(n));
    n->made_in = hd__debug_module;
    const char *call = hd__call_swap(n->made_by); /* the op's own name instead of "hd_apply" */
    tell_op(true, hd__node_name(n, name), n_out, ys, n->n_in, in);
    hd__call = call;
}

/* ---------------------------------------------------------------- nodes */

static void add_output(hd__trace_line *l, const hd__node_out_meta *out)
{
    hd__trace_line_add(l, " %s", out ? HD__SIZES(out->ndim, out->sizes) : "None");
}

/* Writes the line of node n, with the shapes of the gradients that it received and of those that it
 * computes. */
static void trace_node(const hd__node *n)
{
    char name[64];
    hd__trace_line l;
    hd__trace_line_begin(&l, hd__node_name(n, name));
    for (int k = 0; k < n->n_out; k++) {
        add_output(&l, n->outs[k].pending ? &n->outs[k] : NULL);
    }
    for (int i = 0; i < n->n_in; i++) {
        hd__trace_line_add(&l, i ? "" : " ->");
        add_output(&l, hd__node_needs(n, i) ? hd__node_input_meta(n, i) : NULL);
    }
    if (n->n_in && n->made_by) {
        hd__trace_line_add(&l, ", of %s", n->made_by);
    }
    hd__trace_line_end(&l, n->n_in && n->made_by ? n->made_in : NULL);
}

void hd__hear_node_begins(const hd__node *n)
{
    if (hd__debug_any() & HD__TRACES_BACKWARD) {
        trace_node(n);
        hd__trace_heard()->depth++;
    }
    hd__trace_heard()->walking = hd__call;
    hd__hear_call_begins();
}

void hd__hear_node_ends(const hd__node *n)
{
    bool known = n->n_in && n->made_by; /* a leaf (n_in 0) counts under its op's name */
    hd__diagnose_profiled e = {.name = known ? n->made_by : n->op->name,
                               .module = known ? n->made_in : NULL};
    hd__profile_end(true, &e);
    hd__trace_heard()->depth -= (hd__debug_any() & HD__TRACES_BACKWARD) != 0;
    hd__trace_heard()->walking = NULL;
}
