/* autograd.h - differentiable operations (ops), and the graph that they record.
 *
 * Unless its comment says otherwise, every function here returns a new tensor in the innermost
 * scope. The graph records the call if grad mode is on and an input requires grad. If a function
 * takes two tensors, their shapes broadcast as in NumPy and their dtypes promote as in PyTorch.
 * Dims may be negative. Names, argument order, results and grad_fn names are those of PyTorch 2.13
 * (pytorch.org/docs, torch.*). */
#ifndef HEED_AUTOGRAD_H
#define HEED_AUTOGRAD_H

#include "heed/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- grad mode, leaves, gradients */

HD_API bool hd_grad_mode(void);        /* true (the default) if this thread records calls */
HD_API bool hd_set_grad_mode(bool on); /* sets the mode; returns the mode before the call */

/* HD_NO_GRAD; turns recording off until the end of the enclosing block. It needs GCC, Clang or
 * TinyCC. With another compiler, call hd_set_grad_mode. */
#define HD_NO_GRAD                                                                                 \
    HD__AT_END(bool HD__JOIN(hd_grad_mode_at_, __LINE__), hd_grad_mode_cleanup,                    \
               hd_set_grad_mode(false), "HD_NO_GRAD", "hd_set_grad_mode")

/* Sets the grad mode to *before. The end of HD_NO_GRAD's block calls this function. */
static inline void hd_grad_mode_cleanup(bool *before)
{
    hd_set_grad_mode(*before);
}

/* sets whether x, a leaf of a float dtype, requires grad; returns x */
HD_API hd_tensor *hd_requires_grad_(hd_tensor *x, bool on);
HD_API bool hd_requires_grad(const hd_tensor *x); /* true if backward computes a gradient for x */
HD_API bool hd_is_leaf(const hd_tensor *x);       /* true unless a recorded call made x */
/* makes backward set x.grad even if x is not a leaf; returns x */
HD_API hd_tensor *hd_retain_grad(hd_tensor *x);
/* the name of the node of x, such as "MulBackward0"; "" for a leaf */
HD_API const char *hd_grad_fn(const hd_tensor *x);

/* Makes a parameter: a leaf that shares x's storage and prints as `Parameter containing:`. */
HD_API hd_tensor *hd_parameter(hd_tensor *x, bool requires_grad);
HD_API bool hd_is_parameter(const hd_tensor *x); /* true if hd_parameter made x */

/* Returns x.grad as a new tensor that shares its memory, or HD_NONE if x has no gradient. */
HD_API hd_tensor *hd_grad(const hd_tensor *x);
/* Sets x.grad to g, without a copy. g must have x's shape and dtype and must not be x itself.
 * HD_NONE removes the gradient. x.grad does not require grad, even if g does.
 *
 * A later backward does not write to g: it replaces g in x.grad with a new tensor, the sum of g and
 * the new gradient. There is one exception: if g shares memory with the .grad of another tensor p,
 * as hd_grad(p) does, a backward that reaches p writes to this memory. x need not be a leaf; but
 * backward adds to the .grad of a non-leaf only after hd_retain_grad. */
HD_API bool hd_set_grad(hd_tensor *x, hd_tensor *g);
/* Calls hd_set_grad(xs[i], gs[i]) for every i. If one of these calls would fail, sets no gradient
 * and returns false. HD_VALUE: the lists have different lengths. */
HD_API bool hd_set_grads(const hd_list *xs, const hd_list *gs);

/* ---------------------------------------------------------------- backward */

/* Adds d loss / d leaf to the .grad of every leaf of loss's graph that requires grad. loss has one
 * element. If the call fails, no .grad changes. The call frees the tensors that the graph saved, so
 * a second backward through the same graph fails with HD_GRAD. A call that fails may have freed
 * some of these tensors. */
HD_API bool hd_backward(hd_tensor *loss);
/* Does the same as hd_backward for a tensor y of any shape, and takes grad as the gradient of y. If
 * grad is HD_NONE, y must have one element, and its gradient is 1. retain_graph keeps the graph for
 * another backward.
 *
 * A hook, or the backward of a user's op, may call backward on another graph, even one with the
 * same leaves. This inner backward fails with HD_STATE if it reaches a node that has received
 * gradients of the outer backward but has not run yet. */
HD_API bool hd_backward_with(hd_tensor *y, hd_tensor *grad, bool retain_graph);

typedef struct hd_grad_options {
    size_t size;
    bool retain_graph; /* default false; if true, another backward may use the graph */
    /* default false: hd_grad_of fails if there is an input on which no output depends */
    bool allow_unused;
} hd_grad_options;

HD_API hd_grad_options hd_grad_defaults(void);
/* Returns d outputs / d inputs, and changes no .grad. The list has one entry for each input. With
 * allow_unused, the entry of an input on which no output depends is HD_NONE. grad_outputs holds the
 * gradient of each output. If it is NULL, or its entry for an output is HD_NONE, the output must
 * have one element, and its gradient is 1. o NULL: the defaults.
 *
 * Unlike hd_backward, it writes nothing to a leaf. So several threads may call it at the same time
 * with the same leaves (the weights of one model), if each thread has a graph of its own. */
HD_API hd_list *hd_grad_of(const hd_list *outputs, const hd_list *inputs,
                           const hd_list *grad_outputs, const hd_grad_options *o);

/* A hook of a tensor x. Each backward calls it once, with the summed gradient of x, before the
 * gradient reaches x.grad. The hook runs in a scope of its own with grad mode off. It returns the
 * gradient to use instead, HD_NONE to leave the gradient as it is, or NULL on failure. The backward
 * also fails if a call inside the hook failed and the hook did not clear the error, or if the hook
 * leaves a scope open. grad may share its memory with other gradients, so writing to grad fails
 * with HD_GRAD, even after the hook has returned. A hook may keep grad (hd_retain) or change a
 * clone of it. */
typedef hd_tensor *(*hd_hook)(hd_tensor *grad, void *user);
/* adds a hook to x; returns the hook's id, which is above 0, or -1 on error; HD_GRAD if x does not
 * require grad */
HD_API int64_t hd_register_hook(hd_tensor *x, hd_hook hook, void *user);
/* removes the hook of x with that id; HD_VALUE if x has none */
HD_API bool hd_remove_hook(hd_tensor *x, int64_t id);

