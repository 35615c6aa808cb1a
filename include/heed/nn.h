/* nn.h - modules: parameters, buffers, children, forward; the layers of the attention chapter.
 *
 * A module is a struct whose first member is an hd_module. Its parameters, buffers and children are
 * fields of that struct, and they are registered by the address of the field. The field is the only
 * copy: every function uses the fields as they are now, and skips those that the user has set to
 * NULL. A child has one parent, which frees it; hd_module_free frees a module without a parent.
 * Modules live in no scope. Names, state_dict order, initial weights and summaries are those of
 * PyTorch's classes. A module in evaluation mode may run on several threads at the same time. */
#ifndef HEED_NN_H
#define HEED_NN_H

#include "heed/autograd.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- types */

typedef struct hd_module hd_module;

/* The class of a module: a static constant, which HD_MODULE_TYPE fills. */
typedef struct hd_module_type {
    size_t size;                                          /* sizeof(hd_module_type) */
    const char *name;                                     /* "CausalAttention" */
    size_t instance_size;                                 /* sizeof the module's own struct */
    hd_tensor *(*forward)(hd_module *self, hd_tensor *x); /* hd_forward runs it */
    void (*free)(hd_module *self); /* frees all but the registered fields; or NULL */
    /* writes the text in the brackets of the summary, such as `p=0.5, inplace=False`; or NULL */
    void (*extra)(const hd_module *self, char *text, size_t n);
} hd_module_type;

/* static const hd_module_type type = HD_MODULE_TYPE(causal_attention, "CausalAttention", forward);
 * The functions free and extra may follow forward. */
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
/* A designator, so that no compiler warns of the fields that are left out. */
#define HD_MODULE_TYPE(struct_type, class_name, ...)                                               \
    {                                                                                              \
        .size = sizeof(hd_module_type), class_name, sizeof(struct_type), __VA_ARGS__               \
    }
#endif

/* The first member of every module's struct. hd_module_new sets it; a program reads it and never
 * writes it. */
struct hd_module {
    const hd_module_type *type; /* its class */
    struct hd__module *priv;    /* heed's own data */
};

/* ---------------------------------------------------------------- making and freeing */

/* Makes a module: its struct, zeroed, in training mode. */
HD_API hd_module *hd_module_new(const hd_module_type *type);

/* These register t under a name without dots and set *field, which must be a field of m's struct. t
 * is retained. If t is HD_NONE, the field holds HD_NONE and no name is added (a Linear without
 * bias); if t is NULL, the call fails. A parameter is a leaf of a float dtype that hd_parameter
 * gave; one of bfloat16 does not require grad. A persistent buffer is part of the state_dict. After
 * a failure the field holds HD_NONE, and hd_module_ready will fail. */
HD_API bool hd_register_parameter(hd_module *m, const char *name, hd_tensor **field, hd_tensor *t);
HD_API bool hd_register_buffer(hd_module *m, const char *name, hd_tensor **field, hd_tensor *t,
                               bool persistent);
/* Registers a child in the same way. m owns child from then on. On failure child is freed, unless
 * it already had a parent or would contain itself; then it stays as it was. */
HD_API bool hd_register_module(hd_module *m, const char *name, hd_module **field, hd_module *child);

/* Ends a constructor. Returns m, or frees everything and returns NULL if a registration failed. */
HD_API hd_module *hd_module_ready(hd_module *m);
HD_API void hd_module_free(hd_module *m); /* m and its children; HD_STATE for a child; takes NULL */

/* Sets for this thread whether the constructors below draw initial weights, as PyTorch's classes do
 * (on, as at first), or leave them zero. Returns the mode before the call. */
HD_API bool hd_set_init_mode(bool on);

/* HD_NO_INIT; makes the constructors below draw nothing, until the end of the enclosing block: all
 * parameters are zero, those of norms too. This saves time if weights are loaded afterwards.
 * Buffers have their values, and hd_init_... still fills the tensor that it is given. HD_NO_INIT
 * needs GCC, Clang or TinyCC. With another compiler, call hd_set_init_mode. */
