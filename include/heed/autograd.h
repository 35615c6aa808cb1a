/* autograd.h - differentiable operations, and the graph that they record.
 *
 * Every function here returns a new tensor in the innermost scope unless its comment says
 * otherwise. It records itself if grad mode is on and an input requires grad. If a function takes
 * two tensors, their shapes broadcast as in NumPy and their dtypes promote as in PyTorch. Dims may
 * be negative. Names, argument order, results and grad_fn names are those of PyTorch 2.13
 * (pytorch.org/docs, torch.*). */
#ifndef HEED_AUTOGRAD_H
#define HEED_AUTOGRAD_H

#include "heed/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- grad mode, leaves, gradients */

HD_API bool hd_grad_mode(void);        /* true if this thread records; at first it does */
HD_API bool hd_set_grad_mode(bool on); /* returns the mode before the call */

/* HD_NO_GRAD; turns recording off until the end of the enclosing block. It needs GCC, Clang or
 * TinyCC. With another compiler, call hd_set_grad_mode. */
#define HD_NO_GRAD                                                                                 \
    HD__AT_END(bool HD__JOIN(hd_grad_mode_at_, __LINE__), hd_grad_mode_cleanup,                    \
               hd_set_grad_mode(false), "HD_NO_GRAD", "hd_set_grad_mode")

/* Sets the grad mode to *before. The end of HD_NO_GRAD's block calls it. */
static inline void hd_grad_mode_cleanup(bool *before)
{
    hd_set_grad_mode(*before);
}

HD_API hd_tensor *hd_requires_grad_(hd_tensor *x, bool on); /* x: a float leaf; returns x */
HD_API bool hd_requires_grad(const hd_tensor *x);  /* true if backward computes a gradient for x */
HD_API bool hd_is_leaf(const hd_tensor *x);        /* true unless a recorded call made x */
HD_API hd_tensor *hd_retain_grad(hd_tensor *x);    /* keeps .grad of a non-leaf too; returns x */
HD_API const char *hd_grad_fn(const hd_tensor *x); /* "MulBackward0"; "" for a leaf */

/* Makes a parameter: a leaf that shares x's storage and prints as `Parameter containing:`. */
HD_API hd_tensor *hd_parameter(hd_tensor *x, bool requires_grad);
HD_API bool hd_is_parameter(const hd_tensor *x);

/* Returns a new alias of x.grad, or HD_NONE if x has no gradient. */
HD_API hd_tensor *hd_grad(const hd_tensor *x);
/* x.grad = g. g has x's shape and dtype, is not x itself, and is not copied; HD_NONE drops the
 * gradient. x.grad does not require grad, even if g does.
 *
 * A backward into x does not write to g: it puts a new tensor, the sum, in g's place. There is one
 * exception: if g lies in the .grad of another tensor, as hd_grad(p) does, a backward into p writes
 * there. x need not be a leaf; backward adds to the .grad of a non-leaf only after
 * hd_retain_grad. */
HD_API bool hd_set_grad(hd_tensor *x, hd_tensor *g);
/* xs[i].grad = gs[i] for every i, as hd_set_grad does it. If one gradient is refused, none is
 * set. */
HD_API bool hd_set_grads(const hd_list *xs, const hd_list *gs);

/* ---------------------------------------------------------------- backward */

/* Adds d loss / d leaf to the .grad of every leaf that requires grad. loss has one element. If the
 * call fails, no .grad changes. The walk frees the graph, so that a second walk is HD_GRAD; a walk
 * that fails may have freed a part of it. */
HD_API bool hd_backward(hd_tensor *loss);
/* hd_backward from a y of any shape, with grad as the gradient of y. If grad is HD_NONE, y must
 * have one element, and its gradient is 1. retain_graph keeps the graph for another walk.
 *
 * A hook, or the backward of a user's op, may call backward on another graph, which may have the
 * same leaves. If that backward reaches a node at which gradients of the outer backward wait, it
 * fails with HD_STATE. */
HD_API bool hd_backward_with(hd_tensor *y, hd_tensor *grad, bool retain_graph);

typedef struct hd_grad_options {
    size_t size;
    bool retain_graph; /* false */
    bool allow_unused; /* false: an input is an error if no output depends on it */
} hd_grad_options;

HD_API hd_grad_options hd_grad_defaults(void);
/* Returns d outputs / d inputs, and changes no .grad. The list has one entry for each input; with
 * allow_unused, the entry of an unused input is HD_NONE. grad_outputs holds the gradient of each
 * output. NULL for this list, or HD_NONE for an entry, means ones, and the output must then have
 * one element. o NULL: defaults.
 *
 * It writes nothing to a leaf. So several threads may call it at the same time with the same leaves
 * (the weights of one model), if each has a graph of its own. hd_backward writes to the leaves. */
HD_API hd_list *hd_grad_of(const hd_list *outputs, const hd_list *inputs,
                           const hd_list *grad_outputs, const hd_grad_options *o);

/* A hook of a tensor x. Each backward calls it once, with the summed gradient of x, before the
 * gradient reaches x.grad. It runs in a scope of its own with grad mode off. It returns the
 * gradient to use instead, HD_NONE to leave the gradient as it is, or NULL on failure. The backward
 * also fails if a call inside the hook failed, unless the hook cleared that error, and if the hook
 * leaves scopes open. grad may share its memory with other gradients: writing to it, then or later,
 * is HD_GRAD. A hook may keep it (hd_retain), and change a clone of it. */
typedef hd_tensor *(*hd_hook)(hd_tensor *grad, void *user);
/* adds a hook to x and returns its id, which is above 0; -1 on error */
HD_API int64_t hd_register_hook(hd_tensor *x, hd_hook hook, void *user);
/* removes the hook of x with that id; HD_VALUE if x has none */
HD_API bool hd_remove_hook(hd_tensor *x, int64_t id);

/* Makes this thread call f at the end of each hd_backward and hd_backward_with, before any .grad is
 * written. ok is true if the backward has not failed so far. f also runs for a backward that was
 * given NULL because its forward failed, but not for one that a hook or a user's op calls. If f
 * returns false, the backward fails, and no .grad changes. f runs in a scope of its own, with grad
 * mode off.
 *
 * While a thread has such a function, a leaf's hooks run as soon as its last gradient has arrived,
 * so gradients can be sent while backward goes on. Otherwise they run after all other nodes. NULL:
 * no function (the default). HD_STATE: the thread has one already. */
typedef bool (*hd_backward_end)(bool ok, void *user);
HD_API bool hd_on_backward_end(hd_backward_end f, void *user);
/* For hooks. Returns 1 in a backward at whose end f runs, and 2 or more in a backward that a hook
 * or a user's op has called. Returns 0 in hd_grad_of, which writes no .grad, and outside of any
 * backward. */
