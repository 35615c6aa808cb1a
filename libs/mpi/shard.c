/* shard.c - an optimizer whose state is divided among the ranks: ZeRO, stage 1.
 *
 * Each parameter belongs to one rank. Parameters are assigned in the order of their size, the
 * largest first, each to the rank with the fewest elements so far. Every rank has the gradients of
 * all parameters, but its optimizer has only the rank's own parameters. After a step, the rank
 * sends these to the others. */
#include "mpi/mpi_internal.h"

#include <inttypes.h>
#include <string.h>

/* ---------------------------------------------------------------- owners */

/* Returns the number of the slot with the most elements among those without an owner (whose
 * owners[i] is -1); -1 if all have owners. */
static int64_t largest_slot(const hd_ddp *d)
{
    int64_t slot = -1, most = -1;
    for (int64_t i = 0; i < d->n; i++) {
        int64_t n = hd_numel(d->slots[i].p);
        bool larger = d->owners[i] < 0 && n > most;
        slot = larger ? i : slot;
        most = larger ? n : most;
    }
    return slot;
}

static int lightest_rank(const int64_t *elements)
{
    int rank = 0;
    for (int r = 1; r < hd__mpi.size; r++) {
        rank = elements[r] < elements[rank] ? r : rank;
    }
    return rank;
}

bool hd__mpi_owners_plan(hd_ddp *d)
{
    d->owners = hd__arg_alloc_items(d->n, sizeof *d->owners);
    int64_t *elements = hd__arg_alloc_items(hd__mpi.size, sizeof *elements);
    bool ok = d->owners && elements;
    for (int r = 0; ok && r < hd__mpi.size; r++) {
        elements[r] = 0;
    }
    for (int64_t i = 0; ok && i < d->n; i++) {
        d->owners[i] = -1;
    }
    for (int64_t i = 0; ok && i < d->n; i++) {
        int64_t slot = largest_slot(d);
        int r = lightest_rank(elements);
        d->owners[slot] = r;
        elements[r] += hd_numel(d->slots[slot].p);
    }
    hd_free(elements);
    return ok;
}

static bool shards(const hd_ddp *d)
{
    return d->o.shard_optimizer && hd__mpi_others();
}

/* Returns the number that slot i's parameter has in an optimizer of all parameters. */
static int64_t number_of_slot(const hd_ddp *d, int64_t i)
{
    return d->n - 1 - i;
}

/* True if the optimizer of this rank has slot i's parameter. */
static bool is_mine(const hd_ddp *d, int64_t i)
{
    return !shards(d) || d->owners[i] == hd__mpi.rank;
}

hd_list *hd_ddp_parameters(hd_ddp *d)
{
    HD__CALL("hd_ddp_parameters");
    if (!hd__mpi_ddp_given("d", d)) {
        return NULL;
    }
    hd_list *list = hd_list_n(0, NULL);
    bool ok = list;
    for (int64_t i = d->n - 1; ok && i >= 0; i--) { /* last slot first: the model's order */
        ok = !is_mine(d, i) || hd_list_append(list, d->slots[i].p);
    }
    if (ok && hd_list_len(list) == 0) {
        return hd_fail(HD_VALUE,
                       "none of the %" PRId64 " parameters is left for rank %d. Start no more "
                       "ranks than there are parameters",
                       d->n, hd__mpi.rank);
    }
    return ok ? list : NULL;
}

static bool send_stepped(const hd_ddp *d)
{
    HD_NO_GRAD;
    bool ok = true;
    for (int64_t i = 0; ok && i < d->n; i++) {
        hd_tensor *p = d->slots[i].p;
        ok = hd__mpi_broadcast_bytes(hd_data_mut(p), hd__mpi_bytes_of(p), d->owners[i]);
    }
    return ok;
}

bool hd_ddp_step(hd_ddp *d, hd_optim *o)
{
    HD__CALL("hd_ddp_step");
    bool ok = hd__mpi_ddp_given("d", d) && hd__arg_given("o", o) && hd_optim_step(o);
    ok = hd__mpi_meet(NULL, ok);
    return ok && (!shards(d) || send_stepped(d));
}

/* ---------------------------------------------------------------- copying */

