/* ddp.c - hd_ddp: makes hd_backward average the gradients of a model over all ranks.
 *
 * A backward that averages is a round. The first hook that runs allocates the round's memory and
 * meets the other ranks. If none has failed, each rank sends all its buckets, even if it fails
 * later. A hook puts its gradient into a bucket. At the end of backward each rank fills in missing
 * gradients, waits for all pieces, and learns which parameters the others used. Then the ranks meet
 * again, and write .grad only if none has failed. */
#include "mpi/mpi_internal.h"

#include <stdio.h>

bool hd__mpi_ddp_given(const char *arg, const hd_ddp *d)
{
    return hd__arg_given(arg, d) &&
           (d == hd__mpi.ddp ||
            hd_fail(HD_STATE,
                    "%s is not the current hd_ddp: it was freed, or hd_mpi_finish was called",
                    arg)) &&
           (pthread_equal(d->thread, pthread_self()) ||
            hd_fail(HD_STATE, "%s was made by another thread. Only that thread may use it", arg));
}

bool hd__mpi_in_round(void)
{
    bool in = hd__mpi.ddp && hd__mpi.ddp->met;
    if (in) {
        hd_fail(HD_STATE, "the ranks are averaging gradients. Make no collective call inside "
                          "hd_backward");
    }
    return in;
}

/* ---------------------------------------------------------------- a round */

static bool round_begin(hd_ddp *d, bool ok)
{
    char number[48]; /* the number of this backward, which must be equal on all ranks */
    snprintf(number, sizeof number, "backward %lld", (long long)d->backwards);
    ok = hd__mpi_buckets_begin(d) && ok;
    d->met = true;
    d->going = hd__mpi_meet_in_backward(number, ok);
    return d->going;
}

static int64_t bytes_posted(const hd_ddp *d)
{
    int64_t bytes = 0;
    for (int64_t i = 0; i < d->next; i++) {
        bytes += d->buckets[i].n * (int64_t)hd_dtype_size(d->buckets[i].dtype);
    }
    return bytes;
}

/* Returns false with an error if the gradient of s cannot be averaged now. */
static bool in_turn(const hd__mpi_slot *s)
{
    return hd__mpi_ddp_given("the hd_ddp", s->d) &&
           (hd_dtype_of(s->p) == s->d->buckets[s->bucket].dtype ||
            hd_fail(HD_STATE, "hd_module_to has converted the model after hd_ddp_new. Call "
                              "hd_module_to before hd_ddp_new")) &&
           ((hd_backward_depth() == 1 && !(s->d->met && s->ready)) ||
            hd_fail(HD_STATE,
                    "a backward that a hook or a user's op called has reached a parameter "
                    "of the hd_ddp. Only the outermost backward averages gradients. "
                    "Call hd_grad_of in place of the inner backward, or hd_ddp_no_sync "
                    "around both backwards"));
}

/* The hook of a parameter, called when its gradient g is complete. Puts g into its bucket. Under
 * hd_ddp_no_sync, only marks the slot as touched; in hd_grad_of, does nothing. Returns HD_NONE, so
 * that backward does not change g, which give_averages replaces at the end. Returns NULL with an
 * error on failure. */
static hd_tensor *gradient_ready(hd_tensor *g, void *user)
{
    hd__mpi_slot *s = user;
    hd_ddp *d = s->d;
    HD__CALL("hd_backward");
    if (hd_backward_depth() == 0 || d->no_sync) {
        s->touched |= hd_backward_depth() > 0;
        return HD_NONE;
    }
    if (!in_turn(s) || (!d->met && !round_begin(d, true))) {
        return NULL;
    }
    double start = MPI_Wtime();
    bool ok = hd__mpi_slot_fill(s, g);
    s->used = true;
    if (d->n_ready == d->n - 1) {
        d->figures.bytes_hidden += bytes_posted(d);
    }
    ok = ok && hd__mpi_slot_ready(s);
    d->figures.seconds_hooks += MPI_Wtime() - start;
    return ok ? HD_NONE : NULL;
}