/* Makes this thread call f at the end of each hd_backward and hd_backward_with, before any .grad is
 * written. f gets ok, which is true if the backward has not failed so far. f is also called if the
 * backward got NULL because the forward had failed. It is not called for a backward that a hook or
 * a user's op starts. If f returns false, the backward fails, and no .grad changes. f runs in a
 * scope of its own, with grad mode off.
 *
 * While a thread has such a function, the hooks of a leaf run as soon as the leaf's gradient is
 * complete, so a program can send gradients while backward still runs. Otherwise these hooks run
 * after all other nodes. f NULL, the default: no function. HD_STATE: the thread already has a
 * function. */
typedef bool (*hd_backward_end)(bool ok, void *user);
HD_API bool hd_on_backward_end(hd_backward_end f, void *user);
/* Tells a hook in which backward it runs. Returns 1 in a backward that the program called, at whose
 * end the function of hd_on_backward_end runs, and 2 or more in a backward that a hook or a user's
 * op called. Returns 0 in hd_grad_of, which writes no .grad, and outside of any backward. */
HD_API int hd_backward_depth(void);
/* Makes the backward that is ending set x.grad to g, as hd_set_grad does, instead of adding the
 * gradient that it has computed. Call it only in the function of hd_on_backward_end; elsewhere it
 * fails with HD_STATE. If the backward fails, x.grad does not change. x must be a leaf that
 * requires grad (HD_GRAD); it need not have taken part in this backward. */
HD_API bool hd_set_backward_grad(hd_tensor *x, hd_tensor *g);

/* ---------------------------------------------------------------- users' own ops */

typedef struct hd_ctx hd_ctx; /* one call of an op, with the tensors that forward saves */

/* An op: a static table of functions.
 *
 * forward computes the outputs y[] from the inputs x[] and saves the tensors that backward needs.
 * It runs with grad mode off. It returns true, or false if it fails; then hd_apply fails, too.
 *
 * backward computes the gradients gx[] of the inputs from the gradients gy[] of the outputs. gy[]
 * has one tensor for each output; this tensor holds zeros if no gradient reached the output.
 * Writing to it fails with HD_GRAD, even after backward has returned. At the start every gx[i] is
 * HD_NONE ("no gradient"). If a gx[i] is NULL at the end, the whole backward fails. Nothing records
 * backward, so there are no second derivatives.
 *
 * forward and backward also fail if a call inside them failed and they did not clear the error, or
 * if they leave a scope open.
 *
 * free releases `user` (hd_ctx_user); it may be NULL. */
typedef struct hd_op {
    size_t size;      /* sizeof(hd_op) */
    const char *name; /* a name "Name" shows as grad_fn=<NameBackward> */
    bool (*forward)(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y);
    void (*backward)(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx);
    void (*free)(hd_ctx *ctx);
} hd_op;

/* Runs op on n inputs and returns its output. The op reads `user` with hd_ctx_user, and op->free
 * frees it, even if the call fails. An output that shares memory with an input is copied. */
HD_API hd_tensor *hd_apply_n(const hd_op *op, void *user, int n, hd_tensor *const *inputs);
/* Does the same as hd_apply_n for an op with `outputs` outputs, and returns the list of them. */
HD_API hd_list *hd_apply_multi_n(const hd_op *op, void *user, int outputs, int n,
                                 hd_tensor *const *inputs);
#define hd_apply(op, user, ...) hd_apply_n(op, user, HD__ITEMS(hd_tensor *, __VA_ARGS__))

HD_API bool hd_save(hd_ctx *ctx, hd_tensor *t); /* called in forward: saves t for backward */
/* called in backward: returns saved tensor i, counted from 0; HD_GRAD if the program has changed it
 * in place after hd_save */
HD_API hd_tensor *hd_saved(hd_ctx *ctx, int i);
HD_API bool hd_needs_grad(const hd_ctx *ctx, int i); /* true if input i needs a gradient */
HD_API void *hd_ctx_user(const hd_ctx *ctx);         /* the `user` of hd_apply */

/* Compares the gradients of f with central differences, for all inputs that require grad. The
 * inputs are float64. f returns one tensor of a float dtype. If a gradient is wrong, the call fails
 * with HD_GRAD, and the message names the op, the input, the index and both values: "hd_gradcheck:
 * SoftmaxBackward0, input 0 at (1, 2): backward gives 0.5, differences give 0.25". Before each call
 * of f, the default generator is seeded with o->seed. */
typedef hd_tensor *(*hd_gradcheck_fn)(hd_tensor *const *inputs, int n, void *user);
typedef struct hd_gradcheck_options {
    size_t size;
    /* default 1e-6, 1e-5, 1e-3; the step of the differences, the absolute and the relative
     * tolerance */
    double eps, atol, rtol;
    int64_t seed; /* default 0; the seed of the default generator at each call of f */
} hd_gradcheck_options;
HD_API hd_gradcheck_options hd_gradcheck_defaults(void);
HD_API bool hd_gradcheck_n(hd_gradcheck_fn f, void *user, int n, hd_tensor *const *inputs,
                           const hd_gradcheck_options *o);

/* ---------------------------------------------------------------- walking the graph */

/* A node of the graph stands for one recorded call, or for a leaf that requires grad; a leaf's node
 * has the name "AccumulateGrad". A backward does not free the node. It lives until its result, and
 * all tensors that were computed from the result, are released or changed in place. A leaf has the
 * same node for its whole life, so n is the node of a leaf p if n == hd_grad_node(p). */
typedef struct hd_ctx hd_node;

HD_API const hd_node *hd_grad_node(hd_tensor *x); /* x's node; HD_GRAD if x does not require grad */
/* n's name, such as "MulBackward0"; for a user's op the innermost scope owns the text */
HD_API const char *hd_node_name(const hd_node *n);
HD_API bool hd_node_is_leaf(const hd_node *n); /* true if its name is "AccumulateGrad" */
HD_API int hd_node_inputs(const hd_node *n);   /* the number of inputs; -1 on error */
HD_API int hd_node_outputs(const hd_node *n);  /* the number of outputs; -1 on error */
/* Returns the node that made input i of n. *output gets the index of this input among that node's
 * outputs (NULL: not wanted). HD_GRAD: input i needs no gradient (hd_needs_grad). */
