/* nn.h - modules with parameters, buffers, children and a forward; layers, attention and blocks.
 *
 * A module is a struct whose first member is an hd_module. Its parameters, buffers and children are
 * fields of that struct, and the struct's constructor registers the address of each field. heed
 * keeps no other copy: every function uses the current values of the fields, and skips a field that
 * the program has set to NULL. A child has one parent, which frees it. hd_module_free frees a
 * module without a parent; no scope owns modules. Names, state_dict order, initial weights and
 * summaries are those of PyTorch's classes. A module in evaluation mode may run on several threads
 * at the same time. */
#ifndef HEED_NN_H
#define HEED_NN_H

#include "heed/autograd.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- types */

typedef struct hd_module hd_module;

/* The class of a module. A program defines one as a static constant with HD_MODULE_TYPE. */
typedef struct hd_module_type {
    size_t size;                                          /* sizeof(hd_module_type) */
    const char *name;                                     /* the name, as "CausalAttention" */
    size_t instance_size;                                 /* the size of the module's struct */
    hd_tensor *(*forward)(hd_module *self, hd_tensor *x); /* hd_forward calls it; may be NULL */
    void (*free)(hd_module *self); /* frees the fields that are not registered; or NULL */
    /* writes the module's options for its summary, such as `p=0.5, inplace=False`; or NULL */
    void (*extra)(const hd_module *self, char *text, size_t n);
} hd_module_type;

/* Defines a class: its struct, its name and its functions forward, free and extra. free and extra
 * may be left out, as in HD_MODULE_TYPE(my_layer, "MyLayer", forward). */
#ifdef __cplusplus
#define HD_MODULE_TYPE(struct_type, class_name, ...)                                               \
    hd__cxx_module_type<struct_type>(class_name, __VA_ARGS__)
extern "C++" {
template <class T>
constexpr hd_module_type
hd__cxx_module_type(const char *name, hd_tensor *(*forward)(hd_module *, hd_tensor *),
                    void (*free_others)(hd_module *) = nullptr,
                    void (*extra)(const hd_module *, char *, size_t) = nullptr)
{
    return {sizeof(hd_module_type), name, sizeof(T), forward, free_others, extra};
}
}
#else
/* With a designator (.size), compilers do not warn of the fields that are left out. */
#define HD_MODULE_TYPE(struct_type, class_name, ...)                                               \
    {                                                                                              \
        .size = sizeof(hd_module_type), class_name, sizeof(struct_type), __VA_ARGS__               \
    }
#endif

/* The first member of every module's struct. hd_module_new sets it, and a program never writes to
 * it. */
struct hd_module {
    const hd_module_type *type; /* the class of the module */
    struct hd__module *priv;    /* heed's own data */
};

/* ---------------------------------------------------------------- making and freeing */

/* Makes a module of this class in training mode. The members of its struct that follow the
 * hd_module are zero. */
HD_API hd_module *hd_module_new(const hd_module_type *type);

/* These functions register t under a name without dots, retain it, and set *field to it. field must
 * point to a field of m's struct. If t is HD_NONE, as the bias of a Linear without one, *field
 * becomes HD_NONE and no name is registered. If t is NULL, the call fails. A parameter is a leaf of
 * a float dtype that hd_parameter made; one of bfloat16 must not require grad. A persistent buffer
 * is part of the state_dict. After a failure *field is HD_NONE, and hd_module_ready will fail. */
HD_API bool hd_register_parameter(hd_module *m, const char *name, hd_tensor **field, hd_tensor *t);
HD_API bool hd_register_buffer(hd_module *m, const char *name, hd_tensor **field, hd_tensor *t,
                               bool persistent);
/* Registers a child under a name without dots and sets *field to it. m owns child from then on. On
 * failure child is freed, unless it already had a parent or would contain itself; then it stays as
 * it was. */
HD_API bool hd_register_module(hd_module *m, const char *name, hd_module **field, hd_module *child);