/* Writes the .grad of this rank, or zeros if there is none, into the slots that no hook has filled.
 * Sends the remaining buckets even after a failure. Returns false if ok is false, and false with an
 * error if something fails. */
static bool fill_rest(hd_ddp *d, bool ok)
{
    for (int64_t i = 0; i < d->n; i++) {
        hd__mpi_slot *s = &d->slots[i];
        if (!s->ready) {
            ok = ok && hd__mpi_slot_fill(s, HD_NONE);
            s->used = s->alone && hd_grad(s->p) != HD_NONE;
            ok = hd__mpi_slot_ready(s) && ok;
        }
    }
    return ok;
}

/* Sets used[i] to 1 if any rank has used slot i, and to 0 otherwise. Returns false with an error if
 * MPI fails. */
static bool share_used(const hd_ddp *d, unsigned char *used)
{
    for (int64_t i = 0; i < d->n; i++) {
        used[i] = d->slots[i].used;
    }
    return hd__mpi_ok(
        MPI_Allreduce(MPI_IN_PLACE, used, (int)d->n, MPI_UNSIGNED_CHAR, MPI_MAX, hd__mpi.control));
}

/* Passes the averages to backward, which writes them to .grad if the round succeeds. Returns false
 * with an error on failure. */
static bool give_averages(const hd_ddp *d)
{
    bool ok = true;
    for (int64_t i = 0; i < d->n && ok; i++) {
        ok = !d->used[i] || hd_set_backward_grad(d->slots[i].p, hd__mpi_slot_part(&d->slots[i]));
    }
    return ok;
}

static void round_end(hd_ddp *d, bool ok)
{
    for (int64_t i = 0; i < d->n; i++) {
        d->slots[i].alone &= !ok;
    }
    d->figures.bytes += ok ? bytes_posted(d) : 0;
    d->figures.backwards += ok;
    d->figures.bytes_moved += d->e.moved;
    d->e.moved = 0;
}

/* Ends a backward under hd_ddp_no_sync. If it succeeded, marks the slots that it reached, so that
 * the next round averages their .grad. */
static void end_alone(hd_ddp *d, bool ok)
{
    for (int64_t i = 0; i < d->n; i++) {
        d->slots[i].alone |= ok && d->slots[i].touched;
        d->slots[i].touched = false;
    }
}

/* Sends the remaining buckets, waits until all pieces are averaged, and meets the other ranks, even
 * if this rank has failed. Returns false with an error if any rank has failed. */
static bool end_round(hd_ddp *d, bool ok)
{
    d->figures.bytes_early += bytes_posted(d);
    d->figures.bytes_hidden += d->n_ready < d->n ? bytes_posted(d) : 0;
    double start = MPI_Wtime();
    ok = fill_rest(d, ok);
    bool well = hd__mpi_traffic_go_on(&d->e, true) && share_used(d, d->used);
    d->figures.seconds_exposed += MPI_Wtime() - start;
    ok = hd__mpi_meet_in_backward(NULL, ok && well && give_averages(d));
    round_end(d, ok);
    return ok;
}

/* Called at the end of each backward of this thread (hd_on_backward_end). Ends the round. If no
 * hook has begun the round, begins it first. Returns false with an error if any rank has failed. */
static bool backward_ends(bool ok, void *user)
{
    hd_ddp *d = user;
    HD__CALL("hd_backward");
    if (d->no_sync) {
        end_alone(d, ok);
        d->backwards++;
        return true;
    }
    bool going = d->met ? d->going : round_begin(d, ok);
    ok = going && end_round(d, ok);
    if (d->e.finished == d->e.posted) { /* else MPI failed, and may still write to the buckets */
        hd__mpi_buckets_end(d);
    }
    d->backwards++;
    d->met = d->going = false;
    return ok;
}

/* ---------------------------------------------------------------- making */