HD_API int hd_backward_depth(void);
/* For f alone: x.grad becomes g, as by hd_set_grad, in place of its sum with the gradient that
 * backward has computed. If the backward fails, x.grad does not change. x is a leaf that requires
 * grad, whether it took part in this backward or not. */
HD_API bool hd_set_backward_grad(hd_tensor *x, hd_tensor *g);

/* ---------------------------------------------------------------- users' own ops */

typedef struct hd_ctx hd_ctx; /* one call of an op: the tensors that forward saves for backward */

/* An op: a static table of functions.
 *
 * forward computes the outputs y[] from the inputs x[] and saves the tensors that backward needs;
 * grad mode is off meanwhile.
 *
 * backward computes the gradients gx[] of the inputs from the gradients gy[] of the outputs. Every
 * output has a tensor in gy[], zeros if no gradient arrived; writing to it, then or later, is
 * HD_GRAD. At the start every gx[i] is HD_NONE ("no gradient"). If a gx[i] is NULL at the end, the
 * whole backward fails. Gradients are of first order only.
 *
 * forward and backward also fail if a call inside failed and the error was not cleared, or if they
 * leave scopes open.
 *
 * free releases `user` (hd_ctx_user); it may be NULL. */
typedef struct hd_op {
    size_t size;      /* sizeof(hd_op) */
    const char *name; /* shows as grad_fn=<NameBackward> */
    bool (*forward)(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y);
    void (*backward)(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx);
    void (*free)(hd_ctx *ctx);
} hd_op;

/* Runs op on n inputs. The op reads `user` by hd_ctx_user, and op->free frees it, on failure too. A
 * result that shares an input's memory is copied. */
HD_API hd_tensor *hd_apply_n(const hd_op *op, void *user, int n, hd_tensor *const *inputs);
/* Runs an op with several outputs, and returns the list of them. */
HD_API hd_list *hd_apply_multi_n(const hd_op *op, void *user, int outputs, int n,
                                 hd_tensor *const *inputs);
#define hd_apply(op, user, ...) hd_apply_n(op, user, HD__ITEMS(hd_tensor *, __VA_ARGS__))

HD_API bool hd_save(hd_ctx *ctx, hd_tensor *t);      /* in forward: saves t, any tensor */
HD_API hd_tensor *hd_saved(hd_ctx *ctx, int i);      /* in backward: tensor i; HD_GRAD if changed */
HD_API bool hd_needs_grad(const hd_ctx *ctx, int i); /* true if input i needs a gradient */
HD_API void *hd_ctx_user(const hd_ctx *ctx);         /* the `user` of hd_apply */

/* Compares the gradients of f with central differences. The inputs are float64, and those that
 * require grad are checked. f returns one tensor of a float dtype. The error (HD_GRAD) names the
 * op, the input, the index and both values: "hd_gradcheck: SoftmaxBackward0, input 0 at (1, 2):
 * backward gives 0.5, differences give 0.25". The default generator gets the seed again before each
 * call of f. */
typedef hd_tensor *(*hd_gradcheck_fn)(hd_tensor *const *inputs, int n, void *user);
typedef struct hd_gradcheck_options {
    size_t size;
    double eps, atol, rtol; /* 1e-6, 1e-5, 1e-3 */
    int64_t seed;           /* 0 */
} hd_gradcheck_options;
HD_API hd_gradcheck_options hd_gradcheck_defaults(void);
HD_API bool hd_gradcheck_n(hd_gradcheck_fn f, void *user, int n, hd_tensor *const *inputs,
                           const hd_gradcheck_options *o);

/* ---------------------------------------------------------------- walking the graph */

/* A node is one recorded call, or a leaf that requires grad (its name is "AccumulateGrad"). A
 * backward does not free it. It lives until the tensor that it made, and all tensors computed from
 * it, are released or changed in place. A leaf has the same node for its whole life: n is the node
 * of p if n == hd_grad_node(p). */
typedef struct hd_ctx hd_node;

HD_API const hd_node *hd_grad_node(hd_tensor *x); /* x's node; HD_GRAD if x does not require grad */
HD_API const char *
hd_node_name(const hd_node *n); /* "MulBackward0"; for a user's op the text lives in the scope */
HD_API bool hd_node_is_leaf(const hd_node *n); /* true if its name is "AccumulateGrad" */
HD_API int hd_node_inputs(const hd_node *n);   /* the number of inputs; -1 on error */
HD_API int hd_node_outputs(const hd_node *n);  /* the number of outputs; -1 on error */
/* Returns the node that made input i; *output gets the number of that node's output (NULL: not
 * wanted). HD_GRAD unless hd_needs_grad(n, i). */
HD_API const hd_node *hd_node_input(const hd_node *n, int i, int *output);
/* Returns the sizes of an output; *ndim gets their number. */
HD_API const int64_t *hd_node_sizes(const hd_node *n, int output, int *ndim);

/* ---------------------------------------------------------------- views: share x's storage */

HD_API hd_tensor *hd_view_n(hd_tensor *x, int ndim, const int64_t *sizes); /* one size may be -1 */
HD_API hd_tensor *hd_reshape_n(hd_tensor *x, int ndim,
                               const int64_t *sizes);             /* copies if it must */
HD_API hd_tensor *hd_transpose(hd_tensor *x, int dim0, int dim1); /* swaps two dims */
HD_API hd_tensor *hd_t(hd_tensor *x); /* x.T; x of rank 0, 1 or 2 (for others: hd_transpose) */
HD_API hd_tensor *hd_permute_n(hd_tensor *x, int n, const int64_t *dims); /* x's dims, reordered */
HD_API hd_tensor *hd_expand_n(hd_tensor *x, int ndim, const int64_t *sizes); /* -1: x's own size */
HD_API hd_tensor *hd_flatten(hd_tensor *x, int start_dim, int end_dim);      /* copies if it must */
HD_API hd_tensor *hd_squeeze(hd_tensor *x, int dim);               /* drops dim if its size is 1 */
HD_API hd_tensor *hd_squeeze_all(hd_tensor *x);                    /* drops all dims of size 1 */
HD_API hd_tensor *hd_unsqueeze(hd_tensor *x, int dim);             /* adds a dim of size 1 */
HD_API hd_tensor *hd_select(hd_tensor *x, int dim, int64_t index); /* drops dim */
HD_API hd_tensor *hd_detach(hd_tensor *x);                         /* an alias outside the graph */