/* The last call of a constructor. Returns m. If a registration failed, frees m and its children and
 * returns NULL. */
HD_API hd_module *hd_module_ready(hd_module *m);
/* Frees m and its children. Takes NULL. HD_STATE: m is a child. */
HD_API void hd_module_free(hd_module *m);

/* Sets this thread's init mode and returns the mode before the call. If the mode is on, which is
 * the default, the constructors below draw initial weights, as PyTorch's classes do. If the mode is
 * off, they set all parameters to 0. */
HD_API bool hd_set_init_mode(bool on);

/* HD_NO_INIT; turns the init mode off until the end of the enclosing block. The constructors below
 * then draw nothing and set all parameters to 0, even those of norms. This saves time if the
 * program loads weights afterwards. Buffers get their usual values, and the functions hd_init_...
 * work as usual. HD_NO_INIT needs GCC, Clang or TinyCC. With another compiler, call
 * hd_set_init_mode. */
#define HD_NO_INIT                                                                                 \
    HD__AT_END(bool HD__JOIN(hd_init_mode_at_, __LINE__), hd_init_mode_cleanup,                    \
               hd_set_init_mode(false), "HD_NO_INIT", "hd_set_init_mode")

/* Sets the init mode to *before. The end of HD_NO_INIT's block calls this function. */
static inline void hd_init_mode_cleanup(bool *before)
{
    hd_set_init_mode(*before);
}

/* ---------------------------------------------------------------- running */

/* Runs the forward of m's class in a scope of its own and moves the result to the enclosing scope.
 * Returns NULL if any call in the forward failed, even one whose result was not used, and the
 * forward did not clear the error. Messages of calls in the forward begin with the class, as in
 * "CausalAttention: hd_matmul: ...". */
HD_API hd_tensor *hd_forward(hd_module *m, hd_tensor *x);

/* A class that has several inputs or outputs needs a function of its own in place of hd_forward:
 *     if (!hd_forward_begin(m)) {
 *         return NULL;
 *     }
 *     y = hd_matmul(q, k); // whatever the class computes
 *     return hd_forward_end(m, y);
 * The function must not return between the two calls. hd_forward_begin returns false on failure.
 * hd_forward_end moves y to the enclosing scope and returns it, or NULL as hd_forward does. */
HD_API bool hd_forward_begin(hd_module *m);
HD_API hd_tensor *hd_forward_end(hd_module *m, hd_tensor *y);

/* sets training mode (on is true) or evaluation mode for m and all modules inside it */
HD_API bool hd_module_train(hd_module *m, bool on);
HD_API bool hd_module_eval(hd_module *m);           /* calls hd_module_train(m, false) */
HD_API bool hd_module_training(const hd_module *m); /* true in training mode, the default */

/* ---------------------------------------------------------------- what is inside */

/* Modules may be nested as deeply as memory allows; only hd_module_summary has a limit, 1000
 * levels. Names of parameters get longer with each level: for n parameters in n nested modules, a
 * function that lists names needs memory and time of the order n^2. hd_module_parameters makes no
 * names and needs time of the order n. */

/* Returns the list of the parameters, each tensor once, in PyTorch's order. */
HD_API hd_list *hd_module_parameters(const hd_module *m);
/* Return the parameters, or the buffers, under their dotted names ("heads.0.W_query.weight"), each
 * tensor once. Free the result with hd_dict_free. */
HD_API hd_dict *hd_module_named_parameters(const hd_module *m);
HD_API hd_dict *hd_module_named_buffers(const hd_module *m);
/* Return the module, the parameter or the buffer of m with this dotted name: "heads.0" is a module,
 * and "out_proj.weight" is a parameter. HD_VALUE: m has none with this name. */