hd_ddp_options hd_ddp_defaults(void)
{
    return (hd_ddp_options){
        .size = sizeof(hd_ddp_options), .bucket_bytes = 25 << 20, .first_bucket_bytes = 1 << 20};
}

static bool bytes_ok(const char *option, int64_t bytes)
{
    return bytes >= 1 || hd_fail(HD_VALUE, "%s %lld: expected 1 or more", option, (long long)bytes);
}

static bool ddp_options_ok(const hd_ddp_options *o)
{
    return HD__SIZE_OK(o, "hd_ddp_defaults()") && bytes_ok("bucket_bytes", o->bucket_bytes) &&
           bytes_ok("first_bucket_bytes", o->first_bucket_bytes);
}

/* Makes a slot for each parameter that requires grad, the last parameter first. Returns false with
 * an error if no parameter requires grad, or if a parameter with a slot is not contiguous. */
static bool make_slots(hd_ddp *d)
{
    hd_list *all = hd_module_parameters(d->model);
    int64_t n = all ? hd_list_len(all) : 0;
    d->slots = hd__arg_alloc_items(n + 1, sizeof *d->slots);
    d->used = all && d->slots ? hd_alloc((size_t)n + 1) : NULL;
    bool ok = d->used;
    for (int64_t i = n - 1; i >= 0 && ok; i--) {
        hd_tensor *p = hd_list_get(all, i);
        if (hd_requires_grad(p)) {
            d->slots[d->n++] = (hd__mpi_slot){.d = d, .p = hd_retain(p), .hook = -1};
            ok = hd_is_contiguous(p) ||
                 hd_fail(HD_VALUE,
                         "parameter %lld of model is not contiguous. Replace it by a contiguous "
                         "copy with hd_module_set_parameter",
                         (long long)i);
        }
    }
    return ok && (d->n > 0 || hd_fail(HD_VALUE, "no parameter of model requires grad"));
}

static bool same_options(const hd_ddp_options *o, bool ok)
{
    char text[160];
    snprintf(text, sizeof text,
             "bucket_bytes %lld\nfirst_bucket_bytes %lld\nfast %d\nshard_optimizer %d\n",
             (long long)o->bucket_bytes, (long long)o->first_bucket_bytes, o->fast,
             o->shard_optimizer);
    return hd__mpi_same_text("hd_ddp_options", text, ok);
}

static void describe_tensors(hd__text *t, const hd_dict *tensors, const char *what)
{
    for (int64_t i = 0; i < hd_dict_len(tensors); i++) {
        char kind[HD__SHAPE_TEXT];
        const char *name = hd_dict_name(tensors, i);
        const hd_tensor *x = hd_dict_get(tensors, name);
        hd__text_format(t, "%s %s %s%s\n", what, name, hd__mpi_kind_of(x, kind),
                        hd_requires_grad(x) ? "" : ", requires no grad");
    }
}

static bool broadcast_all(const hd_dict *tensors)
{
    bool ok = true;
    for (int64_t i = 0; ok && i < hd_dict_len(tensors); i++) {
        ok = hd__mpi_broadcast_tensor(hd_dict_get(tensors, hd_dict_name(tensors, i)), 0);
    }
    return ok;
}

/* Copies rank 0's parameters and buffers to all ranks. Returns false with an error if the ranks'
 * tensors differ in name, shape, dtype or requires_grad. */
static bool share_model(hd_module *model)
{
    hd_dict *parameters = hd_module_named_parameters(model);
    hd_dict *buffers = hd_module_named_buffers(model);
    hd__text t = {0};
    describe_tensors(&t, parameters, "parameter");
    describe_tensors(&t, buffers, "buffer");
    char *text = hd__text_take(&t);
    bool ok = hd__mpi_same_text("the model", text, parameters && buffers && text) &&
              broadcast_all(parameters) && broadcast_all(buffers);
    hd_free(text);
    hd_dict_free(parameters);
    hd_dict_free(buffers);
    return ok;
}