#define HD_NO_INIT                                                                                 \
    HD__AT_END(bool HD__JOIN(hd_init_mode_at_, __LINE__), hd_init_mode_cleanup,                    \
               hd_set_init_mode(false), "HD_NO_INIT", "hd_set_init_mode")

/* Sets the init mode to *before. The end of HD_NO_INIT's block calls it. */
static inline void hd_init_mode_cleanup(bool *before)
{
    hd_set_init_mode(*before);
}

/* ---------------------------------------------------------------- running */

/* Runs type->forward in a scope of its own and moves the result to the enclosing scope. Returns
 * NULL if any call inside failed, even if its result was not used, unless the forward itself
 * cleared the error. Messages from inside begin with the class, as in "CausalAttention: hd_matmul:
 * ...". */
HD_API hd_tensor *hd_forward(hd_module *m, hd_tensor *x);

/* A class whose call is not "one tensor in, one tensor out" has a function of its own:
 *     if (!hd_forward_begin(m)) {
 *         return NULL;
 *     }
 *     y = hd_matmul(q, k); // whatever the class computes
 *     return hd_forward_end(m, y);
 * The function must not return between the two calls. */
HD_API bool hd_forward_begin(hd_module *m);
HD_API hd_tensor *hd_forward_end(hd_module *m, hd_tensor *y);

HD_API bool hd_module_train(hd_module *m, bool on); /* the mode of m and of all modules below it */
HD_API bool hd_module_eval(hd_module *m);           /* hd_module_train(m, false) */
HD_API bool hd_module_training(const hd_module *m); /* true from the start until hd_module_eval */

/* ---------------------------------------------------------------- what is inside */

/* Modules may be nested as deeply as memory allows; hd_module_summary takes 1000 levels. Names of
 * parameters get longer with each level: a function that lists the names of n parameters in n
 * nested modules takes memory and time in n^2. hd_module_parameters has no names and takes time in
 * n. */

HD_API hd_list *hd_module_parameters(const hd_module *m); /* each once, in PyTorch's order */
/* The parameters, or the buffers, by their dotted names ("heads.0.W_query.weight"), each tensor
 * once. Free with hd_dict_free. */
HD_API hd_dict *hd_module_named_parameters(const hd_module *m);
HD_API hd_dict *hd_module_named_buffers(const hd_module *m);
/* Returns the module, the parameter or the buffer of m with this dotted name: "heads.0" is a
 * module, and "out_proj.weight" is a parameter. */
HD_API hd_module *hd_module_get(hd_module *m, const char *name);
HD_API hd_tensor *hd_module_get_parameter(hd_module *m, const char *name);
HD_API hd_tensor *hd_module_get_buffer(hd_module *m, const char *name);
/* m.NAME = t. t has the shape and dtype of the parameter that it replaces. There is one exception:
 * bfloat16 may replace float32, and the other way round, as for the frozen weight of a Linear or an
 * Embedding:
 *   hd_module_set_parameter(m, name, hd_parameter(hd_to(hd_detach(w), HD_BFLOAT16), false))
 * If t is another parameter of m, the two are tied: the state_dict has both names, lists of
 * parameters have only the first, and the gradient is the sum of both. */
HD_API bool hd_module_set_parameter(hd_module *m, const char *name, hd_tensor *t);
/* Puts child in the place of the module of m with this dotted name ("blocks.0.att"), and frees the
 * old module. m owns child from then on. On failure child is freed, unless it already had a parent
 * or would contain itself; then it stays as it was. */
HD_API bool hd_module_set(hd_module *m, const char *name, hd_module *child);
/* Takes the module with this dotted name out of m. The caller frees it, or gives it to another
 * module. Its field becomes NULL. In a Sequential or ModuleList the place stays, and the others
 * keep their numbers: a Sequential skips the place, and hd_module_list_get fails there with
 * HD_STATE. hd_module_set fills the place again. */