HD_API hd_module *hd_module_get(hd_module *m, const char *name);
HD_API hd_tensor *hd_module_get_parameter(hd_module *m, const char *name);
HD_API hd_tensor *hd_module_get_buffer(hd_module *m, const char *name);
/* Replaces the parameter of m with this dotted name by t, as `m.NAME = t` does in PyTorch. t must
 * have the shape and dtype of the old parameter. There is one exception: bfloat16 may replace
 * float32, and float32 may replace bfloat16. This is for frozen weights of a Linear or an
 * Embedding:
 *   hd_module_set_parameter(m, name, hd_parameter(hd_to(hd_detach(w), HD_BFLOAT16), false))
 * If t is another parameter of m, the two are tied: the state_dict has both names, lists of
 * parameters have only the first name, and the gradient is the sum over both uses. */
HD_API bool hd_module_set_parameter(hd_module *m, const char *name, hd_tensor *t);
/* Puts child in the place of the module of m with this dotted name ("blocks.0.att"), and frees the
 * old module. m owns child from then on. On failure child is freed, unless it already had a parent
 * or would contain itself; then it stays as it was. */
HD_API bool hd_module_set(hd_module *m, const char *name, hd_module *child);
/* Removes the module with this dotted name from m and returns it. The caller frees it, or makes it
 * the child of another module. The field that held it becomes NULL. In a Sequential or ModuleList
 * its place stays empty, and the other modules keep their numbers: a Sequential skips the empty
 * place, and hd_module_list_get fails for it with HD_STATE. hd_module_set can fill the place
 * again. */
HD_API hd_module *hd_module_take(hd_module *m, const char *name);
/* Calls f for m, with the name "", and for all modules inside m, parents first. Stops when f
 * returns false. Returns the result of the last call of f. f may free or replace any module inside
 * m. f is not called for a freed module. If f was called for a module that was replaced later, f is
 * not called for the replacement. */
HD_API bool hd_module_visit(hd_module *m, bool (*f)(hd_module *m, const char *name, void *user),
                            void *user);

/* Returns the state_dict of m: detached tensors that share m's memory, under PyTorch's names and in
 * PyTorch's order, which is m's own parameters, m's own persistent buffers, then the same for each
 * child. Free the result with hd_dict_free. */
HD_API hd_dict *hd_module_state_dict(const hd_module *m);
/* Copies the tensors of d into m, all of them or none. The call fails if a tensor of d has another
 * shape than in m. With strict, it also fails if a name is missing from d or unknown to m. The
 * message lists the names with which the call fails, as many as fit. Unless report is NULL, it gets
 * a string for each name with a problem, even without strict, such as "missing", "unexpected" or
 * "(2, 3), expected (2, 4)". If a parameter has several names, one of them is enough; if d has
 * several of them, their tensors must be equal. HD_STATE: a tensor of m is expanded, so it cannot
 * be written to; or report is not NULL while an error is set, and then nothing changes. */
HD_API bool hd_module_load_state_dict(hd_module *m, const hd_dict *d, bool strict, hd_dict *report);

/* Adds the gradients to d as prefix.NAME (prefix "": NAME), where NAME is as in
 * hd_module_named_parameters. A checkpoint needs them if it is made between two backwards whose
 * gradients are summed for one step. Afterwards d has no entry for a parameter without a gradient.
 * The tensors share memory with the gradients, which the next backward changes: save or clone them
 * before. While an error is set, d does not change. */
HD_API bool hd_module_save_grads(const hd_module *m, hd_dict *d, const char *prefix);
/* Sets each parameter's gradient to a copy of the tensor that d has under its name, or removes the
 * gradient if d has none. The call fails and changes nothing if a tensor of d under the prefix has
 * an unknown name, or another shape or dtype than the parameter. */
HD_API bool hd_module_load_grads(hd_module *m, const hd_dict *d, const char *prefix);

HD_API bool hd_module_zero_grad(hd_module *m); /* removes the gradients of all parameters */
/* sets requires_grad of all parameters to `on` */
HD_API bool hd_module_requires_grad_(hd_module *m, bool on);
/* Sets requires_grad to false for all parameters inside the module `prefix`, such as "blocks.0", or
 * for the one parameter with this name. prefix "": for all parameters of m. HD_VALUE: there is no
 * such parameter. */