HD_API const hd_node *hd_node_input(const hd_node *n, int i, int *output);
/* Returns the sizes of one of n's outputs; *ndim gets their number. */
HD_API const int64_t *hd_node_sizes(const hd_node *n, int output, int *ndim);

/* ---------------------------------------------------------------- views: share x's storage */

/* a view of x with these sizes; one of them may be -1, which stands for the size that fits */
HD_API hd_tensor *hd_view_n(hd_tensor *x, int ndim, const int64_t *sizes);
/* a view of x with these sizes, or a copy if x's strides allow no view; one size may be -1 */
HD_API hd_tensor *hd_reshape_n(hd_tensor *x, int ndim, const int64_t *sizes);
HD_API hd_tensor *hd_transpose(hd_tensor *x, int dim0, int dim1); /* swaps two dims */
HD_API hd_tensor *hd_t(hd_tensor *x);                             /* x.T, for x of at most 2 dims */
/* a view of x with its dims in the order of `dims` */
HD_API hd_tensor *hd_permute_n(hd_tensor *x, int n, const int64_t *dims);
/* a view of x in which dims of size 1 get larger sizes; -1 keeps a size; new dims come first */
HD_API hd_tensor *hd_expand_n(hd_tensor *x, int ndim, const int64_t *sizes);
/* joins the dims start_dim to end_dim into one; copies x if its strides allow no view */
HD_API hd_tensor *hd_flatten(hd_tensor *x, int start_dim, int end_dim);
HD_API hd_tensor *hd_squeeze(hd_tensor *x, int dim);   /* removes dim if its size is 1 */
HD_API hd_tensor *hd_squeeze_all(hd_tensor *x);        /* removes all dims of size 1 */
HD_API hd_tensor *hd_unsqueeze(hd_tensor *x, int dim); /* adds `dim`, whose size is 1 */
/* a view of x at this index of dim; the view does not have this dim */
HD_API hd_tensor *hd_select(hd_tensor *x, int dim, int64_t index);
/* a view of x that does not belong to the graph */
HD_API hd_tensor *hd_detach(hd_tensor *x);

/* These functions return views of a range of dim: x[start:stop], x[start:stop:step] with step > 0,
 * and x[start:start + length]. hd_slice and hd_slice_step leave out indices beyond the size of dim,
 * as Python does; hd_narrow fails if there are such indices. */
HD_API hd_tensor *hd_slice(hd_tensor *x, int dim, int64_t start, int64_t stop);
HD_API hd_tensor *hd_slice_step(hd_tensor *x, int dim, int64_t start, int64_t stop, int64_t step);
HD_API hd_tensor *hd_narrow(hd_tensor *x, int dim, int64_t start, int64_t length);

/* a copy y with y[i] = x[i - shift] along dim; elements that leave dim at one end enter at the
 * other end */
HD_API hd_tensor *hd_roll(hd_tensor *x, int64_t shift, int dim);
/* a copy of x whose elements are in reverse order along each of these dims */
HD_API hd_tensor *hd_flip_n(hd_tensor *x, int n, const int64_t *dims);

/* x repeated sizes[d] times along each dim d; if there are more sizes than x has dims, x first gets
 * leading dims of size 1 */
HD_API hd_tensor *hd_repeat_n(hd_tensor *x, int ndim, const int64_t *sizes);
/* a copy of x in which each slice along dim is repeated `repeats` times: (a, b) becomes (a, a, b,
 * b) */
HD_API hd_tensor *hd_repeat_interleave(hd_tensor *x, int64_t repeats, int dim);

/* These functions cut x into parts along dim and return the list of them. hd_split makes parts with
 * `size` indices each. hd_split_sizes_n makes parts of these n sizes, whose sum must be the size of
 * dim. hd_chunk makes at most `chunks` parts of one size. The last part of hd_split and hd_chunk
 * may be smaller. hd_unbind makes one part for each index of dim, without dim. */
HD_API hd_list *hd_split(hd_tensor *x, int64_t size, int dim);
HD_API hd_list *hd_split_sizes_n(hd_tensor *x, int n, const int64_t *sizes, int dim);
HD_API hd_list *hd_chunk(hd_tensor *x, int64_t chunks, int dim);
HD_API hd_list *hd_unbind(hd_tensor *x, int dim);

/* Returns x[i, j, ...]. There is one index for each of the first n dims; HD_ALL stands for `:`. The
 * other dims stay whole. */
HD_API hd_tensor *hd_getitem_n(hd_tensor *x, int n, const int64_t *index);

/* ---------------------------------------------------------------- copies */

HD_API hd_tensor *hd_contiguous(hd_tensor *x); /* a row-major copy; x itself if it is contiguous */
HD_API hd_tensor *hd_clone(hd_tensor *x);      /* a dense copy; keeps the order of dims in memory */
/* Returns x converted to dtype d, or x itself if it has this dtype. Conversion to bfloat16 rounds.
 * It fails with HD_GRAD if the call would be recorded, because bfloat16 has no gradient. */
HD_API hd_tensor *(hd_to)(hd_tensor *x, hd_dtype d);
/* Return a copy of x with zeros above (tril) or below (triu) a diagonal, even in place of NaN.
 * diagonal 0 is the main one, 1 is the one above it, and -1 the one below it. */
HD_API hd_tensor *hd_tril(hd_tensor *x, int64_t diagonal);
HD_API hd_tensor *hd_triu(hd_tensor *x, int64_t diagonal);

/* hd_cat joins tensors along dim; hd_stack joins them along a new dim. */
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