/* x[start:stop], x[start:stop:step] with step > 0, and x[start:start + length], along dim. hd_slice
 * and hd_slice_step cut a range to x; hd_narrow refuses a range that does not lie in x. */
HD_API hd_tensor *hd_slice(hd_tensor *x, int dim, int64_t start, int64_t stop);
HD_API hd_tensor *hd_slice_step(hd_tensor *x, int dim, int64_t start, int64_t stop, int64_t step);
HD_API hd_tensor *hd_narrow(hd_tensor *x, int dim, int64_t start, int64_t length);

/* y[i] = x[i - shift] along dim; elements that leave at one end come in at the other; a copy */
HD_API hd_tensor *hd_roll(hd_tensor *x, int64_t shift, int dim);
/* x with its elements in reverse order along each of these dims; a copy */
HD_API hd_tensor *hd_flip_n(hd_tensor *x, int n, const int64_t *dims);

/* x repeated sizes[d] times along each dim d; x gets leading dims of size 1 if there are more
 * numbers than x has dims */
HD_API hd_tensor *hd_repeat_n(hd_tensor *x, int ndim, const int64_t *sizes);
/* each slice of x along dim repeated `repeats` times: (a, b) becomes (a, a, b, b); a copy */
HD_API hd_tensor *hd_repeat_interleave(hd_tensor *x, int64_t repeats, int dim);

/* These cut x into parts along dim. hd_split: parts of `size`, the last of which may be smaller.
 * hd_split_sizes_n: parts of these sizes, whose sum is the dim's size. hd_chunk: at most `chunks`
 * parts of one size, the last of which may be smaller. hd_unbind: all slices, without the dim. */
HD_API hd_list *hd_split(hd_tensor *x, int64_t size, int dim);
HD_API hd_list *hd_split_sizes_n(hd_tensor *x, int n, const int64_t *sizes, int dim);
HD_API hd_list *hd_chunk(hd_tensor *x, int64_t chunks, int dim);
HD_API hd_list *hd_unbind(hd_tensor *x, int dim);

/* x[i, j, ...]: one index for each of the first n dims, HD_ALL for `:`; later dims stay whole. */
HD_API hd_tensor *hd_getitem_n(hd_tensor *x, int n, const int64_t *index);

/* ---------------------------------------------------------------- copies */

HD_API hd_tensor *hd_contiguous(hd_tensor *x); /* row-major; x itself if it is contiguous */
HD_API hd_tensor *hd_clone(hd_tensor *x);      /* a copy; it keeps x's strides if x is dense */
/* x in dtype d; x itself if it has that dtype. To bfloat16 it rounds; if the gradient of x would be
 * recorded, that is HD_GRAD, because bfloat16 has no gradient. */
HD_API hd_tensor *(hd_to)(hd_tensor *x, hd_dtype d);
HD_API hd_tensor *hd_tril(hd_tensor *x, int64_t diagonal); /* 0 above the diagonal, also for NaN */
HD_API hd_tensor *hd_triu(hd_tensor *x, int64_t diagonal); /* 0 below the diagonal, also for NaN */

/* hd_cat puts tensors one after the other along dim; hd_stack puts them side by side in a new
 * dim. */
HD_API hd_tensor *hd_cat_n(int64_t n, hd_tensor *const *xs, int dim);
HD_API hd_tensor *hd_stack_n(int64_t n, hd_tensor *const *xs, int dim);
HD_API hd_tensor *hd_cat_list(const hd_list *xs, int dim);
HD_API hd_tensor *hd_stack_list(const hd_list *xs, int dim);

#define hd_view(x, ...) hd_view_n(x, HD__LIST(__VA_ARGS__))
#define hd_reshape(x, ...) hd_reshape_n(x, HD__LIST(__VA_ARGS__))
#define hd_permute(x, ...) hd_permute_n(x, HD__LIST(__VA_ARGS__))
#define hd_expand(x, ...) hd_expand_n(x, HD__LIST(__VA_ARGS__))
#define hd_repeat(x, ...) hd_repeat_n(x, HD__LIST(__VA_ARGS__))
#define hd_flip(x, ...) hd_flip_n(x, HD__LIST(__VA_ARGS__))
#define hd_getitem(x, ...) hd_getitem_n(x, HD__LIST(__VA_ARGS__))
#define hd_cat(dim, ...) hd_cat_list(hd_list_of(__VA_ARGS__), dim)
#define hd_stack(dim, ...) hd_stack_list(hd_list_of(__VA_ARGS__), dim)
#ifndef __cplusplus
#define hd_to(x, d) (hd_to)(x, HD__DTYPE_SECOND(d))
#endif

/* ---------------------------------------------------------------- arithmetic */

HD_API hd_tensor *hd_add(hd_tensor *a, hd_tensor *b);     /* a + b */
HD_API hd_tensor *hd_sub(hd_tensor *a, hd_tensor *b);     /* a - b; not of two bools */
HD_API hd_tensor *hd_mul(hd_tensor *a, hd_tensor *b);     /* a * b */
HD_API hd_tensor *hd_div(hd_tensor *a, hd_tensor *b);     /* a / b; integers give float32 */
HD_API hd_tensor *hd_pow(hd_tensor *a, hd_tensor *b);     /* a ** b */
HD_API hd_tensor *hd_maximum(hd_tensor *a, hd_tensor *b); /* NaN wins; ties share the gradient */
HD_API hd_tensor *hd_minimum(hd_tensor *a, hd_tensor *b); /* min(a, b), as hd_maximum */
HD_API hd_tensor *(hd_add_scalar)(hd_tensor *x, hd_scalar s);  /* x + s */
HD_API hd_tensor *(hd_sub_scalar)(hd_tensor *x, hd_scalar s);  /* x - s */
HD_API hd_tensor *(hd_mul_scalar)(hd_tensor *x, hd_scalar s);  /* x * s */
HD_API hd_tensor *(hd_div_scalar)(hd_tensor *x, hd_scalar s);  /* x / s */
HD_API hd_tensor *(hd_pow_scalar)(hd_tensor *x, hd_scalar s);  /* x ** s */
HD_API hd_tensor *(hd_rsub_scalar)(hd_tensor *x, hd_scalar s); /* s - x */
HD_API hd_tensor *(hd_rdiv_scalar)(hd_tensor *x, hd_scalar s); /* s / x */
HD_API hd_tensor *hd_square(hd_tensor *x);                     /* x ** 2 */
HD_API hd_tensor *hd_neg(hd_tensor *x);                        /* -x; not of bool */

/* ---------------------------------------------------------------- elementwise functions */

/* These give float32 for integers and bool. exp, log, log1p, tanh, erf, sin and cos differ from the
 * exact value by at most 2 units in the last place, in float32 and in float64. */