HD_API bool hd_module_freeze(hd_module *m, const char *prefix);
/* Returns the number of elements of all parameters, or with trainable_only of those that require
 * grad. Each tensor counts once. Returns -1 on error. */
HD_API int64_t hd_module_num_parameters(const hd_module *m, bool trainable_only);
/* Converts the float parameters and buffers to d, float32 or float64.
 *
 * As in PyTorch, a parameter stays the same tensor, so optimizers, hooks and other modules that
 * hold it keep working. It gets new elements, its .grad is converted, and an optimizer converts its
 * state at its next step. A buffer is replaced by a new tensor. Views, the results of hd_detach,
 * and tensors that a graph has saved keep the old elements. A pointer of hd_data to the old
 * elements is valid until the last of these tensors is freed. A parameter that hd_parameter did not
 * make, such as hd_requires_grad_(hd_rand(...), true), keeps the memory of its old elements until
 * the parameter is freed, because its struct and the elements lie in one block.
 *
 * HD_STATE: a backward is running. HD_GRAD: a parameter is the result of an operation. In both
 * cases nothing changes. */
HD_API bool(hd_module_to)(hd_module *m, hd_dtype d);
/* the text that Python's print(model) shows, which the innermost scope owns; "NULL" on failure */
HD_API const char *hd_module_summary(const hd_module *m);
HD_API bool hd_module_print(const hd_module *m); /* prints the summary and a newline */
#ifndef __cplusplus
#define hd_module_to(m, d) (hd_module_to)(m, HD__DTYPE_SECOND(d))
#endif

/* ---------------------------------------------------------------- initialisation */

/* The functions of torch.nn.init. Each one fills x in place, outside the graph, with the numbers
 * that PyTorch draws, from the thread's generator. It returns x. The fans of a weight (out, in, r1,
 * r2, ...) are fan_in = in * r1 * r2 * ... and fan_out = out * r1 * r2 * ...; a function that uses
 * them fails with HD_SHAPE if x has fewer than two dims. */
HD_API hd_tensor *hd_init_uniform_(hd_tensor *x, double a, double b); /* uniform in [a, b) */
HD_API hd_tensor *hd_init_normal_(hd_tensor *x, double mean, double std);
HD_API hd_tensor *hd_init_constant_(hd_tensor *x, double value);
HD_API hd_tensor *hd_init_ones_(hd_tensor *x);
HD_API hd_tensor *hd_init_zeros_(hd_tensor *x);
/* Fills x with normal(mean, std), where values outside [a, b] are drawn again. a and b are not
 * multiples of std. */
HD_API hd_tensor *hd_init_trunc_normal_(hd_tensor *x, double mean, double std, double a, double b);
/* Fill x with numbers of mean 0 and standard deviation std = gain * sqrt(2 / (fan_in + fan_out)):
 * uniform in [-sqrt(3) * std, sqrt(3) * std], or normal.
 *
 * Glorot and Bengio 2010, "Understanding the difficulty of training deep feedforward neural
 * networks" */
HD_API hd_tensor *hd_init_xavier_uniform_(hd_tensor *x, double gain);
HD_API hd_tensor *hd_init_xavier_normal_(hd_tensor *x, double gain);

/* The fan that hd_init_kaiming_... uses. fan_in preserves the variance of the values in forward,
 * fan_out that of the gradients in backward. */
typedef enum hd_fan { HD_FAN_IN = 0, HD_FAN_OUT = 1 } hd_fan;

/* Fill x with numbers of mean 0 and standard deviation std = hd_calculate_gain(nonlinearity, a) /
 * sqrt(fan): uniform in [-sqrt(3) * std, sqrt(3) * std], or normal. x may be empty.
 *
 * He, Zhang, Ren and Sun 2015, "Delving Deep into Rectifiers" */
HD_API hd_tensor *hd_init_kaiming_uniform_(hd_tensor *x, double a, hd_fan mode,
                                           const char *nonlinearity);