HD_API hd_tensor *hd_add(hd_tensor *a, hd_tensor *b); /* a + b */
HD_API hd_tensor *hd_sub(hd_tensor *a, hd_tensor *b); /* a - b; HD_DTYPE if a or b is bool */
HD_API hd_tensor *hd_mul(hd_tensor *a, hd_tensor *b); /* a * b */
HD_API hd_tensor *hd_div(hd_tensor *a, hd_tensor *b); /* a / b; integers give float32 */
HD_API hd_tensor *hd_pow(hd_tensor *a, hd_tensor *b); /* a ** b; HD_DTYPE for two bools */
/* the larger element; NaN if one of the two is NaN; equal elements share the gradient */
HD_API hd_tensor *hd_maximum(hd_tensor *a, hd_tensor *b);
/* the smaller element; NaN if one of the two is NaN; equal elements share the gradient */
HD_API hd_tensor *hd_minimum(hd_tensor *a, hd_tensor *b);
HD_API hd_tensor *(hd_add_scalar)(hd_tensor *x, hd_scalar s);  /* x + s */
HD_API hd_tensor *(hd_sub_scalar)(hd_tensor *x, hd_scalar s);  /* x - s; HD_DTYPE for bool */
HD_API hd_tensor *(hd_mul_scalar)(hd_tensor *x, hd_scalar s);  /* x * s */
HD_API hd_tensor *(hd_div_scalar)(hd_tensor *x, hd_scalar s);  /* x / s */
HD_API hd_tensor *(hd_pow_scalar)(hd_tensor *x, hd_scalar s);  /* x ** s */
HD_API hd_tensor *(hd_rsub_scalar)(hd_tensor *x, hd_scalar s); /* s - x; HD_DTYPE for bool */
HD_API hd_tensor *(hd_rdiv_scalar)(hd_tensor *x, hd_scalar s); /* s / x */
HD_API hd_tensor *hd_square(hd_tensor *x);                     /* x ** 2 */
HD_API hd_tensor *hd_neg(hd_tensor *x);                        /* -x; HD_DTYPE for bool */

/* ---------------------------------------------------------------- elementwise functions */

/* For integers and bool, the results are float32, but relu, abs and hardtanh of integers are int64.
 * A function whose comment says "not for bool" fails with HD_DTYPE if x is bool. A function whose
 * comment says "floats only" fails with HD_DTYPE unless x has a float dtype. exp, log, log1p, tanh,
 * erf, sin and cos differ from the exact value by at most 2 units in the last place, in float32 and
 * in float64. */
HD_API hd_tensor *hd_exp(hd_tensor *x);     /* e^x */
HD_API hd_tensor *hd_log(hd_tensor *x);     /* the natural logarithm */
HD_API hd_tensor *hd_sqrt(hd_tensor *x);    /* the square root */
HD_API hd_tensor *hd_rsqrt(hd_tensor *x);   /* 1 / sqrt(x) */
HD_API hd_tensor *hd_tanh(hd_tensor *x);    /* the hyperbolic tangent */
HD_API hd_tensor *hd_erf(hd_tensor *x);     /* 2 / sqrt(pi) * integral of exp(-t^2), 0 to x */
HD_API hd_tensor *hd_sigmoid(hd_tensor *x); /* 1 / (1 + exp(-x)) */
HD_API hd_tensor *hd_sin(hd_tensor *x);     /* the sine of x in radians */
HD_API hd_tensor *hd_cos(hd_tensor *x);     /* the cosine of x in radians */
HD_API hd_tensor *hd_log1p(hd_tensor *x);   /* log(1 + x), accurate near 0 */
HD_API hd_tensor *hd_relu(hd_tensor *x);    /* max(x, 0); gradient 0 at 0; not for bool */
HD_API hd_tensor *hd_gelu(hd_tensor *x);    /* x * P(Z <= x), Z normal(0, 1); floats only */
/* 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))); floats only */
HD_API hd_tensor *hd_gelu_tanh(hd_tensor *x);
HD_API hd_tensor *hd_silu(hd_tensor *x);       /* x / (1 + exp(-x)); floats only */
HD_API hd_tensor *hd_logsigmoid(hd_tensor *x); /* log(1 / (1 + exp(-x))); floats only */
HD_API hd_tensor *hd_abs(hd_tensor *x);        /* |x|; gradient 0 at 0; not for bool */
/* alpha * (exp(x) - 1) where x < 0, else x; the gradient at 0 is alpha; floats only */
HD_API hd_tensor *hd_elu(hd_tensor *x, double alpha);
/* negative_slope * x where x <= 0, else x; the gradient at 0 is negative_slope; floats only */
HD_API hd_tensor *hd_leaky_relu(hd_tensor *x, double negative_slope);
/* x where beta * x > threshold, else log(1 + exp(beta * x)) / beta; floats only */
HD_API hd_tensor *hd_softplus(hd_tensor *x, double beta, double threshold);
/* x limited to [min, max]; the gradient is 0 at min and at max; not for bool */
HD_API hd_tensor *hd_hardtanh(hd_tensor *x, double min, double max);

HD_API hd_tensor *(hd_clamp)(hd_tensor *x, hd_scalar lo, hd_scalar hi); /* min(max(x, lo), hi) */
HD_API hd_tensor *(hd_clamp_min)(hd_tensor *x, hd_scalar lo);           /* max(x, lo) */
HD_API hd_tensor *(hd_clamp_max)(hd_tensor *x, hd_scalar hi);           /* min(x, hi) */

/* ---------------------------------------------------------------- choosing by a condition */

/* a where condition is true, else b; condition is bool */
HD_API hd_tensor *hd_where(hd_tensor *condition, hd_tensor *a, hd_tensor *b);
/* value where mask is true, else x; mask is bool and broadcasts to x */
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

/* The results are bool, without a gradient. NaN compares as in IEEE 754. */
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
HD_API hd_tensor *hd_logical_xor(hd_tensor *a, hd_tensor *b); /* a or b, but not both */
HD_API hd_tensor *hd_logical_not(hd_tensor *x);               /* not x */
HD_API hd_tensor *hd_isnan(hd_tensor *x);                     /* true where x is NaN */
HD_API hd_tensor *hd_isinf(hd_tensor *x);                     /* true where x is an infinity */
/* true where x is neither NaN nor infinite */
HD_API hd_tensor *hd_isfinite(hd_tensor *x);

/* Returns true if a and b have the same shape and values. NaN equals nothing. If a or b is NULL,
 * the result is false, and an error is set. */
HD_API bool hd_equal(hd_tensor *a, hd_tensor *b);
/* Returns true if |a - b| <= atol + rtol * |b| everywhere, after broadcasting. Equal infinities are
 * close. With equal_nan, two NaN are close, too. */