HD_API hd_tensor *hd_exp(hd_tensor *x);       /* e^x */
HD_API hd_tensor *hd_log(hd_tensor *x);       /* the natural logarithm */
HD_API hd_tensor *hd_sqrt(hd_tensor *x);      /* the square root */
HD_API hd_tensor *hd_rsqrt(hd_tensor *x);     /* 1 / sqrt(x) */
HD_API hd_tensor *hd_tanh(hd_tensor *x);      /* the hyperbolic tangent */
HD_API hd_tensor *hd_erf(hd_tensor *x);       /* 2/sqrt(pi) integral of exp(-t^2) from 0 to x */
HD_API hd_tensor *hd_sigmoid(hd_tensor *x);   /* 1 / (1 + exp(-x)) */
HD_API hd_tensor *hd_sin(hd_tensor *x);       /* x in radians */
HD_API hd_tensor *hd_cos(hd_tensor *x);       /* x in radians */
HD_API hd_tensor *hd_log1p(hd_tensor *x);     /* log(1 + x), accurate near 0 */
HD_API hd_tensor *hd_relu(hd_tensor *x);      /* max(x, 0); gradient 0 at 0; not of bool */
HD_API hd_tensor *hd_gelu(hd_tensor *x);      /* x Phi(x), Phi of the normal distribution; floats */
HD_API hd_tensor *hd_gelu_tanh(hd_tensor *x); /* 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) */
HD_API hd_tensor *hd_silu(hd_tensor *x);      /* x / (1 + exp(-x)); floats only */
HD_API hd_tensor *hd_logsigmoid(hd_tensor *x); /* log(1 / (1 + exp(-x))); floats only */
HD_API hd_tensor *hd_abs(hd_tensor *x);        /* |x|; gradient 0 at 0 */
/* x, but alpha (exp(x) - 1) where x < 0; the gradient at 0 is alpha; floats only */
HD_API hd_tensor *hd_elu(hd_tensor *x, double alpha);
/* x, but negative_slope x where x <= 0, so the gradient at 0 is negative_slope; floats only */
HD_API hd_tensor *hd_leaky_relu(hd_tensor *x, double negative_slope);
/* log(1 + exp(beta x)) / beta, but x where beta x > threshold; floats only */
HD_API hd_tensor *hd_softplus(hd_tensor *x, double beta, double threshold);
/* x, but min where x < min, and max where x > max; gradient 0 at both; not of bool */
HD_API hd_tensor *hd_hardtanh(hd_tensor *x, double min, double max);

HD_API hd_tensor *(hd_clamp)(hd_tensor *x, hd_scalar lo, hd_scalar hi); /* min(max(x, lo), hi) */
HD_API hd_tensor *(hd_clamp_min)(hd_tensor *x, hd_scalar lo);           /* max(x, lo) */
HD_API hd_tensor *(hd_clamp_max)(hd_tensor *x, hd_scalar hi);           /* min(x, hi) */

/* ---------------------------------------------------------------- choosing by a condition */

/* condition ? a : b; condition bool */
HD_API hd_tensor *hd_where(hd_tensor *condition, hd_tensor *a, hd_tensor *b);
/* mask ? value : x; mask bool, broadcasts to x */
HD_API hd_tensor *(hd_masked_fill)(hd_tensor *x, hd_tensor *mask, hd_scalar value);

#define hd_add_scalar(x, s) (hd_add_scalar)(x, hd_scalar_of(s))
#define hd_sub_scalar(x, s) (hd_sub_scalar)(x, hd_scalar_of(s))
#define hd_mul_scalar(x, s) (hd_mul_scalar)(x, hd_scalar_of(s))
#define hd_div_scalar(x, s) (hd_div_scalar)(x, hd_scalar_of(s))
#define hd_pow_scalar(x, s) (hd_pow_scalar)(x, hd_scalar_of(s))
#define hd_rsub_scalar(x, s) (hd_rsub_scalar)(x, hd_scalar_of(s))
#define hd_rdiv_scalar(x, s) (hd_rdiv_scalar)(x, hd_scalar_of(s))
#define hd_clamp(x, lo, hi) (hd_clamp)(x, hd_scalar_of(lo), hd_scalar_of(hi))
#define hd_clamp_min(x, lo) (hd_clamp_min)(x, hd_scalar_of(lo))
#define hd_clamp_max(x, hi) (hd_clamp_max)(x, hd_scalar_of(hi))
#define hd_masked_fill(x, mask, value) (hd_masked_fill)(x, mask, hd_scalar_of(value))

/* ---------------------------------------------------------------- comparison and logic: bool */

/* These give bool, without a gradient. NaN compares as in IEEE 754. */
HD_API hd_tensor *hd_eq(hd_tensor *a, hd_tensor *b);          /* a == b */
HD_API hd_tensor *hd_ne(hd_tensor *a, hd_tensor *b);          /* a != b */
HD_API hd_tensor *hd_lt(hd_tensor *a, hd_tensor *b);          /* a < b */
HD_API hd_tensor *hd_le(hd_tensor *a, hd_tensor *b);          /* a <= b */
HD_API hd_tensor *hd_gt(hd_tensor *a, hd_tensor *b);          /* a > b */
HD_API hd_tensor *hd_ge(hd_tensor *a, hd_tensor *b);          /* a >= b */
HD_API hd_tensor *(hd_eq_scalar)(hd_tensor *x, hd_scalar s);  /* x == s */
HD_API hd_tensor *(hd_ne_scalar)(hd_tensor *x, hd_scalar s);  /* x != s */
HD_API hd_tensor *(hd_lt_scalar)(hd_tensor *x, hd_scalar s);  /* x < s */
HD_API hd_tensor *(hd_le_scalar)(hd_tensor *x, hd_scalar s);  /* x <= s */
HD_API hd_tensor *(hd_gt_scalar)(hd_tensor *x, hd_scalar s);  /* x > s */
HD_API hd_tensor *(hd_ge_scalar)(hd_tensor *x, hd_scalar s);  /* x >= s */
HD_API hd_tensor *hd_logical_and(hd_tensor *a, hd_tensor *b); /* a and b; non-zero counts as true */
HD_API hd_tensor *hd_logical_or(hd_tensor *a, hd_tensor *b);  /* a or b */
HD_API hd_tensor *hd_logical_xor(hd_tensor *a, hd_tensor *b); /* either a or b */
HD_API hd_tensor *hd_logical_not(hd_tensor *x);               /* not x */
HD_API hd_tensor *hd_isnan(hd_tensor *x);                     /* true where x is NaN */
HD_API hd_tensor *hd_isinf(hd_tensor *x);                     /* true where x is an infinity */
HD_API hd_tensor *hd_isfinite(hd_tensor *x);                  /* true where x is neither */

