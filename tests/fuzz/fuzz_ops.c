/* fuzz_ops.c - fuzzes the ops. The bytes are a program over 16 tensors: calls of ops, views,
 * in-place changes, scopes, releases, hooks, users' ops, failing allocations, and backwards, six
 * bytes each.
 *
 * No result is compared with another library. Each call must return a tensor that lies in its
 * storage and can be read, or NULL and an error with a message. No input may change. A failed
 * in-place change must change nothing, and a failed backward no gradient. After a successful
 * backward, gradients have the shapes of their leaves. At the end no tensor, no byte and no user's
 * data may be left. */
#include <math.h>

#include "fuzz.h"
#include "fuzz_made.h"

enum {
    SLOTS = 16,    /* the last one is always HD_NONE */
    SCOPES = 8,    /* open at a time */
    LARGEST = 512, /* elements of a tensor that is kept */
    MOST_BYTES = 1 << 18
};

typedef struct args {
    hd_tensor *x, *y, *z;
    int i, n;
    int64_t j, k, sizes[HD_MAX_DIMS + 1];
    hd_scalar s;
    double d;
    bool on;
} args;

static hd_tensor *slots[SLOTS];
static int64_t hooks[SLOTS];
static hd_scope *scopes[SCOPES];
static int n_scopes;

/* ---------------------------------------------------------------- memory that runs out */

static int64_t refuse_at; /* the allocation that fails; 0: none */

/* No array of a program is large, so that a large one is a size that nobody checked. */
static void *take(size_t bytes, size_t alignment, void *user)
{
    (void)user;
    if ((refuse_at > 0 && --refuse_at == 0) || bytes > MOST_BYTES) {
        return NULL;
    }
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void give(void *p, size_t bytes, void *user)
{
    (void)bytes, (void)user;
    free(p);
}

/* ---------------------------------------------------------------- is a tensor sound? */

static const void *pointer_at(const void *p, uint32_t offset)
{
    const void *at;
    memcpy(&at, (const char *)p + offset, sizeof at);
    return at;
}

/* Its first and its last element lie in its storage. */
static void lies_in_storage(const hd_tensor *x)
{
    const hd_debug_layout_table *at = &hd_debug_layout;
    const void *storage = pointer_at(x, at->storage);
    const char *begin = pointer_at(storage, at->storage_data), *data = hd_data(x);
    size_t nbytes;
    memcpy(&nbytes, (const char *)storage + at->storage_nbytes, sizeof nbytes);
    bool empty = false;
    for (int i = 0; i < hd_ndim(x); i++) {
        fuzz_check(hd_size(x, i) >= 0 && hd_stride(x, i) >= 0, "a negative size or stride");
        empty |= hd_size(x, i) == 0;
    }
    if (empty) { /* the product of the other sizes may be more than 64 bits hold */
        fuzz_check(hd_numel(x) == 0, "%lld elements", (long long)hd_numel(x));
        return;
    }
    int64_t last = hd_storage_offset(x), numel = 1;
    for (int i = 0; i < hd_ndim(x); i++) {
        last += (hd_size(x, i) - 1) * hd_stride(x, i);
        numel *= hd_size(x, i);
    }
    const int64_t size = hd_dtype_size(hd_dtype_of(x));
    fuzz_check(numel == hd_numel(x), "%lld elements", (long long)hd_numel(x));
    fuzz_check(data == begin + hd_storage_offset(x) * size, "its data lie elsewhere");
    fuzz_check((uint64_t)(last + 1) * (uint64_t)size <= nbytes, "it leaves its storage");
}

/* A number that changes if an element does. */
static uint64_t bits_of(const hd_tensor *x)
{
    static char bytes[LARGEST * 8];
    uint64_t hash = 1469598103934665603u;
    if (!x || x == HD_NONE || hd_numel(x) > LARGEST) {
        return 0;
    }
    const size_t n = (size_t)(hd_numel(x) * hd_dtype_size(hd_dtype_of(x)));
    const int64_t failed = refuse_at;
    refuse_at = 0;
    fuzz_check(hd_copy_to(x, bytes, n), "a tensor cannot be read");
    refuse_at = failed;
    for (size_t i = 0; i < n; i++) {
        hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211u;
    }
    return hash;
}

static void sound(const hd_tensor *x)
{
    if (x != HD_NONE) {
        lies_in_storage(x);
        bits_of(x);
    }
}

/* The slot's tensor becomes t, if t is small. */
static void keep(int slot, hd_tensor *t)
{
    if (slot != SLOTS - 1 && t && t != HD_NONE && hd_numel(t) <= LARGEST) {
        hd_retain(t);
        hd_release(slots[slot]);
        slots[slot] = t;
        hooks[slot] = 0;
    }
}

/* ---------------------------------------------------------------- calls that need more */

static hd_tensor *second; /* the other result of a call */

static hd_tensor **other(void)
{
    second = NULL;
    return &second;
}

static hd_tensor *other_of(hd_tensor *first)
{
    if (first) {
        sound(first);
        fuzz_check(second, "one result without the other");
    }
    return first ? second : NULL;
}

static hd_tensor *one_of(hd_list *l, int64_t i)
{
    const int64_t n = l ? hd_list_len(l) : 0;
    for (int64_t k = 0; k < n; k++) {
        sound(hd_list_get(l, k));
    }
    return n > 0 ? hd_list_get(l, (i % n + n) % n) : l ? HD_NONE : NULL;
}

static hd_tensor *attention(const args *a)
{
    return hd_scaled_dot_product_attention(a->x, a->x, a->y, a->z, a->on ? 0.5 : 0, false);
}

static hd_tensor *attention_with(const args *a, hd_tensor **weights)
{
    hd_attention_options o = hd_attention_defaults();
    o.attn_mask = a->z, o.safe_softmax = a->on, o.scale = a->d;
    return hd_scaled_dot_product_attention_with(a->x, a->y, a->y, &o, weights);
}

static hd_tensor *cross_entropy(const args *a)
{
    hd_cross_entropy_options o = hd_cross_entropy_defaults();
    o.ignore_index = a->j, o.reduction = (hd_reduction)(a->k % 4);
    return hd_cross_entropy_with(a->x, a->y, &o);
}

static hd_tensor *likelihood(const args *a)
{
    hd_cross_entropy_options o = hd_cross_entropy_defaults();
    o.ignore_index = a->j, o.reduction = (hd_reduction)(a->k % 4);
    return hd_nll_loss_with(a->x, a->y, &o);
}

/* ---------------------------------------------------------------- users' ops */

static int users; /* data of users' ops that are not freed */

static bool double_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    y[0] = hd_mul_scalar(x[0], 2);
    return y[0] && hd_save(ctx, x[0]) && hd_save(ctx, y[0]);
}