HD_API bool hd_allclose(hd_tensor *a, hd_tensor *b, double rtol, double atol, bool equal_nan);

#define hd_eq_scalar(x, s) (hd_eq_scalar)(x, hd_scalar_of(s))
#define hd_ne_scalar(x, s) (hd_ne_scalar)(x, hd_scalar_of(s))
#define hd_lt_scalar(x, s) (hd_lt_scalar)(x, hd_scalar_of(s))
#define hd_le_scalar(x, s) (hd_le_scalar)(x, hd_scalar_of(s))
#define hd_gt_scalar(x, s) (hd_gt_scalar)(x, hd_scalar_of(s))
#define hd_ge_scalar(x, s) (hd_ge_scalar)(x, hd_scalar_of(s))

/* ---------------------------------------------------------------- in place: return x itself */

/* These functions change x and return it. The result must have x's shape. Its dtype must not be of
 * a higher category than x's (bool < integer < float). HD_GRAD: grad mode is on, and x is a leaf
 * that requires grad, a view of such a leaf, or an output of split, chunk or unbind. HD_STATE: x is
 * expanded, or partly overlaps another operand. */
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
/* x = src; src broadcasts to x's shape and is converted to x's dtype */
HD_API hd_tensor *hd_copy_(hd_tensor *x, hd_tensor *src);
HD_API hd_tensor *(hd_masked_fill_)(hd_tensor *x, hd_tensor *mask,
                                    hd_scalar value);            /* x = value where mask is true */
HD_API hd_tensor *hd_uniform_(hd_tensor *x, double a, double b); /* uniform in [a, b) */
HD_API hd_tensor *hd_normal_(hd_tensor *x, double mean, double std); /* normal(mean, std) */
HD_API hd_tensor *hd_bernoulli_(hd_tensor *x, double p); /* 1 with probability p, else 0 */
/* draws with the density lambda * exp(-lambda * t) for t > 0 */
HD_API hd_tensor *hd_exponential_(hd_tensor *x, double lambda);
/* Sets x[index...] to value and returns x. index is as in hd_getitem; value broadcasts to
 * x[index...] and is converted to x's dtype. */
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

/* A function without _dim in its name reduces x over all elements; the result is 0-d. A function
 * with _dim reduces x over one dim; if keepdim is true, this dim stays, with size 1. A function
 * with _dims_n reduces x over n dims, or over all dims if n is 0. The sum of integers or bool is
 * int64; mean, var and std take floats only. */
HD_API hd_tensor *hd_sum(hd_tensor *x);
HD_API hd_tensor *hd_sum_dim(hd_tensor *x, int dim, bool keepdim);
HD_API hd_tensor *hd_sum_dims_n(hd_tensor *x, bool keepdim, int n, const int64_t *dims);
HD_API hd_tensor *hd_mean(hd_tensor *x);
HD_API hd_tensor *hd_mean_dim(hd_tensor *x, int dim, bool keepdim);
HD_API hd_tensor *hd_mean_dims_n(hd_tensor *x, bool keepdim, int n, const int64_t *dims);
/* the variance: sum((x - mean)^2) / (N - correction) for N elements; correction is 0 or 1 */
HD_API hd_tensor *hd_var(hd_tensor *x, int correction);
HD_API hd_tensor *hd_var_dim(hd_tensor *x, int dim, int correction, bool keepdim);
HD_API hd_tensor *hd_var_dims_n(hd_tensor *x, int correction, bool keepdim, int n,
                                const int64_t *dims);
/* the standard deviation, which is the square root of the variance */
HD_API hd_tensor *hd_std(hd_tensor *x, int correction);
HD_API hd_tensor *hd_std_dim(hd_tensor *x, int dim, int correction, bool keepdim);
HD_API hd_tensor *hd_std_dims_n(hd_tensor *x, int correction, bool keepdim, int n,
                                const int64_t *dims);
/* the product of the elements; int64 for integers and bool; 1 if there are no elements */
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

/* These functions return the largest (max) or smallest (min) element; NaN if an element is NaN. In
 * hd_max and hd_min, all elements that are equal to the result share its gradient. In hd_max_dim
 * and hd_min_dim, the first of these elements gets the whole gradient, and *indices gets its int64
 * index (NULL: not wanted). */
HD_API hd_tensor *hd_max(hd_tensor *x);
HD_API hd_tensor *hd_min(hd_tensor *x);
HD_API hd_tensor *hd_max_dim(hd_tensor *x, int dim, bool keepdim, hd_tensor **indices);
HD_API hd_tensor *hd_min_dim(hd_tensor *x, int dim, bool keepdim, hd_tensor **indices);

/* These functions return the int64 index of the largest (argmax) or smallest (argmin) element, in
 * the flattened x or along dim. Of equal elements, the first one counts. */
HD_API hd_tensor *hd_argmax(hd_tensor *x);
HD_API hd_tensor *hd_argmin(hd_tensor *x);
HD_API hd_tensor *hd_argmax_dim(hd_tensor *x, int dim, bool keepdim);
HD_API hd_tensor *hd_argmin_dim(hd_tensor *x, int dim, bool keepdim);

/* These functions return a bool tensor, over all of x or along dim: true where any element is not
 * zero (any), or where no element is zero (all). */
HD_API hd_tensor *hd_any(hd_tensor *x);
HD_API hd_tensor *hd_all(hd_tensor *x);
HD_API hd_tensor *hd_any_dim(hd_tensor *x, int dim, bool keepdim);
HD_API hd_tensor *hd_all_dim(hd_tensor *x, int dim, bool keepdim);

/* ---------------------------------------------------------------- softmax and running sums */

/* exp(x) / sum(exp(x)) along dim, without overflow; floats only */
HD_API hd_tensor *hd_softmax(hd_tensor *x, int dim);
/* x - log(sum(exp(x))) along dim, without overflow; floats only */
HD_API hd_tensor *hd_log_softmax(hd_tensor *x, int dim);
HD_API hd_tensor *hd_cumsum(hd_tensor *x, int dim); /* y_i = x_0 + ... + x_i along dim */

/* ---------------------------------------------------------------- products */