HD_API hd_module *hd_module_take(hd_module *m, const char *name);
/* Calls f for m (with name "") and for all modules below, parents first. It stops when f returns
 * false, and returns the result of the last call. f may free or replace any module below m: f is
 * not called for a freed module, nor for a module that replaced one for which f was called. */
HD_API bool hd_module_visit(hd_module *m, bool (*f)(hd_module *m, const char *name, void *user),
                            void *user);

/* Returns detached tensors that share the module's memory, under PyTorch's names and in PyTorch's
 * order: the module's own parameters, its own persistent buffers, then its children. Free with
 * hd_dict_free. */
HD_API hd_dict *hd_module_state_dict(const hd_module *m);
/* Copies the tensors of d into the module, all of them or none. A tensor of another shape is an
 * error; with strict, a name that is missing from d or unknown to m is one too. The message lists
 * all these names. report (NULL: not wanted) gets a string for each of them: "missing",
 * "unexpected" or "(2, 3), expected (2, 4)". If a parameter has several names, one of them is
 * enough; tensors that d has under these names must be equal. HD_STATE: a tensor of the module is
 * expanded, so that it cannot be written to; or an error is set and report is not NULL, and then
 * the call changes nothing. */
HD_API bool hd_module_load_state_dict(hd_module *m, const hd_dict *d, bool strict, hd_dict *report);

/* Writes the gradients into d as prefix.NAME (prefix "": NAME), with the names of
 * hd_module_named_parameters. A checkpoint needs them if one step sums several backwards and the
 * checkpoint is made between two of these. A parameter without a gradient has no entry in d
 * afterwards. The tensors share memory with the gradients, which the next backward changes: save or
 * clone them before it. While an error is set, nothing is written. */
HD_API bool hd_module_save_grads(const hd_module *m, hd_dict *d, const char *prefix);
/* Sets each parameter's gradient to a copy of the tensor that d has under its name; without such a
 * tensor, the gradient is dropped. It is an error if a tensor of d under the prefix has an unknown
 * name, or another shape or dtype than the parameter; then nothing changes. */
HD_API bool hd_module_load_grads(hd_module *m, const hd_dict *d, const char *prefix);

HD_API bool hd_module_zero_grad(hd_module *m);               /* drops all gradients */
HD_API bool hd_module_requires_grad_(hd_module *m, bool on); /* sets it for all parameters */
/* Sets requires_grad to false for the parameters whose dotted name is prefix, or begins with prefix
 * and a dot ("blocks.0"); prefix "": for all. HD_VALUE: there is no such parameter. */
HD_API bool hd_module_freeze(hd_module *m, const char *prefix);
/* Returns the number of elements of all parameters, each tensor once; with trainable_only, of those
 * that require grad. -1 on error */
HD_API int64_t hd_module_num_parameters(const hd_module *m, bool trainable_only);
/* Converts the float parameters and buffers to d, float32 or float64.
 *
 * As in PyTorch, a parameter stays the same tensor, which optimizers, hooks and other modules hold:
 * it gets new elements, its .grad is converted, and an optimizer converts its state at its next
 * step. A buffer is replaced. Views, the results of hd_detach, and tensors that a graph has saved
 * keep the old elements; a pointer of hd_data is valid until the last of these is gone. A parameter
 * that hd_parameter did not make, such as hd_requires_grad_(hd_rand(...), true), keeps the memory
 * of its old elements until it is freed, because they lie in its own block.
 *
 * HD_STATE: a backward runs. HD_GRAD: a parameter is the result of an operation. Then nothing is
 * changed. */
HD_API bool(hd_module_to)(hd_module *m, hd_dtype d);
/* the text of Python's print(model), in a scope; "NULL" on failure */
HD_API const char *hd_module_summary(const hd_module *m);
HD_API bool hd_module_print(const hd_module *m); /* prints that text and a newline */
#ifndef __cplusplus
#define hd_module_to(m, d) (hd_module_to)(m, HD__DTYPE_SECOND(d))
#endif