static void double_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    if (hd_saved(ctx, 0) && hd_saved(ctx, 1) && hd_needs_grad(ctx, 0)) {
        gx[0] = hd_mul_scalar(gy[0], 2);
    } else {
        gx[0] = NULL;
    }
}

static bool pair_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    (void)ctx;
    y[0] = x[0]; /* is copied */
    y[1] = hd_neg(x[1]);
    return y[1];
}

static void pair_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    (void)ctx;
    gx[0] = gy[0];
    gx[1] = hd_neg(gy[1]);
}

static bool refusing_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    (void)ctx;
    y[0] = hd_exp(x[0]);
    hd_error_clear();
    return false;
}

static void refusing_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    (void)ctx, (void)gy;
    gx[0] = NULL;
    hd_error_clear();
}

static void wrong_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    (void)ctx;
    gx[0] = hd_unsqueeze(hd_cat(0, hd_flatten(gy[0], 0, -1), hd_flatten(gy[0], 0, -1)), 0);
}

static void user_free(hd_ctx *ctx)
{
    fuzz_check(hd_ctx_user(ctx) == &users, "the user's data are lost");
    users--;
}

static const hd_op user_ops[] = {
    {sizeof(hd_op), "Double", double_forward, double_backward, user_free},
    {sizeof(hd_op), "Refusing", refusing_forward, refusing_backward, user_free},
    {sizeof(hd_op), "Silent", double_forward, refusing_backward, user_free},
    {sizeof(hd_op), "Wrong", double_forward, wrong_backward, user_free},
};
static const hd_op pair_op = {sizeof(hd_op), "Pair", pair_forward, pair_backward, user_free};

static hd_tensor *apply(const args *a)
{
    users++;
    return hd_apply(&user_ops[a->i & 3], &users, a->x);
}

static hd_tensor *apply_pair(const args *a)
{
    users++;
    return one_of(hd_apply_multi_n(&pair_op, &users, 2, 2, (hd_tensor *[]){a->x, a->y}), a->j);
}

/* ---------------------------------------------------------------- hooks */

static int depth;   /* of backwards in backwards */
static bool hooked; /* has this program registered a hook? */

static hd_tensor *hook_scale(hd_tensor *g, void *user)
{
    (void)user;
    return hd_mul_scalar(g, 0.5);
}

static hd_tensor *hook_look(hd_tensor *g, void *user)
{
    (void)user;
    sound(g);
    return HD_NONE;
}