HD_API hd_tensor *hd_init_kaiming_normal_(hd_tensor *x, double a, hd_fan mode,
                                          const char *nonlinearity);
/* Fills x with gain * Q, where Q is the orthonormal factor of the QR decomposition of a matrix of
 * normal numbers. x counts as a matrix with one row for each index of dim 0. The rows or the
 * columns of Q are orthonormal.
 *
 * Saxe, McClelland and Ganguli 2013, "Exact solutions to the nonlinear dynamics of learning in deep
 * linear neural networks" */
HD_API hd_tensor *hd_init_orthogonal_(hd_tensor *x, double gain);
/* Returns the gain of a nonlinearity: 1 for "linear", "sigmoid" and names such as "conv1d", 5/3 for
 * "tanh", sqrt(2) for "relu", 3/4 for "selu", and sqrt(2 / (1 + param^2)) for "leaky_relu". A param
 * of NaN means 0.01. Returns NaN on error. */
HD_API double hd_calculate_gain(const char *nonlinearity, double param);

/* ---------------------------------------------------------------- layers */

/* Makes a Linear, y = x @ weight^T + bias: weight (out, in) and bias (out,), both uniform in
 * [-1/sqrt(in), 1/sqrt(in)]. */
HD_API hd_module *hd_linear_new(int64_t in_features, int64_t out_features, bool bias);
/* Makes a Bilinear, which computes hd_bilinear: weight (out, in1, in2) and bias (out,), both
 * uniform in [-1/sqrt(in1), 1/sqrt(in1)]. It has two inputs, so run it with hd_bilinear_call(m, x1,
 * x2) in place of hd_forward. */
HD_API hd_module *hd_bilinear_new(int64_t in1_features, int64_t in2_features, int64_t out_features,
                                  bool bias);
HD_API hd_tensor *hd_bilinear_call(hd_module *m, hd_tensor *x1, hd_tensor *x2);
/* Makes a Dropout: hd_dropout with probability p in training mode, x itself in evaluation mode.
 * With inplace, training changes x itself. */
HD_API hd_module *hd_dropout_new(double p, bool inplace);
HD_API double hd_dropout_p(const hd_module *m); /* the probability of a Dropout; NaN on error */
/* Makes an Embedding: weight (n, d), from normal(0, 1), where n is num_embeddings and d is
 * embedding_dim. Row padding_idx, in [-n, n), is 0 and gets no gradient; HD_NO_PADDING
 * (autograd.h): there is no such row. */
HD_API hd_module *hd_embedding_new(int64_t num_embeddings, int64_t embedding_dim,
                                   int64_t padding_idx);
/* Makes a LayerNorm: hd_layer_norm_n over the last n dims. With elementwise_affine, it has a weight
 * of ones. If bias is true as well, it also has a bias of zeros. */
HD_API hd_module *hd_layer_norm_new_n(int n, const int64_t *normalized_shape, double eps,
                                      bool elementwise_affine, bool bias);
/* Makes a LayerNorm over the last dim, with eps 1e-5, a weight and a bias. */
HD_API hd_module *hd_layer_norm_new(int64_t normalized_size);
/* Makes an RMSNorm: hd_rms_norm over the last dim, whose size is dim, with a weight of ones. */
HD_API hd_module *hd_rms_norm_new(int64_t dim, double eps);
HD_API double hd_norm_eps(const hd_module *m); /* the eps of a LayerNorm or RMSNorm; NaN on error */

HD_API hd_module *hd_relu_new(bool inplace); /* makes a ReLU: max(x, 0) */
HD_API hd_module *hd_silu_new(bool inplace); /* makes a SiLU: x / (1 + exp(-x)) */
/* makes a GELU; approximate "none": hd_gelu; "tanh": hd_gelu_tanh */
HD_API hd_module *hd_gelu_new(const char *approximate);
/* the `approximate` with which the GELU m was made: "none" or "tanh"; NULL on error */
HD_API const char *hd_gelu_approximate(const hd_module *m);