/* ---------------------------------------------------------------- initialisation */

/* These are torch.nn.init. Each function fills x in place, outside the graph, with PyTorch's draws
 * from the thread's generator, and returns x. For a weight (out, in, r1, r2, ...), fan_in = in r1
 * r2 ... and fan_out = out r1 r2 ...; a function that uses these fails for fewer than two
 * dimensions (HD_SHAPE). */
HD_API hd_tensor *hd_init_uniform_(hd_tensor *x, double a, double b); /* [a, b) */
HD_API hd_tensor *hd_init_normal_(hd_tensor *x, double mean, double std);
HD_API hd_tensor *hd_init_constant_(hd_tensor *x, double value);
HD_API hd_tensor *hd_init_ones_(hd_tensor *x);
HD_API hd_tensor *hd_init_zeros_(hd_tensor *x);
/* normal(mean, std); values outside [a, b] are drawn again. a and b are values of x, not multiples
 * of std. */
HD_API hd_tensor *hd_init_trunc_normal_(hd_tensor *x, double mean, double std, double a, double b);
/* std = gain sqrt(2 / (fan_in + fan_out)); uniform in +-sqrt(3) std
 *
 * Glorot and Bengio 2010, "Understanding the difficulty of training deep feedforward neural
 * networks" */
HD_API hd_tensor *hd_init_xavier_uniform_(hd_tensor *x, double gain);
HD_API hd_tensor *hd_init_xavier_normal_(hd_tensor *x, double gain);

/* The fan of hd_init_kaiming_...: fan_in keeps the size of values in forward, fan_out that of
 * gradients in backward. */
typedef enum hd_fan { HD_FAN_IN = 0, HD_FAN_OUT = 1 } hd_fan;

/* std = hd_calculate_gain(nonlinearity, a) / sqrt(fan); uniform in +-sqrt(3) std; x may be empty
 *
 * He, Zhang, Ren and Sun 2015, "Delving Deep into Rectifiers" */
HD_API hd_tensor *hd_init_kaiming_uniform_(hd_tensor *x, double a, hd_fan mode,
                                           const char *nonlinearity);
HD_API hd_tensor *hd_init_kaiming_normal_(hd_tensor *x, double a, hd_fan mode,
                                          const char *nonlinearity);
/* gain Q, where Q is the orthonormal factor of the QR decomposition of a normal (out, rest) matrix:
 * its rows or columns are orthonormal.
 *
 * Saxe, McClelland and Ganguli 2013, "Exact solutions to the nonlinear dynamics of learning in deep
 * linear neural networks" */
HD_API hd_tensor *hd_init_orthogonal_(hd_tensor *x, double gain);
/* The gain of a nonlinearity: linear, conv1d ..., sigmoid: 1; tanh: 5/3; relu: sqrt(2); selu: 3/4;
 * leaky_relu: sqrt(2 / (1 + param^2)), where a param of NaN means 0.01. NaN on error */
HD_API double hd_calculate_gain(const char *nonlinearity, double param);

/* ---------------------------------------------------------------- layers */

/* A Linear, y = x W^T + b: weight (out, in), bias (out,); both uniform in +-1/sqrt(in). */
HD_API hd_module *hd_linear_new(int64_t in_features, int64_t out_features, bool bias);
/* A Bilinear, hd_bilinear with weight (out, in1, in2) and bias (out,), both uniform in
 * +-1/sqrt(in1). It has two inputs, so hd_bilinear_call(m, x1, x2) takes the place of
 * hd_forward. */
HD_API hd_module *hd_bilinear_new(int64_t in1_features, int64_t in2_features, int64_t out_features,
                                  bool bias);