/* True if a and b have the same shape and values. NaN equals nothing. If a or b is NULL, that is
 * false, and an error. */
HD_API bool hd_equal(hd_tensor *a, hd_tensor *b);
/* True if |a - b| <= atol + rtol |b| everywhere, after broadcasting. Equal infinities are close.
 * equal_nan: so are two NaN. */
HD_API bool hd_allclose(hd_tensor *a, hd_tensor *b, double rtol, double atol, bool equal_nan);

#define hd_eq_scalar(x, s) (hd_eq_scalar)(x, hd_scalar_of(s))
#define hd_ne_scalar(x, s) (hd_ne_scalar)(x, hd_scalar_of(s))
#define hd_lt_scalar(x, s) (hd_lt_scalar)(x, hd_scalar_of(s))
#define hd_le_scalar(x, s) (hd_le_scalar)(x, hd_scalar_of(s))
#define hd_gt_scalar(x, s) (hd_gt_scalar)(x, hd_scalar_of(s))
#define hd_ge_scalar(x, s) (hd_ge_scalar)(x, hd_scalar_of(s))

/* ---------------------------------------------------------------- in place: return x itself */

/* These change x. The result must fit x's shape and dtype category. HD_GRAD: grad mode is on, and x
 * is a leaf that requires grad, a view of such a leaf, or an output of split, chunk or unbind.
 * HD_STATE: x is expanded, or partly overlaps another operand. */
HD_API hd_tensor *hd_add_(hd_tensor *x, hd_tensor *b);         /* x += b */
HD_API hd_tensor *hd_sub_(hd_tensor *x, hd_tensor *b);         /* x -= b */
HD_API hd_tensor *hd_mul_(hd_tensor *x, hd_tensor *b);         /* x *= b */
HD_API hd_tensor *hd_div_(hd_tensor *x, hd_tensor *b);         /* x /= b */
HD_API hd_tensor *(hd_add_scalar_)(hd_tensor *x, hd_scalar s); /* x += s */
HD_API hd_tensor *(hd_sub_scalar_)(hd_tensor *x, hd_scalar s); /* x -= s */
HD_API hd_tensor *(hd_mul_scalar_)(hd_tensor *x, hd_scalar s); /* x *= s */
HD_API hd_tensor *(hd_div_scalar_)(hd_tensor *x, hd_scalar s); /* x /= s */
HD_API hd_tensor *(hd_fill_)(hd_tensor *x, hd_scalar s);       /* x = s */
HD_API hd_tensor *hd_zero_(hd_tensor *x);                      /* x = 0 */
HD_API hd_tensor *hd_copy_(hd_tensor *x, hd_tensor *src);      /* src broadcasts and converts */
HD_API hd_tensor *(hd_masked_fill_)(hd_tensor *x, hd_tensor *mask,
                                    hd_scalar value);                /* x = value where mask */
HD_API hd_tensor *hd_uniform_(hd_tensor *x, double a, double b);     /* draws from [a, b) */
HD_API hd_tensor *hd_normal_(hd_tensor *x, double mean, double std); /* normal(mean, std) */
HD_API hd_tensor *hd_bernoulli_(hd_tensor *x, double p);        /* 1 with probability p, else 0 */
HD_API hd_tensor *hd_exponential_(hd_tensor *x, double lambda); /* density lambda exp(-lambda x) */
/* x[index...] = value. index is as in hd_getitem; value broadcasts and converts. Returns x. */
HD_API hd_tensor *hd_setitem_n(hd_tensor *x, hd_tensor *value, int n, const int64_t *index);
HD_API hd_tensor *(hd_setitem_scalar_n)(hd_tensor *x, hd_scalar value, int n, const int64_t *index);

#define hd_add_scalar_(x, s) (hd_add_scalar_)(x, hd_scalar_of(s))
#define hd_sub_scalar_(x, s) (hd_sub_scalar_)(x, hd_scalar_of(s))
#define hd_mul_scalar_(x, s) (hd_mul_scalar_)(x, hd_scalar_of(s))
#define hd_div_scalar_(x, s) (hd_div_scalar_)(x, hd_scalar_of(s))
#define hd_fill_(x, s) (hd_fill_)(x, hd_scalar_of(s))
#define hd_masked_fill_(x, mask, value) (hd_masked_fill_)(x, mask, hd_scalar_of(value))
#define hd_setitem(x, value, ...) hd_setitem_n(x, value, HD__LIST(__VA_ARGS__))
#define hd_setitem_scalar_n(x, value, ...)                                                         \
    (hd_setitem_scalar_n)(x, hd_scalar_of(value), __VA_ARGS__)
#define hd_setitem_scalar(x, value, ...)                                                           \
    (hd_setitem_scalar_n)(x, hd_scalar_of(value), HD__LIST(__VA_ARGS__))

/* ---------------------------------------------------------------- reductions */

/* A name without an ending reduces over all elements, to 0-d. _dim: over one dim, which stays with
 * size 1 if keepdim. _dims_n: over several dims (n 0: over all). The sum of integers or bool is
 * int64; mean, var and std take floats only. */
HD_API hd_tensor *hd_sum(hd_tensor *x);
HD_API hd_tensor *hd_sum_dim(hd_tensor *x, int dim, bool keepdim);
HD_API hd_tensor *hd_sum_dims_n(hd_tensor *x, bool keepdim, int n, const int64_t *dims);
HD_API hd_tensor *hd_mean(hd_tensor *x);
HD_API hd_tensor *hd_mean_dim(hd_tensor *x, int dim, bool keepdim);
HD_API hd_tensor *hd_mean_dims_n(hd_tensor *x, bool keepdim, int n, const int64_t *dims);
/* sum((x - mean)^2) / (N - correction), correction 0 or 1 */
HD_API hd_tensor *hd_var(hd_tensor *x, int correction);
HD_API hd_tensor *hd_var_dim(hd_tensor *x, int dim, int correction, bool keepdim);
HD_API hd_tensor *hd_var_dims_n(hd_tensor *x, int correction, bool keepdim, int n,
                                const int64_t *dims);
/* the square root of the variance */
HD_API hd_tensor *hd_std(hd_tensor *x, int correction);
HD_API hd_tensor *hd_std_dim(hd_tensor *x, int dim, int correction, bool keepdim);
HD_API hd_tensor *hd_std_dims_n(hd_tensor *x, int correction, bool keepdim, int n,
                                const int64_t *dims);