static hd_tensor *hook_fail(hd_tensor *g, void *user)
{
    (void)user;
    return hd_add(g, NULL);
}

static hd_tensor *hook_silent(hd_tensor *g, void *user)
{
    (void)user;
    hook_fail(g, NULL);
    hd_error_clear();
    return NULL;
}

static hd_tensor *hook_shape(hd_tensor *g, void *user)
{
    (void)user;
    return hd_unsqueeze(hd_cat(0, hd_flatten(g, 0, -1), hd_flatten(g, 0, -1)), 0);
}

static hd_tensor *hook_in_place(hd_tensor *g, void *user)
{
    (void)user;
    hd_mul_scalar_(g, 3);
    hd_error_clear();
    return HD_NONE;
}

static hd_tensor *hook_keep(hd_tensor *g, void *user)
{
    keep((int)((hd_tensor **)user - slots), g);
    return HD_NONE;
}

static hd_tensor *hook_backward(hd_tensor *g, void *user)
{
    hd_tensor **y = user;
    if (depth < 3) {
        depth++;
        hd_backward_with(*y, HD_NONE, true);
        depth--;
        hd_error_clear();
    }
    (void)g;
    return HD_NONE;
}

static const hd_hook hook_kinds[] = {hook_scale, hook_look,     hook_fail, hook_silent,
                                     hook_shape, hook_in_place, hook_keep, hook_backward};

static bool hook_action(const args *a, int slot)
{
    if (hooks[slot] > 0 && a->on) {
        bool ok = hd_remove_hook(a->x, hooks[slot]);
        hooks[slot] = 0;
        return ok;
    }
    hooks[slot] = hd_register_hook(a->x, hook_kinds[a->i & 7], &slots[a->k & (SLOTS - 1)]);
    hooked = true;
    return hooks[slot] > 0;
}

/* ---------------------------------------------------------------- backward */

static void gradients(uint64_t bits[SLOTS])
{
    const int64_t failed = refuse_at;
    refuse_at = 0;
    for (int i = 0; i < SLOTS - 1; i++) {
        HD_SCOPE;
        hd_tensor *x = slots[i];
        bits[i] = 0;
        if (x && hd_requires_grad(x) && hd_is_leaf(x)) {
            hd_tensor *g = hd_grad(x);
            fuzz_check(g, "a leaf without an answer");
            bits[i] = g == HD_NONE ? 1 : bits_of(g);
            fuzz_check(g == HD_NONE || hd_numel(g) == hd_numel(x), "a gradient of another shape");
            fuzz_check(g == HD_NONE || hd_dtype_of(g) == hd_dtype_of(x), "of another dtype");
        }
    }
    refuse_at = failed;
}

static bool backward(const args *a, int kind)
{
    uint64_t before[SLOTS] = {0}, after[SLOTS] = {0};
    bool ok;
    gradients(before);
    if (kind == 0) {
        ok = hd_backward(a->x);
    } else if (kind == 1) {
        ok = hd_backward_with(a->x, a->y ? a->y : HD_NONE, a->on);
    } else {
        hd_grad_options o = hd_grad_defaults();
        o.retain_graph = a->on, o.allow_unused = a->i & 1;
        hd_list *inputs = a->y ? hd_list_of(a->y, a->z ? a->z : a->y) : NULL;
        hd_list *outputs = a->x ? hd_list_of(a->x) : NULL;
        hd_list *l = hd_grad_of(outputs, inputs, NULL, &o);
        for (int64_t i = 0; l && i < hd_list_len(l); i++) {
            sound(hd_list_get(l, i));
        }
        ok = l;
    }
    gradients(after);
    /* A hook may run another backward. */
    fuzz_check(hooked || (ok && kind < 2) || memcmp(before, after, sizeof before) == 0,
               "a backward that %s has changed a gradient", ok ? "returns them" : "failed");
    return ok;
}

static bool walk(const hd_node *n, int depth_left)
{
    if (!n) {
        return false;
    }
    fuzz_check(*hd_node_name(n), "a node without a name");
    for (int i = 0; i < hd_node_outputs(n); i++) {
        int ndim = -1;
        fuzz_check(hd_node_sizes(n, i, &ndim) && ndim >= 0, "an output without sizes");
    }
    for (int i = 0; i < hd_node_inputs(n) && depth_left > 0; i++) {
        if (hd_needs_grad(n, i)) {
            fuzz_check(walk(hd_node_input(n, i, NULL), depth_left - 1), "an input without a node");
        }
    }
    return true;
}

/* ---------------------------------------------------------------- one instruction */