/* Sets to[name] = from[from_name]. Returns false with an error on failure. */
static bool copy_entry(hd_dict *to, const char *name, const hd_dict *from, const char *from_name)
{
    int64_t number;
    double value;
    switch (hd_dict_kind_of(from, from_name)) {
    case HD_DICT_TENSOR: return hd_dict_set(to, name, hd_dict_get(from, from_name));
    case HD_DICT_STRING: return hd_dict_set_string(to, name, hd_dict_get_string(from, from_name));
    case HD_DICT_INT:
        return hd_dict_get_int(from, from_name, &number) && hd_dict_set_int(to, name, number);
    default:
        return hd_dict_get_double(from, from_name, &value) && hd_dict_set_double(to, name, value);
    }
}

/* Copies an optimizer's saved state, the entries of `from` under prefix, to `to`, but leaves out
 * the states of its parameters. In `to`, the optimizer's only group has `count` parameters. Returns
 * false with an error on failure. */
static bool copy_head(hd_dict *to, const hd_dict *from, const char *prefix, int64_t count)
{
    hd__text states = {0}, group = {0};
    const char *start = hd__text_key(&states, prefix, NULL, 0, "state.");
    const char *params = hd__text_key(&group, prefix, "param_groups", 0, "params");
    bool ok = start && params;
    for (int64_t i = 0; ok && i < hd_dict_len(from); i++) {
        const char *name = hd_dict_name(from, i);
        if (strcmp(name, params) == 0) {
            ok = hd_dict_set_int(to, name, count);
        } else if (strncmp(name, start, states.len - strlen("state.")) == 0 &&
                   strncmp(name, start, states.len) != 0) {
            ok = copy_entry(to, name, from, name);
        }
    }
    hd_free(states.s);
    hd_free(group.s);
    return ok;
}

/* Copies the state of parameter number `old` in `from` to `to`, as the state of parameter number
 * `number`. Returns false with an error on failure. */
static bool copy_state(hd_dict *to, int64_t number, const hd_dict *from, int64_t old,
                       const char *prefix)
{
    hd__text head = {0}, name = {0};
    const char *start = hd__text_key(&head, prefix, "state", old, "");
    bool ok = start;
    for (int64_t i = 0; ok && i < hd_dict_len(from); i++) {
        const char *each = hd_dict_name(from, i);
        if (strncmp(each, start, head.len) == 0) {
            const char *new = hd__text_key(&name, prefix, "state", number, each + head.len);
            ok = new &&copy_entry(to, new, from, each);
        }
    }
    hd_free(head.s);
    hd_free(name.s);
    return ok;
}

/* ---------------------------------------------------------------- saving */

typedef struct saving {
    hd_ddp *d;
    const char *prefix;
    hd_dict *mine; /* the state of this rank's optimizer */
    hd_dict *all;  /* on rank 0: the state of all ranks' optimizers; else NULL */
} saving;

/* Copies entry e of a slot's state from its owner to rank 0's s->all. On the owner, `part` has the
 * state; on other ranks it is empty. Returns false with an error on all ranks if any rank fails. */
static bool bring_entry(const saving *s, int64_t slot, const hd_dict *part, int64_t e)
{
    int owner = s->d->owners[slot];
    bool ours = owner == hd__mpi.rank;
    hd_tensor *p = s->d->slots[slot].p, *x = NULL; /* x has p's shape */
    const char *own = ours ? hd_dict_name(part, e) : "";
    char *name = hd__mpi_broadcast_text(own, owner, own);
    int64_t kind = ours && name ? hd_dict_kind_of(part, name) : HD_DICT_MISSING, number = 0;
    bool ok = name && (kind != HD_DICT_INT || hd_dict_get_int(part, name, &number));
    ok = hd__mpi_meet(NULL, ok) && hd__mpi_broadcast_bytes(&kind, sizeof kind, owner) &&
         hd__mpi_broadcast_bytes(&number, sizeof number, owner);
    if (ok && kind == HD_DICT_TENSOR) {
        x = ours ? hd_dict_get(part, name) : hd_empty_like(p, hd_dtype_of(p));
        ok = hd__mpi_broadcast_tensor(x, owner);
    }
    if (ok && s->all) {
        ok = x ? hd_dict_set(s->all, name, x) : hd_dict_set_int(s->all, name, number);
    }
    hd_free(name);
    return hd__mpi_meet(NULL, ok);
}

/* Copies the state of a slot from its owner to rank 0's s->all. `mine` is the slot's number in its
 * owner's optimizer. Returns false with an error on all ranks if any rank fails. */