/* Make a Sequential, which runs its modules one after the other, or a ModuleList. Both own their
 * modules, as children with the names "0", "1", ... hd_module_list_append adds one more module.
 * hd_module_list_len returns the number of modules, or -1 on error. The functions
 * hd_module_list_... also accept a Sequential. GCC and Clang evaluate the items of a list
 * from left to right, so the constructors of several items may draw weights. */
HD_API hd_module *hd_sequential_n(int64_t n, hd_module *const *modules);
HD_API hd_module *hd_module_list_n(int64_t n, hd_module *const *modules);
HD_API bool hd_module_list_append(hd_module *list, hd_module *child);
HD_API int64_t hd_module_list_len(const hd_module *list); /* the number of modules; -1 on error */
/* module i; a negative i counts from the end */
HD_API hd_module *hd_module_list_get(hd_module *list, int64_t i);
#define hd_sequential(...) hd_sequential_n(HD__ITEMS(hd_module *, __VA_ARGS__))
#define hd_module_list(...) hd_module_list_n(HD__ITEMS(hd_module *, __VA_ARGS__))

/* ---------------------------------------------------------------- attention: the notebooks' */

/* These are the classes of chapter 3 of Raschka, "Build a Large Language Model (From Scratch)", and
 * of its notebooks. CausalAttention and MultiHeadAttention call hd_scaled_dot_product_attention.
 * After hd_set_fused_attention(false) they call hd_matmul, hd_softmax and so on, as the code of the
 * notebooks does. With up to 64 tokens, both computations give the same bits.
 *
 * Their buffer `mask` may have any values. A nonzero value masks a key. If all keys of a token are
 * masked, the output of this token is NaN. If mask is the causal triangle, masked scores are not
 * computed. */

/* Makes a SelfAttention v1: x (n, d_in) gives softmax(q @ k^T / sqrt(d_out)) @ v, (n, d_out). q, k
 * and v are the products of x with W_query, W_key and W_value (d_in, d_out), which are uniform in
 * [0, 1). Vaswani et al. 2017, "Attention Is All You Need", eq. 1. */
HD_API hd_module *hd_self_attention_v1_new(int64_t d_in, int64_t d_out);
/* Makes a SelfAttention v2, which is v1 with Linear layers for W_query, W_key and W_value. */
HD_API hd_module *hd_self_attention_v2_new(int64_t d_in, int64_t d_out, bool qkv_bias);
/* Makes a CausalAttention: self-attention of x (b, num_tokens, d_in), where num_tokens <=
 * context_length. No token sees a later one. It applies dropout to the weights, and has a buffer
 * mask (context_length, context_length). */
HD_API hd_module *hd_causal_attention_new(int64_t d_in, int64_t d_out, int64_t context_length,
                                          double dropout, bool qkv_bias);
/* Makes a MultiHeadAttentionWrapper: joins the outputs of num_heads CausalAttention modules to (b,
 * num_tokens, num_heads * d_out). */
HD_API hd_module *hd_multi_head_attention_wrapper_new(int64_t d_in, int64_t d_out,
                                                      int64_t context_length, double dropout,
                                                      int64_t num_heads, bool qkv_bias);
/* Makes a MultiHeadAttention: the outputs of W_query, W_key and W_value are split into num_heads
 * heads of size d_out / num_heads; the Linear out_proj follows the joined heads. */
HD_API hd_module *hd_multi_head_attention_new(int64_t d_in, int64_t d_out, int64_t context_length,
                                              double dropout, int64_t num_heads, bool qkv_bias);

/* A cache of the keys and values of the tokens that an attention module has read. With it,
 * generating a token computes only this token, not the earlier ones again. Each layer needs a cache
 * of its own. Only one thread may use a cache at a time. */
typedef struct hd_kv_cache hd_kv_cache;
/* Makes a cache for a MultiHeadAttention. It holds `batch` sequences of at most context_length
 * tokens, in the module's current dtype. The cache and the module may be freed in any order. */