/* The first byte of an instruction is a code: that of an op, as its row of the table of functions
 * has it, or of an action. What a code means never changes, so that inputs keep their meaning. */
enum { APPLY = 153, APPLY_PAIR, ACTION, ACTIONS = 24, FIRST_FREE = ACTION + ACTIONS };

#define FUNCTION(code, name, call)                                                                 \
    static hd_tensor *op_##name(const args *a)                                                     \
    {                                                                                              \
        return call;                                                                               \
    }
OPS(FUNCTION)

#define ROW(code, name, call) [code] = {#name, op_##name},
static const struct {
    const char *name;
    hd_tensor *(*run)(const args *a);
} ops[] = {OPS(ROW)[APPLY] = {"apply", apply}, [APPLY_PAIR] = {"apply_pair", apply_pair}};
enum { N_CODES = sizeof ops / sizeof *ops > FIRST_FREE ? sizeof ops / sizeof *ops : FIRST_FREE };

static int64_t number(uint8_t b)
{
    static const int64_t extremes[] = {INT64_MAX, INT64_MIN, 1LL << 62, 1LL << 32, -1,
                                       1LL << 31, -2,        100,       1000,      65536};
    return b < 240 ? b % 8 - 1 : extremes[(b - 240) % 10];
}

static hd_scalar scalar(uint8_t b)
{
    static const double values[] = {0, -0., 1, -1, 2, 0.5, 1e9, NAN, 1e-30, INFINITY, -INFINITY, 3};
    return b % 16 < 12 ? hd_scalar_double(values[b % 16]) : hd_scalar_int(number(b));
}

static void read_args(args *a, const uint8_t *b)
{
    const uint8_t sizes = b[4];
    a->x = slots[b[1] & 15], a->y = slots[b[1] >> 4], a->z = slots[b[2] & 15];
    a->on = b[3] & 1;
    a->i = (int)number(b[3] >> 1 & 15);
    a->j = number(b[4]), a->k = number(b[5]);
    a->s = scalar(b[5]);
    a->d = scalar(b[4]).is_int ? 0.25 : scalar(b[4]).v.d;
    a->n = b[3] >> 5;
    for (int i = 0; i < HD_MAX_DIMS; i++) {
        a->sizes[i] = i == 0 && sizes >= 240 ? number(sizes) : (int64_t)((sizes >> i % 4 * 2) & 3);
    }
    if (sizes % 5 == 4) {
        a->sizes[a->n % 3] = -1;
    }
}

static hd_tensor *create(const args *a, const uint8_t *b)
{
    static const double values[] = {1, -2, 0.5, 0, 3, -1, NAN, 0.25};
    const hd_dtype d = (hd_dtype)(b[2] & 3);
    hd_tensor *x = hd_zeros_n(d, a->n % 5, a->sizes);
    for (int64_t i = 0; x && hd_numel(x) <= LARGEST && i < hd_numel(x); i++) {
        double v = values[(i + b[5]) & 7];
        double f64 = v;
        float f32 = (float)v;
        int64_t i64 = isnan(v) ? 7 : (int64_t)(v < 0 ? -v : v);
        bool truth = v > 0;
        const void *const from[] = {&f32, &f64, &i64, &truth};
        size_t size = (size_t)hd_dtype_size(d);
        memcpy((char *)hd_data_mut(x) + (size_t)i * size, from[d], size);
    }
    return x && (b[2] & 4) && d <= HD_FLOAT64 ? hd_requires_grad_(x, true) : x;
}

/* What is not an op: 16 actions. Returns whether the action succeeded. */
static bool act(const args *a, const uint8_t *b, int kind)
{
    const int slot = b[1] & 15, to = b[2] >> 4;
    hd_tensor *made;
    int64_t version;
    bool ok = true;
    switch (kind) {
    case 0:
    case 1:
        made = create(a, b);
        keep(to, made);
        return made;
    case 2:
        if (slot < SLOTS - 1) {
            hd_release(slots[slot]);
            slots[slot] = NULL;
            hooks[slot] = 0;
        }
        return true;
    case 3:
        if (n_scopes < SCOPES) {
            scopes[n_scopes] = hd_scope_open();
            ok = scopes[n_scopes];
            n_scopes += ok;
        }
        return ok;
    case 4: hd_set_grad_mode(a->on); return true;
    case 5: return hook_action(a, slot);
    case 6: return backward(a, 0);
    case 7: return backward(a, 1);
    case 8: return backward(a, 2);
    case 9: return hd_requires_grad_(a->x, a->on);
    case 10: return hd_retain_grad(a->x);
    case 11: return hd_set_grad(a->x, a->y);
    case 12:
        made = hd_parameter(a->x, a->on);
        keep(to, made);
        return made;
    case 13: {
        const hd_node *n = hd_grad_node(a->x);
        return n && walk(n, 4);
    }
    case 14: return strcmp(hd_repr(a->x), "NULL") != 0;
    default:
        version = a->x && a->x != HD_NONE ? hd_version_of(a->x) : 0;
        if (hd_data_mut(a->x)) {
            fuzz_check(hd_version_of(a->x) == version + 1, "a pointer for writing, unnoticed");
            return true;
        }
        return false;
    }
}