/* the product; for integers or bool it is int64; the product of no elements is 1 */
HD_API hd_tensor *hd_prod(hd_tensor *x);
HD_API hd_tensor *hd_prod_dim(hd_tensor *x, int dim, bool keepdim);

/* log(sum(exp(x))), without overflow */
HD_API hd_tensor *hd_logsumexp_dim(hd_tensor *x, int dim, bool keepdim);
HD_API hd_tensor *hd_logsumexp_dims_n(hd_tensor *x, bool keepdim, int n, const int64_t *dims);

#define hd_sum_dims(x, keepdim, ...) hd_sum_dims_n(x, keepdim, HD__LIST(__VA_ARGS__))
#define hd_mean_dims(x, keepdim, ...) hd_mean_dims_n(x, keepdim, HD__LIST(__VA_ARGS__))
#define hd_var_dims(x, correction, keepdim, ...)                                                   \
    hd_var_dims_n(x, correction, keepdim, HD__LIST(__VA_ARGS__))
#define hd_std_dims(x, correction, keepdim, ...)                                                   \
    hd_std_dims_n(x, correction, keepdim, HD__LIST(__VA_ARGS__))
#define hd_logsumexp_dims(x, keepdim, ...) hd_logsumexp_dims_n(x, keepdim, HD__LIST(__VA_ARGS__))

/* ---------------------------------------------------------------- extremes, any and all */

/* The largest (max) or smallest (min) element. If one is NaN, the result is NaN. Over all elements,
 * equal extremes share the gradient. Along a dim, the first of them gets all of it, and *indices
 * gets the int64 indices (NULL: not wanted). */
HD_API hd_tensor *hd_max(hd_tensor *x);
HD_API hd_tensor *hd_min(hd_tensor *x);
HD_API hd_tensor *hd_max_dim(hd_tensor *x, int dim, bool keepdim, hd_tensor **indices);
HD_API hd_tensor *hd_min_dim(hd_tensor *x, int dim, bool keepdim, hd_tensor **indices);

/* The int64 index of the largest (argmax) or smallest (argmin) element: into the flattened x, or
 * along dim. Of equal elements, the first one counts. */
HD_API hd_tensor *hd_argmax(hd_tensor *x);
HD_API hd_tensor *hd_argmin(hd_tensor *x);
HD_API hd_tensor *hd_argmax_dim(hd_tensor *x, int dim, bool keepdim);
HD_API hd_tensor *hd_argmin_dim(hd_tensor *x, int dim, bool keepdim);

/* A bool: true if any element (or all elements) of x is not zero, over all of x or along dim. */
HD_API hd_tensor *hd_any(hd_tensor *x);
HD_API hd_tensor *hd_all(hd_tensor *x);
HD_API hd_tensor *hd_any_dim(hd_tensor *x, int dim, bool keepdim);
HD_API hd_tensor *hd_all_dim(hd_tensor *x, int dim, bool keepdim);

/* ---------------------------------------------------------------- softmax and running sums */

HD_API hd_tensor *hd_softmax(hd_tensor *x, int dim);     /* exp(x - max) / sum; floats only */
HD_API hd_tensor *hd_log_softmax(hd_tensor *x, int dim); /* x - logsumexp(x) */
HD_API hd_tensor *hd_cumsum(hd_tensor *x, int dim);      /* y_i = x_0 + ... + x_i */

/* ---------------------------------------------------------------- products */

/* The dot product of (n,) and (n,): 0-d. From 131,072 elements on it is the sum of eight parts, for
 * any number of threads. hd_matmul of two vectors has the same bits. */
HD_API hd_tensor *hd_dot(hd_tensor *a, hd_tensor *b);
HD_API hd_tensor *hd_outer(hd_tensor *a, hd_tensor *b); /* (m,) and (n,): y_ij = a_i b_j */
/* a @ b: (n)(n); (m,k)(k,n); (k)(k,n); (m,k)(k); batches (..., m, k)(..., k, n) broadcast.
 *
 * Each element is one sum in order, except in products of at most 8 rows, or of one column, with a
 * large matrix (over 32,768 elements, no batch, a dense inner dim). There it is several sums. So
 * the bits of a row may depend on the number of rows and on the layout, but never on the number of
 * threads. The same holds for hd_linear. */
HD_API hd_tensor *hd_matmul(hd_tensor *a, hd_tensor *b);
/* x W^T + b: x (..., in), weight (out, in), bias (out,) or HD_NONE; gives (..., out). A weight
 * (in,) with a bias () or HD_NONE gives (...). A weight (out, in) of bfloat16, with x and bias of
 * float32, gives the bits of hd_to(weight, HD_FLOAT32). */
HD_API hd_tensor *hd_linear(hd_tensor *x, hd_tensor *weight, hd_tensor *bias);
/* y[o] = sum over i and j of x1[i] weight[o][i][j] x2[j], + bias[o]: x1 (..., in1), x2 (..., in2)
 * with the same leading sizes, at most 7 dims, weight (out, in1, in2), bias (out,) or HD_NONE;
 * gives (..., out) */
HD_API hd_tensor *hd_bilinear(hd_tensor *x1, hd_tensor *x2, hd_tensor *weight, hd_tensor *bias);

/* ---------------------------------------------------------------- picking elements */

HD_API hd_tensor *hd_index_select(hd_tensor *x, int dim, hd_tensor *index); /* index (n,) int64 */
/* y[i][j] = x[i][index[i][j]] for dim 1, and so on; index int64, of x's rank */
HD_API hd_tensor *hd_gather(hd_tensor *x, int dim, hd_tensor *index);
/* weight[index]: weight (n, d), index (...); gives (..., d). padding_idx in [-n, n): that row gets
 * no gradient; HD_NO_PADDING: there is no such row. A weight of bfloat16 gives float32. */
HD_API hd_tensor *hd_embedding(hd_tensor *index, hd_tensor *weight, int64_t padding_idx);
#define HD_NO_PADDING INT64_MIN
/* The k largest (or smallest) elements along dim, sorted; of equal elements the first comes first.
 * *indices gets their indices (NULL: not wanted). */
HD_API hd_tensor *hd_topk(hd_tensor *x, int64_t k, int dim, bool largest, hd_tensor **indices);
/* x sorted along dim. NaN counts as the largest, and equal elements keep their order. *indices gets
 * the indices that sort x (NULL: not wanted). */
HD_API hd_tensor *hd_sort(hd_tensor *x, int dim, bool descending, hd_tensor **indices);
HD_API hd_tensor *hd_argsort(hd_tensor *x, int dim, bool descending); /* the indices alone, int64 */
/* a copy y of x with y[index[i]] += source[i] along dim, in the order of the index; index (n,)
 * int64; source has x's sizes, but size n at dim */