HD_API hd_tensor *hd_bilinear_call(hd_module *m, hd_tensor *x1, hd_tensor *x2);
/* dropout with probability p in training mode, x itself in evaluation mode */
HD_API hd_module *hd_dropout_new(double p, bool inplace);
HD_API double hd_dropout_p(const hd_module *m); /* the probability of a Dropout; NaN on error */
/* An Embedding: weight (n, d) of normal(0, 1). padding_idx in [-n, n): that row is zero and gets no
 * gradient; HD_NO_PADDING (autograd.h): there is no such row. */
HD_API hd_module *hd_embedding_new(int64_t num_embeddings, int64_t embedding_dim,
                                   int64_t padding_idx);
/* A LayerNorm, hd_layer_norm_n over the last n dims. elementwise_affine: a weight of ones; with
 * bias too: a bias of zeros. */
HD_API hd_module *hd_layer_norm_new_n(int n, const int64_t *normalized_shape, double eps,
                                      bool elementwise_affine, bool bias);
/* A LayerNorm over the last dim; eps 1e-5, weight and bias. */
HD_API hd_module *hd_layer_norm_new(int64_t normalized_size);
/* An RMSNorm, hd_rms_norm over the last dim, of size dim; weight of ones. */
HD_API hd_module *hd_rms_norm_new(int64_t dim, double eps);
HD_API double hd_norm_eps(const hd_module *m); /* of a LayerNorm or an RMSNorm; NaN on error */

HD_API hd_module *hd_relu_new(bool inplace);            /* max(x, 0) */
HD_API hd_module *hd_silu_new(bool inplace);            /* x / (1 + exp(-x)) */
HD_API hd_module *hd_gelu_new(const char *approximate); /* "none": hd_gelu; "tanh": hd_gelu_tanh */
HD_API const char *hd_gelu_approximate(const hd_module *m); /* of a GELU; a static text */

/* These (and hd_module_list_append) take the modules over as children "0", "1", ... A Sequential
 * runs them one after the other. The functions hd_module_list_... take a Sequential too. GCC and
 * Clang evaluate the items of a list from left to right, so all of them may draw weights. */
HD_API hd_module *hd_sequential_n(int64_t n, hd_module *const *modules);
HD_API hd_module *hd_module_list_n(int64_t n, hd_module *const *modules);
HD_API bool hd_module_list_append(hd_module *list, hd_module *child);
HD_API int64_t hd_module_list_len(const hd_module *list); /* the number of modules; -1 on error */
/* module i; i < 0 counts from the end */
HD_API hd_module *hd_module_list_get(hd_module *list, int64_t i);
#define hd_sequential(...) hd_sequential_n(HD__ITEMS(hd_module *, __VA_ARGS__))
#define hd_module_list(...) hd_module_list_n(HD__ITEMS(hd_module *, __VA_ARGS__))

/* ---------------------------------------------------------------- attention: the notebooks' */

/* CausalAttention and MultiHeadAttention call hd_scaled_dot_product_attention for any values of
 * `mask`: a value that is not 0 hides a key, and a token that sees no key gives NaN. If mask is the
 * causal triangle, the hidden part is not computed. Up to 64 tokens the results have the bits of
 * the notebooks' lines. After hd_set_fused_attention(false) the classes run these lines
 * themselves. */

/* SelfAttention v1, x (n, d_in) to (n, d_out): softmax(q k^T / sqrt(d_out)) v with W_query, W_key,
 * W_value of rand(d_in, d_out). Vaswani et al. 2017, "Attention Is All You Need", eq. 1. */
HD_API hd_module *hd_self_attention_v1_new(int64_t d_in, int64_t d_out);
/* SelfAttention v2: v1 with Linear layers */
HD_API hd_module *hd_self_attention_v2_new(int64_t d_in, int64_t d_out, bool qkv_bias);
/* CausalAttention, x (b, num_tokens, d_in), num_tokens <= context_length: no token sees a later
 * one; dropout on the weights; buffer mask (context_length, context_length) */
HD_API hd_module *hd_causal_attention_new(int64_t d_in, int64_t d_out, int64_t context_length,
                                          double dropout, bool qkv_bias);