static bool ends_in_place(const char *name)
{
    return name[strlen(name) - 1] == '_';
}

static bool run_op(const args *a, int i, int to)
{
    const bool in_place = ends_in_place(ops[i].name);
    const uint64_t x = bits_of(a->x), y = bits_of(a->y), z = bits_of(a->z);
    const int64_t version = a->x && a->x != HD_NONE ? hd_version_of(a->x) : 0;
    hd_tensor *r = ops[i].run(a);
    const bool changed = r && in_place;
    fuzz_check(changed || (bits_of(a->x) == x && bits_of(a->y) == y && bits_of(a->z) == z),
               "hd_%s has changed an input", ops[i].name);
    fuzz_check(changed || !a->x || a->x == HD_NONE || hd_version_of(a->x) == version,
               "hd_%s counted a change", ops[i].name);
    fuzz_check(!changed || r == a->x, "hd_%s gives another tensor", ops[i].name);
    if (r) {
        sound(r);
        keep(to, r);
    }
    return r;
}

static void instruction(const uint8_t *b)
{
    args a = {.n = 0};
    read_args(&a, b);
    const int code = b[0];
    const int kind = code >= ACTION && code < FIRST_FREE ? code - ACTION : -1;
    const uint64_t failures = hd_error_count();
    bool ok;
    if (code >= N_CODES) { /* means nothing yet */
        return;
    }
    if (kind == 16) {
        refuse_at = 1 + b[5];
        return;
    }
    if (kind == 17) { /* the next call finds an error standing */
        hd_error_set(HD_USER, "fuzz_ops: an error that stands");
        return;
    }
    if (kind == 18) {
        hd_manual_seed(b[5]);
        hd_generator_set_bernoulli(hd_default_generator(), (hd_bernoulli_stream)(b[4] & 1));
        return;
    }
    if (kind == 19) {
        hd_set_fused_attention(b[5] & 1);
        return;
    }
    if (kind == 20) {
        hd_scope_close(n_scopes > 0 ? scopes[--n_scopes] : NULL);
        return;
    }
    ok = kind >= 0 ? act(&a, b, kind > 20 ? 0 : kind) : run_op(&a, code, b[2] >> 4);
    refuse_at = 0;
    fuzz_check(ok || (hd_error_code() != HD_OK && *hd_error_message()),
               "instruction %d (%s) failed without an error", code, kind < 0 ? ops[code].name : "");
    fuzz_check(!ok || kind >= 0 || hd_error_count() == failures || hd_error_code() == HD_OK,
               "%s succeeded with an error", kind < 0 ? ops[code].name : "");
    hd_error_clear();
}

static int64_t bound(size_t size)
{
    return (int64_t)(size + 16) * 8 * MOST_BYTES;
}

void fuzz_setup(void)
{
    static const hd_allocator allocator = {sizeof(hd_allocator), take, give, NULL};
    fuzz_bound = bound;
    fuzz_check(hd_set_allocator(&allocator), "an allocator is refused");
}

static void program(const uint8_t *data, size_t size)
{
    enum { BYTES = 6, LONGEST = 100 };
    HD_SCOPE;
    hooked = false;
    for (size_t at = 0; at + BYTES <= size && at < LONGEST * BYTES; at += BYTES) {
        instruction(data + at);
    }
    refuse_at = 0;
    for (int i = 0; i < SLOTS - 1; i++) {
        hd_release(slots[i]);
        slots[i] = NULL;
        hooks[i] = 0;
    }
    n_scopes = 0; /* those that are open are closed with the one around them */
}

void fuzz_one(const uint8_t *data, size_t size)
{
    slots[SLOTS - 1] = HD_NONE;
    hd_manual_seed(0);
    program(data, size);
    hd_set_grad_mode(true);
    hd_set_fused_attention(true);
    hd_generator_set_bernoulli(hd_default_generator(), HD_BERNOULLI_MCG31);
    hd_error_clear();
    fuzz_check(users == 0, "data of %d users' ops are left", users);
}