HD_API hd_tensor *hd_index_add(hd_tensor *x, int dim, hd_tensor *index, hd_tensor *source);
/* a copy y of x with y[index[i][j]][j] = source[i][j] for dim 0, and so on; index int64, of x's
 * rank. Elements of source beyond the index's sizes are left out. Of equal indices the last one
 * counts. Each source[i][j] gets the gradient of its place, even if another element took the
 * place. */
HD_API hd_tensor *hd_scatter(hd_tensor *x, int dim, hd_tensor *index, hd_tensor *source);
/* y[v] is the number of times that v occurs in x (n,) int64, which has no number below 0. y has
 * minlength elements, or the largest number + 1 if that is more. */
HD_API hd_tensor *hd_bincount(hd_tensor *x, int64_t minlength);
HD_API hd_tensor *
hd_nonzero(hd_tensor *x); /* (n, ndim) int64: the index of each non-zero element */
/* index (...) int64 to (..., num_classes) int64; num_classes -1 means the largest index + 1. */
HD_API hd_tensor *hd_one_hot(hd_tensor *index, int64_t num_classes);

/* ---------------------------------------------------------------- random */

HD_API hd_tensor *hd_bernoulli(hd_tensor *p); /* for each element 1 with probability p_i, else 0 */
/* x * mask / (1 - p), p in [0, 1]; the generator's Bernoulli stream draws the mask. The result is x
 * itself if training is false, p is 0 or x is empty. */
HD_API hd_tensor *hd_dropout(hd_tensor *x, double p, bool training);
/* n indices for each row of weights, p >= 0: p (m,) or (r, m); gives (n,) or (r, n) int64. */
HD_API hd_tensor *hd_multinomial(hd_tensor *p, int64_t n, bool replacement);

/* ---------------------------------------------------------------- normalisation */

/* (x - mean) / sqrt(var + eps) * weight + bias over the last n dims, with the biased var. weight
 * and bias have the sizes of these dims or are HD_NONE.
 *
 * Ba, Kiros and Hinton 2016, "Layer Normalization" */
HD_API hd_tensor *hd_layer_norm_n(hd_tensor *x, int n, const int64_t *normalized_shape,
                                  hd_tensor *weight, hd_tensor *bias, double eps);

/* x / sqrt(mean(x^2) + eps) * weight over the last dim; weight (d,) or HD_NONE.
 *
 * Zhang and Sennrich 2019, "Root Mean Square Layer Normalization" */
HD_API hd_tensor *hd_rms_norm(hd_tensor *x, hd_tensor *weight, double eps);

/* ---------------------------------------------------------------- attention */

typedef struct hd_attention_options {
    size_t size;
    hd_tensor *attn_mask; /* HD_NONE; or a mask that broadcasts to (..., l, s): bool, true where
                           * a key takes part, or of q's dtype, added to the scores; not with
                           * is_causal */
    double dropout_p;     /* 0: dropout of the weights, always drawn (there is no training flag) */
    bool is_causal;       /* false; if true, query i sees the keys 0 to i */
    double scale;         /* NAN: 1 / sqrt(d) */
    bool safe_softmax;    /* true: a query that sees no key gives 0; false: NaN, as in hd_softmax */
    bool enable_gqa; /* false; if true, grouped queries, q (..., Hq, l, d), k (..., H, s, d) and
                           * v (..., H, s, dv): Hq is a multiple of H, and query head i takes key
                           * head i / (Hq / H); k and v are not copied */
} hd_attention_options;

HD_API hd_attention_options hd_attention_defaults(void);
/* softmax(q k^T / sqrt(d) + attn_mask) v, with dropout on the weights: q (..., l, d),
 * k (..., s, d), v (..., s, dv), batches broadcast; gives (..., l, dv), laid out in memory like q.
 * The dtype is float32 or float64. attn_mask may be HD_NONE.
 *
 * Memory grows with l + s, in backward too, because the weights are never kept in memory. Scores
 * that is_causal masks are not computed; at the level plain, in float64, and with up to 64 keys
 * they are computed, and then masked. The dropout mask is the one that hd_dropout draws on
 * weights (..., l, s) from the same seed; the native Bernoulli stream keeps one bit for each
 * weight.
 *
 * With up to 64 keys, and in float64, the sums of each query have the order of hd_matmul and
 * hd_softmax, and so the same bits. They differ only where hd_matmul has several sums (see there):
 * for tensors without a batch, at most 8 queries and over 32,768 elements of k. Otherwise the work
 * is done in tiles: results differ from those of the plain ops by rounding, and never depend on the
 * number of threads.
 *
 * The plain ops run instead if attn_mask requires grad, if a tensor is empty, if v has batches that
 * q and k lack, and with up to 64 keys where products are faster.
 *
 * pytorch.org, torch.nn.functional.scaled_dot_product_attention (2.13); Dao et al. 2022,
 * "FlashAttention: Fast and Memory-Efficient Exact Attention" */
HD_API hd_tensor *hd_scaled_dot_product_attention(hd_tensor *q, hd_tensor *k, hd_tensor *v,
                                                  hd_tensor *attn_mask, double dropout_p,
                                                  bool is_causal);
/* hd_scaled_dot_product_attention with options (o NULL: defaults). *weights gets the
 * weights (..., l, s) after dropout, detached (NULL: not wanted). They are computed separately, so
 * the bits of the result do not change. */
HD_API hd_tensor *hd_scaled_dot_product_attention_with(hd_tensor *q, hd_tensor *k, hd_tensor *v,
                                                       const hd_attention_options *o,
                                                       hd_tensor **weights);
/* Turns fused attention of the whole process on or off; it is on at the start. While it is off,
 * hd_scaled_dot_product_attention is composed of plain ops, and the attention classes of nn.h run
 * the lines of the notebooks, with all weights in memory, as under
 * torch.nn.attention.sdpa_kernel(SDPBackend.MATH). Use it to compare both ways, or to look at that
 * graph. */
HD_API void hd_set_fused_attention(bool on);
HD_API bool hd_fused_attention(void);

/* ---------------------------------------------------------------- rotary positions */

typedef struct hd_rotary_options {
    size_t size;
    double theta;           /* 10000: pair i turns by theta^(-2 i / head_dim) at each position */
    double factor;          /* 1: the factor by which long waves are stretched */
    double low_freq_factor; /* 1: waves longer than original / low are stretched */
    /* 4: waves shorter than original / high stay, and waves between the two are mixed */
    double high_freq_factor;
    int64_t original_max_position_embeddings; /* 0: no wave is stretched, and factor is 1 (type
                                               * "default"); above 0: the length for the type
                                               * "llama3" */
} hd_rotary_options;