/* MultiHeadAttentionWrapper, num_heads CausalAttention modules side by side: gives
 * (b, num_tokens, num_heads * d_out) */
HD_API hd_module *hd_multi_head_attention_wrapper_new(int64_t d_in, int64_t d_out,
                                                      int64_t context_length, double dropout,
                                                      int64_t num_heads, bool qkv_bias);
/* MultiHeadAttention: one W_query, W_key and W_value, split into heads of size d_out / num_heads;
 * then out_proj */
HD_API hd_module *hd_multi_head_attention_new(int64_t d_in, int64_t d_out, int64_t context_length,
                                              double dropout, int64_t num_heads, bool qkv_bias);

/* A cache of the keys and values of the tokens that an attention has seen. With it, each generated
 * token costs the work of one token, because the earlier tokens are not computed again. Each layer
 * needs a cache of its own. Only one thread may use a cache at a time. */
typedef struct hd_kv_cache hd_kv_cache;
/* Makes a cache for a MultiHeadAttention: room for `batch` sequences of its context_length, in the
 * dtype that it has now. The cache may be freed before or after the module, which it does not
 * retain. */
HD_API hd_kv_cache *hd_kv_cache_new(const hd_module *attention, int64_t batch);
/* Makes a cache for any attention that calls hd_kv_cache_update: room for keys and values
 * (batch, heads, length, head_dim) each. With enable_gqa the heads are those of the keys. */
HD_API hd_kv_cache *(hd_kv_cache_new_for)(hd_dtype dtype, int64_t batch, int64_t heads,
                                          int64_t length, int64_t head_dim);
/* Appends *keys and *values (batch, heads, t, head_dim) of the next t tokens, and replaces them by
 * views of all keys and values in c, (batch, heads, hd_kv_cache_len(c), head_dim), without a
 * gradient. HD_SHAPE: c would have more than `length` tokens. On failure nothing changes. The next
 * call writes to no element of the views, except after hd_kv_cache_truncate. */
HD_API bool hd_kv_cache_update(hd_kv_cache *c, hd_tensor **keys, hd_tensor **values);
HD_API void hd_kv_cache_free(hd_kv_cache *c);         /* frees c; takes NULL */
HD_API int64_t hd_kv_cache_len(const hd_kv_cache *c); /* the number of tokens in it; -1 on error */
HD_API bool hd_kv_cache_truncate(hd_kv_cache *c, int64_t len); /* keeps the first len tokens */
#ifndef __cplusplus
#define hd_kv_cache_new_for(dtype, ...) (hd_kv_cache_new_for)(HD__DTYPE_FIRST(dtype), __VA_ARGS__)
#endif

/* Runs m on x (batch, num_tokens, d_in), the tokens that follow those in c, and adds them to c. The
 * result is hd_forward's for these tokens at the end of the whole sequence, up to rounding, and
 * without a gradient. On failure c does not change. */
HD_API hd_tensor *hd_multi_head_attention_cached(hd_module *m, hd_tensor *x, hd_kv_cache *c);

/* With keep, each forward keeps its attention weights (after dropout), detached: SelfAttention v1
 * and v2 (n, n), CausalAttention (b, n, n), MultiHeadAttention (b, num_heads, n, n). The output
 * does not change. Each forward then writes to the module, so only one thread may run it. */
HD_API bool hd_attention_keep_weights(hd_module *m, bool keep);
HD_API hd_tensor *hd_attention_weights(const hd_module *m); /* HD_NONE before the first forward */

/* ---------------------------------------------------------------- blocks */

/* A FeedForward: layers = Sequential(Linear(emb_dim, hidden_dim), GELU(tanh),
 * Linear(hidden_dim, emb_dim)) */
HD_API hd_module *hd_feed_forward_new(int64_t emb_dim, int64_t hidden_dim);