static bool bring_state(const saving *s, int64_t slot, int64_t mine)
{
    hd_scope *scope = hd_scope_open();
    hd_dict *part = scope ? hd_dict_new() : NULL;
    bool ok = part && (!is_mine(s->d, slot) ||
                       copy_state(part, number_of_slot(s->d, slot), s->mine, mine, s->prefix));
    int64_t n = ok ? hd_dict_len(part) : 0;
    ok = hd__mpi_meet(NULL, ok) && hd__mpi_broadcast_bytes(&n, sizeof n, s->d->owners[slot]);
    for (int64_t e = 0; ok && e < n; e++) {
        ok = bring_entry(s, slot, part, e);
    }
    hd_dict_free(part);
    hd_scope_close(scope);
    return ok;
}

static bool bring_all(const saving *s)
{
    int64_t mine = 0;
    bool ok = true;
    for (int64_t i = s->d->n - 1; ok && i >= 0; i--) {
        ok = bring_state(s, i, mine);
        mine += is_mine(s->d, i);
    }
    return ok;
}

static bool optim_given(const hd_ddp *d, const hd_optim *o, const void *dict, const char *prefix)
{
    bool given = hd__mpi_ddp_given("ddp", d) && hd__arg_given("o", o) && hd__arg_given("d", dict) &&
                 hd__arg_given("prefix", prefix);
    int64_t groups = given ? hd_optim_group_count(o) : -1;
    return groups == 1 ||
           (groups > 1 &&
            hd_fail(HD_VALUE, "o has %" PRId64 " groups of parameters: expected 1", groups));
}

/* Copies every entry of `from` to d. Returns false with an error on failure. */
static bool move_all(hd_dict *d, const hd_dict *from)
{
    bool ok = true;
    for (int64_t i = 0; ok && i < hd_dict_len(from); i++) {
        ok = copy_entry(d, hd_dict_name(from, i), from, hd_dict_name(from, i));
    }
    return ok;
}

bool hd_ddp_optim_save(hd_ddp *ddp, const hd_optim *o, hd_dict *d, const char *prefix)
{
    HD__CALL("hd_ddp_optim_save");
    bool first = hd__mpi.rank == 0;
    saving s = {.d = ddp, .prefix = prefix};
    hd_scope *scope = hd_scope_open();
    bool ok = optim_given(ddp, o, d, prefix) && scope;
    s.mine = ok ? hd_dict_new() : NULL;
    s.all = ok && first ? hd_dict_new() : NULL;
    ok = s.mine && (!first || s.all) && hd_optim_save(o, s.mine, prefix) &&
         (!first || copy_head(s.all, s.mine, prefix, ddp->n));
    ok = hd__mpi_meet(NULL, ok);
    if (ok && shards(ddp)) {
        ok = bring_all(&s);
    }
    ok = hd__mpi_meet(NULL, ok && (!first || move_all(d, shards(ddp) ? s.all : s.mine)));
    hd_dict_free(s.mine);
    hd_dict_free(s.all);
    hd_scope_close(scope);
    return ok;
}

/* ---------------------------------------------------------------- loading */

/* Returns a new dictionary with the states of this rank's parameters in d, under the numbers that
 * they have in this rank's optimizer. Returns NULL with an error on failure. */
static hd_dict *own_part(const hd_ddp *ddp, const hd_dict *d, const char *prefix)
{
    hd_dict *own = hd_dict_new();
    int64_t mine = 0;
    bool ok = own;
    for (int64_t i = ddp->n - 1; ok && i >= 0; i--) {
        if (is_mine(ddp, i)) {
            ok = copy_state(own, mine++, d, number_of_slot(ddp, i), prefix);
        }
    }
    if (ok && copy_head(own, d, prefix, mine)) {
        return own;
    }
    hd_dict_free(own);
    return NULL;
}

bool hd_ddp_optim_load(hd_ddp *ddp, hd_optim *o, const hd_dict *d, const char *prefix)
{
    HD__CALL("hd_ddp_optim_load");
    hd_scope *scope = hd_scope_open();
    bool ok = optim_given(ddp, o, d, prefix) && scope;
    hd_dict *own = ok ? own_part(ddp, d, prefix) : NULL;
    ok = own && hd_optim_load(o, own, prefix);
    hd_dict_free(own);
    hd_scope_close(scope);
    return hd__mpi_meet(NULL, ok);
}