static bool register_all(hd_ddp *d)
{
    bool ok = hd_on_backward_end(backward_ends, d);
    d->listens = ok;
    for (int64_t i = 0; i < d->n && ok; i++) {
        d->slots[i].hook = hd_register_hook(d->slots[i].p, gradient_ready, &d->slots[i]);
        ok = d->slots[i].hook >= 0;
    }
    return ok;
}

static void ddp_drop(hd_ddp *d)
{
    if (d->listens) {
        hd_on_backward_end(NULL, NULL);
    }
    for (int64_t i = 0; i < d->n; i++) {
        if (d->slots[i].hook >= 0) {
            hd_remove_hook(d->slots[i].p, d->slots[i].hook);
        }
        hd_release(d->slots[i].p);
    }
    hd_free(d->e.pieces);
    hd_free(d->buckets);
    hd_free(d->slots);
    hd_free(d->used);
    hd_free(d->owners);
    hd_free(d);
}

/* Does the part of hd_ddp_new that needs no other rank. Returns the new hd_ddp; NULL with an error
 * on failure. */
static hd_ddp *ddp_alone(hd_module *model, const hd_ddp_options *o)
{
    if (!HD__SIBLING_OK() || !hd__arg_given("model", model) || !ddp_options_ok(o)) {
        return NULL;
    }
    if (hd__mpi.ddp) {
        return hd_fail(HD_STATE, "there is an hd_ddp already. Call hd_ddp_free first");
    }
    hd_ddp *d = hd_alloc(sizeof *d);
    if (!d) {
        return NULL;
    }
    *d = (hd_ddp){.model = model, .thread = pthread_self(), .o = *o, .e = {.fast = o->fast}};
    if (make_slots(d) && hd__mpi_buckets_plan(d) && hd__mpi_owners_plan(d)) {
        return d;
    }
    ddp_drop(d);
    return NULL;
}

hd_ddp *hd_ddp_new(hd_module *model, const hd_ddp_options *options)
{
    HD__CALL("hd_ddp_new");
    hd_ddp_options o = options ? *options : hd_ddp_defaults();
    int launched = hd__mpi.begun ? 0 : hd__mpi_launched();
    if (launched > 1) {
        return hd_fail(HD_STATE,
                       "mpirun started %d processes, but hd_mpi_init was not called. Call it first "
                       "in main",
                       launched);
    }
    hd_scope *scope = hd_scope_open();
    hd_ddp *d = scope ? ddp_alone(model, &o) : NULL;
    bool ok = d;
    if (hd__mpi_others()) {
        ok = same_options(&o, d) && share_model(model) && hd__mpi_meet(NULL, register_all(d));
    }
    hd_scope_close(scope);
    if (!ok) {
        if (d) {
            ddp_drop(d);
        }
        return NULL;
    }
    d->figures.buckets = d->n_buckets;
    hd__mpi.ddp = d;
    return d;
}

void hd_ddp_free(hd_ddp *d)
{
    HD__CALL("hd_ddp_free");
    if (d && hd__mpi_ddp_given("d", d) && !hd__mpi_in_round()) {
        hd__mpi_meet_to_end();
        ddp_drop(d);
        hd__mpi.ddp = NULL;
    }
}

/* ---------------------------------------------------------------- in the loop */

bool hd_ddp_no_sync(hd_ddp *d, bool on)
{
    HD__CALL("hd_ddp_no_sync");
    if (!hd__mpi_ddp_given("d", d) || hd__mpi_in_round()) {
        return false;
    }
    bool before = d->no_sync;
    d->no_sync = on;
    return before;
}

bool hd_ddp_get_figures(hd_ddp *d, hd_ddp_figures *f, bool reset)
{
    HD__CALL("hd_ddp_get_figures");
    if (!hd__mpi_ddp_given("d", d) || !hd__arg_given("f", f)) {
        return false;
    }
    *f = d->figures;
    if (reset) {
        d->figures = (hd_ddp_figures){.buckets = d->n_buckets};
    }
    return true;
}