/* A TransformerBlock, a pre-norm block, (b, num_tokens, emb_dim) to the same shape:
 *     x = x + drop_shortcut(att(norm1(x)));  x = x + drop_shortcut(ff(norm2(x)))
 * It takes the four modules over, on failure too. Its children are att, ff, norm1, norm2 and
 * drop_shortcut. C evaluates the arguments of a call in any order, so construct modules that draw
 * weights before the call.
 *
 * Raschka, "Build a Large Language Model (From Scratch)", listing 4.6 */
HD_API hd_module *hd_transformer_block_new(hd_module *att, hd_module *ff, hd_module *norm1,
                                           hd_module *norm2, double drop_rate);
/* Runs the block on x, the tokens that follow those in c, and adds them to c, without a gradient.
 * The result differs by rounding from that for the whole sequence. att must be a
 * MultiHeadAttention. */
HD_API hd_tensor *hd_transformer_block_cached(hd_module *m, hd_tensor *x, hd_kv_cache *c);

/* ---------------------------------------------------------------- attention: torch.nn's packed */

typedef struct hd_multihead_attention_options {
    size_t size;
    double dropout;     /* 0 */
    bool bias;          /* true */
    bool add_bias_kv;   /* false */
    bool add_zero_attn; /* false */
    int64_t kdim, vdim; /* 0: embed_dim */
    bool batch_first;   /* false: (sequence, batch, embed_dim) */
} hd_multihead_attention_options;

HD_API hd_multihead_attention_options hd_multihead_attention_defaults(void);
/* torch.nn.MultiheadAttention: in_proj_weight (3E, E), in_proj_bias (3E,), out_proj. o NULL:
 * defaults. hd_forward(m, x) computes self-attention without masks. */
HD_API hd_module *hd_multihead_attention_new(int64_t embed_dim, int64_t num_heads,
                                             const hd_multihead_attention_options *o);

typedef struct hd_multihead_attention_args {
    size_t size;
    hd_tensor *key_padding_mask; /* HD_NONE; (b, s) or (s,): bool (true: ignored) or float, added */
    hd_tensor *attn_mask;        /* HD_NONE; (l, s) or (b * num_heads, l, s): bool or float */
    bool need_weights;           /* true */
    bool average_attn_weights;   /* true: (b, l, s), else (b, num_heads, l, s) */
    bool is_causal;              /* false; true needs attn_mask too, as in PyTorch */
} hd_multihead_attention_args;

HD_API hd_multihead_attention_args hd_multihead_attention_arg_defaults(void);
/* Runs m on query (l, b, E), key (s, b, kdim), value (s, b, vdim), or batch first, or unbatched
 * (l, E), ... Returns the output in query's layout. *weights gets the attention weights, or HD_NONE
 * without need_weights (NULL: not wanted). a NULL: defaults. */
HD_API hd_tensor *hd_multihead_attention(hd_module *m, hd_tensor *query, hd_tensor *key,
                                         hd_tensor *value, const hd_multihead_attention_args *a,
                                         hd_tensor **weights);

/* ---------------------------------------------------------------- debuggers */

/* The offsets, in bytes, of the fields of a module, for a debugger; hd_debug_layout has those of a
 * tensor. New fields come at the end. */
typedef struct hd_debug_module_layout_table {
    uint32_t size;                   /* sizeof this table */
    uint32_t type, type_name;        /* pointer to the type; in the type: text */
    uint32_t priv;                   /* pointer to the private part */
    uint32_t training;               /* in it: one byte */
    uint32_t n, entries;             /* int64_t; array of n entries */
    uint32_t entry_size;             /* bytes of an entry */
    uint32_t entry_name, entry_kind; /* text; int: 1 parameter, 2 and 4 buffers, 8 child */
    uint32_t entry_tensor;           /* pointer to the field that holds the tensor */
    uint32_t entry_child;            /* pointer to the field that holds the child, or NULL */
    uint32_t entry_own;              /* the child, if entry_child is NULL */
} hd_debug_module_layout_table;

/* The table of this build of the library. */
HD_API extern const hd_debug_module_layout_table hd_debug_module_layout;

#ifdef __cplusplus
}
#endif
#endif