HD_API hd_kv_cache *hd_kv_cache_new(const hd_module *attention, int64_t batch);
/* Makes a cache for any attention that calls hd_kv_cache_update. It holds keys (batch, heads,
 * length, head_dim) and values of the same size. With enable_gqa, heads is the number of key
 * heads. */
HD_API hd_kv_cache *(hd_kv_cache_new_for)(hd_dtype dtype, int64_t batch, int64_t heads,
                                          int64_t length, int64_t head_dim);
/* Appends *keys and *values (batch, heads, t, head_dim) of the next t tokens to c. Then sets *keys
 * and *values to views of all keys and values in c, (batch, heads, hd_kv_cache_len(c), head_dim),
 * which have no gradient. HD_SHAPE: c would have more than `length` tokens. On failure nothing
 * changes. Later calls do not write to the elements of these views, unless hd_kv_cache_truncate is
 * called in between. */
HD_API bool hd_kv_cache_update(hd_kv_cache *c, hd_tensor **keys, hd_tensor **values);
HD_API void hd_kv_cache_free(hd_kv_cache *c);         /* frees c; takes NULL */
HD_API int64_t hd_kv_cache_len(const hd_kv_cache *c); /* the number of tokens in c; -1 on error */
HD_API bool hd_kv_cache_truncate(hd_kv_cache *c, int64_t len); /* keeps the first len tokens */
#ifndef __cplusplus
#define hd_kv_cache_new_for(dtype, ...) (hd_kv_cache_new_for)(HD__DTYPE_FIRST(dtype), __VA_ARGS__)
#endif

/* Runs m on x (batch, num_tokens, d_in), which are the tokens after those in c, and adds them to c.
 * The result equals, up to rounding, the last num_tokens rows of hd_forward for the whole sequence.
 * It has no gradient. On failure c does not change. */
HD_API hd_tensor *hd_multi_head_attention_cached(hd_module *m, hd_tensor *x, hd_kv_cache *c);

/* Makes each forward of m keep its attention weights (after dropout, and detached), or keep them no
 * longer if keep is false. Their shape is (n, n) for SelfAttention v1 and v2, (b, n, n) for
 * CausalAttention, and (b, num_heads, n, n) for MultiHeadAttention. The output does not change.
 * With keep, a forward writes to m, so only one thread may run m at a time. */
HD_API bool hd_attention_keep_weights(hd_module *m, bool keep);
/* the weights of the last forward; HD_NONE if none are kept */
HD_API hd_tensor *hd_attention_weights(const hd_module *m);

/* ---------------------------------------------------------------- blocks */

/* Makes a FeedForward. Its only child, `layers`, is Sequential(Linear(emb_dim, hidden_dim),
 * GELU(tanh), Linear(hidden_dim, emb_dim)). */
HD_API hd_module *hd_feed_forward_new(int64_t emb_dim, int64_t hidden_dim);

/* Makes a TransformerBlock, a pre-norm block whose input and output are (b, num_tokens, emb_dim):
 *     x = x + drop_shortcut(att(norm1(x)));  x = x + drop_shortcut(ff(norm2(x)))
 * It owns the four modules from then on; on failure those without a parent are freed. Its children
 * are att, ff, norm1, norm2 and drop_shortcut. C evaluates the arguments of a call in any order, so
 * construct modules that draw weights before the call.
 *
 * Raschka, "Build a Large Language Model (From Scratch)", listing 4.6 */
HD_API hd_module *hd_transformer_block_new(hd_module *att, hd_module *ff, hd_module *norm1,
                                           hd_module *norm2, double drop_rate);
/* Runs the block on x, which holds the tokens after those in c, and adds them to c. The result
 * equals, up to rounding, the last rows of the block's result for the whole sequence. It has no
 * gradient. att must be a MultiHeadAttention. */
HD_API hd_tensor *hd_transformer_block_cached(hd_module *m, hd_tensor *x, hd_kv_cache *c);

/* ---------------------------------------------------------------- attention: torch.nn's packed */