/* Returns the dot product of two vectors (n,), a 0-d tensor. From 131,072 elements on, the product
 * is the sum of eight parts, for any number of threads. hd_matmul of two vectors gives the same
 * bits. */
HD_API hd_tensor *hd_dot(hd_tensor *a, hd_tensor *b);
HD_API hd_tensor *hd_outer(hd_tensor *a, hd_tensor *b); /* a (m,), b (n,): y_ij = a_i * b_j */
/* Returns a @ b for the shapes (n,) and (n,); (m, k) and (k, n); (k,) and (k, n); (m, k) and (k,);
 * and batches (..., m, k) and (..., k, n), which broadcast.
 *
 * Each element is a single sum in the order of k, with one exception: if a has at most 8 rows and b
 * is large, or if b has one column and a is large, each element is added up from several sums. A
 * matrix is large here if it has over 32,768 elements, no batch and a dense inner dim. So the bits
 * of a row may depend on the number of rows and on the layout, but never on the number of threads.
 * The same holds for hd_linear. */
HD_API hd_tensor *hd_matmul(hd_tensor *a, hd_tensor *b);
/* Returns x @ weight^T + bias: x (..., in), weight (out, in), bias (out,) or HD_NONE; the result is
 * (..., out). If weight is (in,), bias is 0-d or HD_NONE, and the result is (...). weight (out, in)
 * may be bfloat16, with x and bias of float32; the result then has the same bits as with
 * hd_to(weight, HD_FLOAT32). */
HD_API hd_tensor *hd_linear(hd_tensor *x, hd_tensor *weight, hd_tensor *bias);
/* Returns y (..., out), where y[o] = bias[o] + sum over i and j of x1[i] * weight[o][i][j] * x2[j].
 * x1 is (..., in1) and x2 (..., in2), with equal leading sizes and at most 7 dims; weight is (out,
 * in1, in2), and bias (out,) or HD_NONE. */
HD_API hd_tensor *hd_bilinear(hd_tensor *x1, hd_tensor *x2, hd_tensor *weight, hd_tensor *bias);

/* ---------------------------------------------------------------- picking elements */

/* the slices of x along dim at these indices; index is int64 (n,) */
HD_API hd_tensor *hd_index_select(hd_tensor *x, int dim, hd_tensor *index);
/* y[i][j] = x[i][index[i][j]] for dim 1 of a matrix; index is int64, with as many dims as x */
HD_API hd_tensor *hd_gather(hd_tensor *x, int dim, hd_tensor *index);
/* Returns weight[index]: weight (n, d), index (...); the result is (..., d). Row padding_idx of
 * weight, in [-n, n), gets no gradient; HD_NO_PADDING: there is no such row. If weight is bfloat16,
 * the result is float32. */
HD_API hd_tensor *hd_embedding(hd_tensor *index, hd_tensor *weight, int64_t padding_idx);
#define HD_NO_PADDING INT64_MIN
/* Returns the k largest elements along dim, or the k smallest if largest is false. The largest, or
 * the smallest, comes first; equal elements keep their order. *indices gets their indices (NULL:
 * not wanted). */
HD_API hd_tensor *hd_topk(hd_tensor *x, int64_t k, int dim, bool largest, hd_tensor **indices);
/* Returns x sorted along dim. NaN counts as the largest number, and equal elements keep their
 * order. *indices gets the indices that sort x (NULL: not wanted). */
HD_API hd_tensor *hd_sort(hd_tensor *x, int dim, bool descending, hd_tensor **indices);
/* Returns the int64 indices that sort x along dim, as hd_sort does. */
HD_API hd_tensor *hd_argsort(hd_tensor *x, int dim, bool descending);
/* a copy y of x with y[index[i]] += source[i] along dim, for i = 0, 1, ...; index is int64 (n,),
 * and source has x's sizes, except size n at dim */
HD_API hd_tensor *hd_index_add(hd_tensor *x, int dim, hd_tensor *index, hd_tensor *source);
/* Returns a copy y of x. For dim 0 of a matrix, y[index[i][j]][j] = source[i][j]. index is int64,
 * with as many dims as x. Elements of source beyond the sizes of index are ignored. If several
 * elements go to one place of y, the last one counts; but each of them gets the gradient of this
 * place. */
HD_API hd_tensor *hd_scatter(hd_tensor *x, int dim, hd_tensor *index, hd_tensor *source);
/* Returns y (int64), where y[v] is the number of times that v occurs in x. x is int64 (n,), and
 * none of its numbers is negative. y has as many elements as the larger of minlength and the
 * largest number + 1. */
HD_API hd_tensor *hd_bincount(hd_tensor *x, int64_t minlength);
HD_API hd_tensor *
hd_nonzero(hd_tensor *x); /* int64 (n, ndim): the indices of x's n non-zero elements */
/* Returns int64 (..., num_classes) for index, int64 (...): 1 at each index, 0 elsewhere.
 * num_classes -1 means the largest index + 1. */
HD_API hd_tensor *hd_one_hot(hd_tensor *index, int64_t num_classes);

/* ---------------------------------------------------------------- random */

HD_API hd_tensor *hd_bernoulli(hd_tensor *p); /* 1 with probability p, else 0, for each element */
/* Returns x * mask / (1 - p), with p in [0, 1]. mask has x's shape, and each of its elements is 0
 * with probability p, else 1. The thread's generator draws mask from its Bernoulli stream
 * (hd_bernoulli_stream). Returns x itself if training is false, p is 0 or x is empty. */
HD_API hd_tensor *hd_dropout(hd_tensor *x, double p, bool training);
/* Draws n indices for each row of p, which holds weights >= 0. With replacement, a row may draw an
 * index several times. For p (m,) or (r, m) the result is int64 (n,) or (r, n). */
HD_API hd_tensor *hd_multinomial(hd_tensor *p, int64_t n, bool replacement);

/* ---------------------------------------------------------------- normalisation */

/* Returns (x - mean) / sqrt(var + eps) * weight + bias. mean and var are those of the last n dims;
 * var is the biased variance. weight and bias have the sizes of these dims or are HD_NONE.
 *
 * Ba, Kiros and Hinton 2016, "Layer Normalization" */