HD_API hd_rotary_options hd_rotary_defaults(void);
/* Makes the float32 tables *cos and *sin (length, head_dim) for the positions 0, 1, ..., as
 * transformers computes them. Both halves of a row are equal. head_dim is even. o NULL: defaults.
 * For positions from n on, pass hd_narrow(cos, 0, n, t). On failure both are NULL. */
HD_API bool hd_rotary_tables(int64_t head_dim, int64_t length, const hd_rotary_options *o,
                             hd_tensor **cos, hd_tensor **sin);
/* x cos + (-x2, x1) sin, where x1 and x2 are the halves of x along its last dim:
 * x (..., t, head_dim), cos and sin (t, head_dim), all of one float dtype. If each text of a batch
 * has its own positions, the tables have a batch too, which broadcasts to that of x:
 * (b, 1, t, head_dim) for x (b, heads, t, head_dim).
 *
 * Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding", in the half
 * layout of transformers' Llama */
HD_API hd_tensor *hd_rotary(hd_tensor *x, hd_tensor *cos, hd_tensor *sin);

/* ---------------------------------------------------------------- losses */

/* The result of a loss: the mean of the elements' losses, their sum, or all of them. */
typedef enum hd_reduction { HD_MEAN = 0, HD_SUM = 1, HD_REDUCE_NONE = 2 } hd_reduction;

HD_API hd_tensor *hd_mse_loss(hd_tensor *x, hd_tensor *target); /* mean((x - target)^2) */
/* (x - target)^2: the mean, the sum or all of them, which r chooses */
HD_API hd_tensor *hd_mse_loss_with(hd_tensor *x, hd_tensor *target, hd_reduction r);
HD_API hd_tensor *hd_l1_loss(hd_tensor *x, hd_tensor *target); /* mean(|x - target|) */
/* |x - target|: the mean, the sum or all of them, which r chooses */
HD_API hd_tensor *hd_l1_loss_with(hd_tensor *x, hd_tensor *target, hd_reduction r);
/* the mean of d^2 / 2 where d = |x - target| is below 1, and of d - 1/2 elsewhere */
HD_API hd_tensor *hd_smooth_l1_loss(hd_tensor *x, hd_tensor *target);
/* d^2 / (2 beta) where d = |x - target| is below beta, and d - beta / 2 elsewhere, reduced as r
 * says; beta 0 is hd_l1_loss */
HD_API hd_tensor *hd_smooth_l1_loss_with(hd_tensor *x, hd_tensor *target, double beta,
                                         hd_reduction r);
/* mean(target (log target - x)): x holds log-probabilities, as hd_log_softmax gives them, and
 * target holds probabilities. The mean is over all elements, as in PyTorch. The divergence of a
 * batch of rows is the sum over all elements, as HD_SUM gives it, divided by the number of rows. */
HD_API hd_tensor *hd_kl_div(hd_tensor *x, hd_tensor *target);
/* hd_kl_div, reduced as r says; log_target: target holds log-probabilities, too */
HD_API hd_tensor *hd_kl_div_with(hd_tensor *x, hd_tensor *target, bool log_target, hd_reduction r);
/* mean(-target log x - (1 - target) log(1 - x)): x and target hold probabilities and have one shape
 * and dtype; a logarithm below -100 counts as -100 */
HD_API hd_tensor *hd_binary_cross_entropy(hd_tensor *x, hd_tensor *target);
/* hd_binary_cross_entropy, reduced as r says */
HD_API hd_tensor *hd_binary_cross_entropy_with(hd_tensor *x, hd_tensor *target, hd_reduction r);
/* hd_binary_cross_entropy of hd_sigmoid(x), without overflow and for any numbers in target */
HD_API hd_tensor *hd_binary_cross_entropy_with_logits(hd_tensor *x, hd_tensor *target);
/* hd_binary_cross_entropy_with_logits, reduced as r says */
HD_API hd_tensor *hd_binary_cross_entropy_with_logits_with(hd_tensor *x, hd_tensor *target,
                                                           hd_reduction r);

typedef struct hd_cross_entropy_options {
    size_t size;
    int64_t ignore_index;   /* -100: targets with this value are left out */
    hd_reduction reduction; /* HD_MEAN */
} hd_cross_entropy_options;

HD_API hd_cross_entropy_options hd_cross_entropy_defaults(void);
/* The mean of -log softmax(x)[target] over all targets that are not ignore_index. x holds the
 * logits, the numbers before any softmax. Its classes lie in dim 1, or in dim 0 if x has one dim:
 * x (c,), (n, c), (n, c, d1, ...), target int64 (), (n,), (n, d1, ...) */
HD_API hd_tensor *hd_cross_entropy(hd_tensor *x, hd_tensor *target);
HD_API hd_tensor *hd_cross_entropy_with(hd_tensor *x, hd_tensor *target,
                                        const hd_cross_entropy_options *o);
/* The mean of -x[target] over all targets that are not ignore_index: x holds log-probabilities, as
 * hd_log_softmax gives them. Shapes are those of hd_cross_entropy. */
HD_API hd_tensor *hd_nll_loss(hd_tensor *x, hd_tensor *target);
/* hd_nll_loss with options (o NULL: defaults) */
HD_API hd_tensor *hd_nll_loss_with(hd_tensor *x, hd_tensor *target,
                                   const hd_cross_entropy_options *o);

/* ---------------------------------------------------------------- debuggers */

/* The offsets, in bytes, of the fields of a node, for a debugger; hd_debug_layout has those of a
 * tensor. New fields come at the end. */
typedef struct hd_debug_node_layout_table {
    uint32_t size;                /* sizeof this table */
    uint32_t op, op_name;         /* pointer to the op; in the op: text */
    uint32_t params, user_name;   /* of the op "user": pointer to a pointer to hd_op; its name */
    uint32_t requires_grad;       /* of a leaf: one byte */
    uint32_t grad;                /* of a leaf: a tensor, or NULL */
    uint32_t n_in, n_out;         /* int32_t each */
    uint32_t edges, edge_size;    /* array of n_in edges; bytes of one */
    uint32_t edge_node;           /* in an edge: a node, or NULL where no gradient is needed */
    uint32_t outs, out_size;      /* array of n_out outputs; bytes of one */
    uint32_t out_ndim, out_sizes; /* in an output: one byte, int64_t[8] */
} hd_debug_node_layout_table;

/* The table of this build of the library. */
HD_API extern const hd_debug_node_layout_table hd_debug_node_layout;

#ifdef __cplusplus
}
#endif
#endif