typedef struct hd_multihead_attention_options {
    size_t size;
    double dropout; /* default 0; the probability of dropout of the attention weights */
    bool bias;      /* default true: all projections have a bias */
    /* default false; if true, one more key and value are the parameters bias_k, bias_v */
    bool add_bias_kv;
    bool add_zero_attn; /* default false; if true, one more key and value are zeros */
    int64_t kdim, vdim; /* default 0: embed_dim; else the last size of key and of value */
    bool batch_first; /* default false: (sequence, batch, embed_dim); true: the batch comes first */
} hd_multihead_attention_options;

HD_API hd_multihead_attention_options hd_multihead_attention_defaults(void);
/* Makes a torch.nn.MultiheadAttention: in_proj_weight (3 * embed_dim, embed_dim), in_proj_bias (3 *
 * embed_dim,) and the Linear out_proj. If kdim or vdim differs from embed_dim, it has
 * q_proj_weight, k_proj_weight and v_proj_weight in place of in_proj_weight. hd_forward(m, x)
 * computes self-attention without masks. o NULL: the defaults. */
HD_API hd_module *hd_multihead_attention_new(int64_t embed_dim, int64_t num_heads,
                                             const hd_multihead_attention_options *o);

typedef struct hd_multihead_attention_args {
    size_t size;
    /* default HD_NONE: no mask; else a mask for s keys, (b, s) or (s,): a key is ignored where a
     * bool mask is true; a float mask is added to the scores */
    hd_tensor *key_padding_mask;
    /* default HD_NONE: no mask; else a mask for l queries and s keys, (l, s) or (b * num_heads,
     * l, s), bool or float like key_padding_mask */
    hd_tensor *attn_mask;
    /* default true: *weights gets the attention weights; false: it gets HD_NONE */
    bool need_weights;
    /* default true: *weights is (b, l, s), the mean over the heads; false: it is (b, num_heads,
     * l, s) */
    bool average_attn_weights;
    bool is_causal; /* default false; as in PyTorch, true requires attn_mask, too */
} hd_multihead_attention_args;

HD_API hd_multihead_attention_args hd_multihead_attention_arg_defaults(void);
/* Runs m on query (l, b, embed_dim), key (s, b, kdim) and value (s, b, vdim). With batch_first, b
 * is the first dim; without a batch, there is no b. The output has the shape of query. *weights
 * gets the attention weights, or HD_NONE without need_weights; weights may be NULL. a NULL: the
 * defaults. */
HD_API hd_tensor *hd_multihead_attention(hd_module *m, hd_tensor *query, hd_tensor *key,
                                         hd_tensor *value, const hd_multihead_attention_args *a,
                                         hd_tensor **weights);

/* ---------------------------------------------------------------- debuggers */

/* A table for debuggers: the offsets, in bytes, of the fields of a module. hd_debug_layout has
 * those of a tensor. The comments give the types of these fields. New fields come at the end. */
typedef struct hd_debug_module_layout_table {
    uint32_t size;                   /* sizeof this table */
    uint32_t type, type_name;        /* in a module: pointer to its type; in a type: char * */
    uint32_t priv;                   /* in a module: pointer to the private part */
    uint32_t training;               /* in the private part: one byte */
    uint32_t n, entries;             /* in the private part: int64_t; pointer to n entries */
    uint32_t entry_size;             /* not an offset, but the bytes of an entry */
    uint32_t entry_name, entry_kind; /* char *; int: 1 parameter, 2 or 4 buffer, 8 child */
    uint32_t entry_tensor;           /* pointer to the field that holds the tensor, or NULL */
    uint32_t entry_child;            /* pointer to the field that holds the child, or NULL */
    uint32_t entry_own;              /* pointer to a child that no field holds, or NULL */
} hd_debug_module_layout_table;

/* The table of this build of the library. */
HD_API extern const hd_debug_module_layout_table hd_debug_module_layout;

#ifdef __cplusplus
}
#endif
#endif