HD_API hd_tensor *hd_layer_norm_n(hd_tensor *x, int n, const int64_t *normalized_shape,
                                  hd_tensor *weight, hd_tensor *bias, double eps);

/* Returns x / sqrt(mean(x^2) + eps) * weight, with the mean over the last dim; weight is (d,) or
 * HD_NONE.
 *
 * Zhang and Sennrich 2019, "Root Mean Square Layer Normalization" */
HD_API hd_tensor *hd_rms_norm(hd_tensor *x, hd_tensor *weight, double eps);

/* ---------------------------------------------------------------- attention */

typedef struct hd_attention_options {
    size_t size;
    /* default HD_NONE: no mask; else a mask that broadcasts to (..., l, s). A bool mask is true
     * where a query sees a key. A mask of q's dtype is added to the scores. With is_causal,
     * HD_NONE is required. */
    hd_tensor *attn_mask;
    double dropout_p; /* default 0; the weights' dropout probability, even in evaluation */
    bool is_causal;   /* default false; if true, query i sees only the keys 0 to i */
    double scale;     /* default NAN: the scores are q @ k^T / sqrt(d); else q @ k^T * scale */
    /* default true: the output of a query that sees no key is 0; false: it is NaN */
    bool safe_softmax;
    /* default false; if true, several query heads share a key head. The shapes are q (..., Hq,
     * l, d), k (..., H, s, d) and v (..., H, s, dv). Hq is a multiple of H, and query head i
     * uses key head i / (Hq / H). k and v are not copied. */
    bool enable_gqa;
} hd_attention_options;

HD_API hd_attention_options hd_attention_defaults(void);
/* Returns softmax(q @ k^T / sqrt(d) + attn_mask) @ v, with dropout on the weights, which are the
 * result of the softmax: q (..., l, d), k (..., s, d), v (..., s, dv). Batches broadcast. The
 * result is (..., l, dv); in memory its dims have the order of q's. The dtype is float32 or
 * float64. attn_mask may be HD_NONE.
 *
 * The memory that the call needs grows with l + s, even in backward, because the weights are never
 * kept. With HD_BERNOULLI_NATIVE, however, dropout keeps one bit for each weight. The dropout mask
 * is the same that hd_dropout draws for weights (..., l, s) from the same seed. Scores that
 * is_causal masks are not computed, with three exceptions: at the CPU level plain, in float64, and
 * with up to 64 keys.
 *
 * In float64, or with up to 64 keys, the result has the bits of hd_matmul and hd_softmax, because
 * its sums have the same order. There is one exception: for tensors without a batch, with at most 8
 * queries and over 32,768 elements of k, hd_matmul uses several sums for an element. In all other
 * cases the work is done in tiles (at the CPU level plain: query by query), and the result may
 * differ from that of hd_matmul and hd_softmax by rounding. It never depends on the number of
 * threads.
 *
 * In four cases heed calls hd_matmul, hd_softmax and other ops instead: attn_mask requires grad, a
 * tensor is empty, v has batches that q and k lack, or there are at most 64 keys and those ops are
 * faster.
 *
 * pytorch.org, torch.nn.functional.scaled_dot_product_attention (2.13); Dao et al. 2022,
 * "FlashAttention: Fast and Memory-Efficient Exact Attention" */
HD_API hd_tensor *hd_scaled_dot_product_attention(hd_tensor *q, hd_tensor *k, hd_tensor *v,
                                                  hd_tensor *attn_mask, double dropout_p,
                                                  bool is_causal);
/* Does the same as hd_scaled_dot_product_attention, with options (o NULL: the defaults). *weights
 * gets the weights (..., l, s) after dropout, detached from the graph (NULL: not wanted). They are
 * computed separately, so the bits of the result do not change. */
HD_API hd_tensor *hd_scaled_dot_product_attention_with(hd_tensor *q, hd_tensor *k, hd_tensor *v,
                                                       const hd_attention_options *o,
                                                       hd_tensor **weights);
/* Turn fused attention on or off for the whole process; it is on at the start. While it is off,
 * hd_scaled_dot_product_attention and the attention classes of nn.h call hd_matmul, hd_softmax and
 * other ops. All weights are then in memory, as under
 * torch.nn.attention.sdpa_kernel(SDPBackend.MATH). Turn it off to compare both computations, or to
 * look at the graph of the separate ops. hd_fused_attention returns true if it is on. */
HD_API void hd_set_fused_attention(bool on);
HD_API bool hd_fused_attention(void);

/* ---------------------------------------------------------------- rotary positions */

/* hd_rotary rotates pairs of elements: pair i has the elements i and i + head_dim / 2. Below, the
 * wave of pair i is the number of positions in which the pair makes a full turn:
 * 2 * pi * theta^(2 * i / head_dim). */
typedef struct hd_rotary_options {
    size_t size;
    /* default 10000; at position p, pair i is rotated by the angle p * theta^(-2 * i / head_dim) */
    double theta;
    double factor; /* default 1; long waves are multiplied by this factor */
    /* default 1; waves longer than original_max_position_embeddings / low_freq_factor count as
     * long */
    double low_freq_factor;
    /* default 4; waves shorter than original_max_position_embeddings / high_freq_factor keep
     * their length; those between short and long waves are interpolated */
    double high_freq_factor;
    /* default 0: the type "default": no wave changes, and factor must be 1; above 0: the type
     * "llama3" */
    int64_t original_max_position_embeddings;
} hd_rotary_options;

HD_API hd_rotary_options hd_rotary_defaults(void);
/* Makes the float32 tables *cos and *sin (length, head_dim) for the positions 0, 1, ..., as
 * transformers computes them. Both halves of a row are equal. head_dim is even. o NULL: the
 * defaults. For t positions from n on, pass hd_narrow(cos, 0, n, t) to hd_rotary, and the same part
 * of sin. On failure *cos and *sin are NULL. */
HD_API bool hd_rotary_tables(int64_t head_dim, int64_t length, const hd_rotary_options *o,
                             hd_tensor **cos, hd_tensor **sin);
/* Returns x * cos + (-x2, x1) * sin, where x1 and x2 are the halves of x along its last dim: x
 * (..., t, head_dim), cos and sin (t, head_dim), all of one float dtype. If each text of a batch
 * has its own positions, cos and sin have a batch, too, which broadcasts to that of x: (b, 1, t,
 * head_dim) for x (b, heads, t, head_dim).
 *
 * Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding", in the half
 * layout of transformers' Llama */
HD_API hd_tensor *hd_rotary(hd_tensor *x, hd_tensor *cos, hd_tensor *sin);

/* ---------------------------------------------------------------- losses */

/* The result of a loss function: the mean of the losses of all elements, their sum, or the tensor
 * of all these losses. */
typedef enum hd_reduction { HD_MEAN = 0, HD_SUM = 1, HD_REDUCE_NONE = 2 } hd_reduction;

HD_API hd_tensor *hd_mse_loss(hd_tensor *x, hd_tensor *target); /* mean((x - target)^2) */
/* (x - target)^2; r chooses the mean, the sum or the whole tensor */
HD_API hd_tensor *hd_mse_loss_with(hd_tensor *x, hd_tensor *target, hd_reduction r);
HD_API hd_tensor *hd_l1_loss(hd_tensor *x, hd_tensor *target); /* mean(|x - target|) */
/* |x - target|; r chooses the mean, the sum or the whole tensor */
HD_API hd_tensor *hd_l1_loss_with(hd_tensor *x, hd_tensor *target, hd_reduction r);
/* with d = |x - target|: the mean of d^2 / 2 where d < 1, and of d - 1/2 elsewhere */
HD_API hd_tensor *hd_smooth_l1_loss(hd_tensor *x, hd_tensor *target);
/* with d = |x - target|: d^2 / (2 * beta) where d < beta, and d - beta / 2 elsewhere, reduced as r
 * says; with beta 0 it equals hd_l1_loss_with */
HD_API hd_tensor *hd_smooth_l1_loss_with(hd_tensor *x, hd_tensor *target, double beta,
                                         hd_reduction r);
/* Returns mean(target * (log(target) - x)). x holds log-probabilities, as hd_log_softmax returns
 * them, and target holds probabilities. The mean is over all elements, as in PyTorch. For the mean
 * divergence of a batch of rows, divide the sum (hd_kl_div_with, HD_SUM) by the number of rows. */
HD_API hd_tensor *hd_kl_div(hd_tensor *x, hd_tensor *target);
/* the losses of hd_kl_div, reduced as r says; log_target: target holds log-probabilities, too */
HD_API hd_tensor *hd_kl_div_with(hd_tensor *x, hd_tensor *target, bool log_target, hd_reduction r);
/* Returns mean(-target * log(x) - (1 - target) * log(1 - x)). x and target hold probabilities and
 * have the same shape and dtype. A logarithm below -100 counts as -100. */
HD_API hd_tensor *hd_binary_cross_entropy(hd_tensor *x, hd_tensor *target);
/* the losses of hd_binary_cross_entropy, reduced as r says */
HD_API hd_tensor *hd_binary_cross_entropy_with(hd_tensor *x, hd_tensor *target, hd_reduction r);
/* hd_binary_cross_entropy of hd_sigmoid(x), without overflow; target may hold any numbers */
HD_API hd_tensor *hd_binary_cross_entropy_with_logits(hd_tensor *x, hd_tensor *target);
/* the losses of hd_binary_cross_entropy_with_logits, reduced as r says */
HD_API hd_tensor *hd_binary_cross_entropy_with_logits_with(hd_tensor *x, hd_tensor *target,
                                                           hd_reduction r);

typedef struct hd_cross_entropy_options {
    size_t size;
    int64_t ignore_index;   /* default -100; targets with this value are ignored */
    hd_reduction reduction; /* default HD_MEAN: the result is the mean of the losses */
} hd_cross_entropy_options;

HD_API hd_cross_entropy_options hd_cross_entropy_defaults(void);
/* Returns the mean of -log softmax(x)[target] over all targets that are not ignore_index. x holds
 * the logits, which are the numbers before any softmax. The classes are in dim 1 of x, or in dim 0
 * if x has one dim: x (c,), (n, c) or (n, c, d1, ...), target int64 (), (n,) or (n, d1, ...).
 * hd_cross_entropy_with takes options (o NULL: the defaults). */
HD_API hd_tensor *hd_cross_entropy(hd_tensor *x, hd_tensor *target);
HD_API hd_tensor *hd_cross_entropy_with(hd_tensor *x, hd_tensor *target,
                                        const hd_cross_entropy_options *o);
/* Returns the mean of -x[target] over all targets that are not ignore_index. x holds
 * log-probabilities, as hd_log_softmax returns them. Shapes are those of hd_cross_entropy. */
HD_API hd_tensor *hd_nll_loss(hd_tensor *x, hd_tensor *target);
/* does the same as hd_nll_loss, with options (o NULL: the defaults) */
HD_API hd_tensor *hd_nll_loss_with(hd_tensor *x, hd_tensor *target,
                                   const hd_cross_entropy_options *o);

/* ---------------------------------------------------------------- debuggers */

/* A table for debuggers: the offsets, in bytes, of the fields of a node. hd_debug_layout has those
 * of a tensor. The comments give the types of these fields. New fields come at the end. */
typedef struct hd_debug_node_layout_table {
    uint32_t size;                /* sizeof this table */
    uint32_t op, op_name;         /* a pointer to the op; in the op: a pointer to its name */
    uint32_t params, user_name;   /* for the op "user": hd_op **; in hd_op: a pointer to its name */
    uint32_t requires_grad;       /* of a leaf: one byte */
    uint32_t grad;                /* of a leaf: a tensor, or NULL */
    uint32_t n_in, n_out;         /* int32_t each */
    uint32_t edges, edge_size;    /* a pointer to n_in edges; the bytes of one edge */
    uint32_t edge_node;           /* in an edge: a node, or NULL where no gradient is needed */
    uint32_t outs, out_size;      /* a pointer to n_out outputs; the bytes of one output */
    uint32_t out_ndim, out_sizes; /* in an output: one byte, int64_t[8] */
} hd_debug_node_layout_table;

/* The table of this build of the library. */
HD_API extern const hd_debug_node_layout_table hd_debug_node_layout;

#ifdef __cplusplus
}
#endif
#endif
