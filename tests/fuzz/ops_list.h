/* ops_list.h - the calls of an op program: a name, and the call. `a` has the operands: tensors x, y
 * and z, numbers i, j and k, a list of n sizes, a scalar s and a flag on. A name that ends in an
 * underscore changes x in place. */
#ifndef HEED_TESTS_FUZZ_OPS_LIST_H
#define HEED_TESTS_FUZZ_OPS_LIST_H

#define UNARY(X, f) X(f, hd_##f(a->x))
#define BINARY(X, f) X(f, hd_##f(a->x, a->y))
#define SCALAR(X, f) X(f, (hd_##f)(a->x, a->s))
#define ALONG(X, f) X(f, hd_##f(a->x, a->i))
#define KEEPING(X, f) X(f, hd_##f(a->x, a->i, a->on))

#define OPS_ARITHMETIC(X)                                                                          \
    BINARY(X, add)                                                                                 \
    BINARY(X, sub)                                                                                 \
    BINARY(X, mul)                                                                                 \
    BINARY(X, div)                                                                                 \
    BINARY(X, pow)                                                                                 \
    BINARY(X, maximum)                                                                             \
    BINARY(X, minimum)                                                                             \
    SCALAR(X, add_scalar)                                                                          \
    SCALAR(X, sub_scalar)                                                                          \
    SCALAR(X, mul_scalar)                                                                          \
    SCALAR(X, div_scalar)                                                                          \
    SCALAR(X, pow_scalar)                                                                          \
    SCALAR(X, rsub_scalar)                                                                         \
    SCALAR(X, rdiv_scalar)                                                                         \
    UNARY(X, square)                                                                               \
    UNARY(X, neg)                                                                                  \
    UNARY(X, exp)                                                                                  \
    UNARY(X, log)                                                                                  \
    UNARY(X, sqrt)                                                                                 \
    UNARY(X, rsqrt)                                                                                \
    UNARY(X, tanh)                                                                                 \
    UNARY(X, erf)                                                                                  \
    UNARY(X, sigmoid)                                                                              \
    UNARY(X, sin)                                                                                  \
    UNARY(X, cos)                                                                                  \
    UNARY(X, log1p)                                                                                \
    UNARY(X, relu)                                                                                 \
    UNARY(X, gelu)                                                                                 \
    UNARY(X, gelu_tanh)                                                                            \
    UNARY(X, silu)                                                                                 \
    UNARY(X, abs)                                                                                  \
    X(softplus, hd_softplus(a->x, a->d, 20))                                                       \
    X(clamp, (hd_clamp)(a->x, a->s, hd_scalar_int(a->j)))                                          \
    SCALAR(X, clamp_min)                                                                           \
    SCALAR(X, clamp_max)                                                                           \
    X(where, hd_where(a->x, a->y, a->z))                                                           \
    X(masked_fill, (hd_masked_fill)(a->x, a->y, a->s))

#define OPS_COMPARISON(X)                                                                          \
    BINARY(X, eq)                                                                                  \
    BINARY(X, ne)                                                                                  \
    BINARY(X, lt)                                                                                  \
    BINARY(X, le)                                                                                  \
    BINARY(X, gt)                                                                                  \
    BINARY(X, ge)                                                                                  \
    SCALAR(X, eq_scalar)                                                                           \
    SCALAR(X, ne_scalar)                                                                           \
    SCALAR(X, lt_scalar)                                                                           \
    SCALAR(X, le_scalar)                                                                           \
    SCALAR(X, gt_scalar)                                                                           \
    SCALAR(X, ge_scalar)                                                                           \
    BINARY(X, logical_and)                                                                         \
    BINARY(X, logical_or)                                                                          \
    BINARY(X, logical_xor)                                                                         \
    UNARY(X, logical_not)

#define OPS_VIEW(X)                                                                                \
    X(view, hd_view_n(a->x, a->n, a->sizes))                                                       \
    X(reshape, hd_reshape_n(a->x, a->n, a->sizes))                                                 \
    X(transpose, hd_transpose(a->x, a->i, a->j))                                                   \
    UNARY(X, t)                                                                                    \
    X(permute, hd_permute_n(a->x, a->n, a->sizes))                                                 \
    X(expand, hd_expand_n(a->x, a->n, a->sizes))                                                   \
    X(flatten, hd_flatten(a->x, a->i, a->j))                                                       \
    ALONG(X, squeeze)                                                                              \
    UNARY(X, squeeze_all)                                                                          \
    ALONG(X, unsqueeze)                                                                            \
    X(select, hd_select(a->x, a->i, a->j))                                                         \
    UNARY(X, detach)                                                                               \
    X(slice, hd_slice(a->x, a->i, a->j, a->k))                                                     \
    X(slice_step, hd_slice_step(a->x, a->i, a->j, HD_END, a->k))                                   \
    X(narrow, hd_narrow(a->x, a->i, a->j, a->k))                                                   \
    X(split, one_of(hd_split(a->x, a->k, a->i), a->j))                                             \
    X(split_sizes, one_of(hd_split_sizes_n(a->x, a->n, a->sizes, a->i), a->j))                     \
    X(chunk, one_of(hd_chunk(a->x, a->k, a->i), a->j))                                             \
    X(unbind, one_of(hd_unbind(a->x, a->i), a->j))                                                 \
    X(getitem, hd_getitem_n(a->x, a->n, a->sizes))

#define OPS_COPY(X)                                                                                \
    UNARY(X, contiguous)                                                                           \
    UNARY(X, clone)                                                                                \
    X(to, hd_to(a->x, (hd_dtype)(a->k % 5)))                                                       \
    X(tril, hd_tril(a->x, a->i))                                                                   \
    X(triu, hd_triu(a->x, a->i))                                                                   \
    X(cat, hd_cat_n(3, (hd_tensor *[]){a->x, a->y, a->z}, a->i))                                   \
    X(stack, hd_stack_n(2, (hd_tensor *[]){a->x, a->y}, a->i))                                     \
    X(index_select, hd_index_select(a->x, a->i, a->y))                                             \
    X(gather, hd_gather(a->x, a->i, a->y))                                                         \
    X(embedding, hd_embedding(a->x, a->y, a->j))                                                   \
    X(topk, hd_topk(a->x, a->k, a->i, a->on, NULL))                                                \
    X(topk_indices, other_of(hd_topk(a->x, a->k, a->i, a->on, other())))                           \
    X(one_hot, hd_one_hot(a->x, a->k))                                                             \
    X(full_like, (hd_full_like)(a->x, (hd_dtype)(a->k % 4), a->s))                                 \
    X(rand_like, hd_rand_like(a->x, (hd_dtype)(a->k % 4)))                                         \
    X(arange, (hd_arange)(hd_scalar_int(a->i), hd_scalar_int(a->j), a->s))                         \
    X(linspace, hd_linspace(HD_FLOAT32, a->i, a->d, a->k))                                         \
    X(eye, hd_eye((hd_dtype)(a->i & 3), a->j, a->k))

#define OPS_REDUCTION(X)                                                                           \
    UNARY(X, sum)                                                                                  \
    KEEPING(X, sum_dim)                                                                            \
    X(sum_dims, hd_sum_dims_n(a->x, a->on, a->n, a->sizes))                                        \
    UNARY(X, mean)                                                                                 \
    KEEPING(X, mean_dim)                                                                           \
    X(mean_dims, hd_mean_dims_n(a->x, a->on, a->n, a->sizes))                                      \
    X(var, hd_var(a->x, a->on))                                                                    \
    X(var_dim, hd_var_dim(a->x, a->i, (int)a->k, a->on))                                           \
    X(var_dims, hd_var_dims_n(a->x, (int)a->k, a->on, a->n, a->sizes))                             \
    KEEPING(X, logsumexp_dim)                                                                      \
    X(logsumexp_dims, hd_logsumexp_dims_n(a->x, a->on, a->n, a->sizes))                            \
    UNARY(X, max)                                                                                  \
    UNARY(X, min)                                                                                  \
    X(max_dim, hd_max_dim(a->x, a->i, a->on, NULL))                                                \
    X(min_dim, hd_min_dim(a->x, a->i, a->on, NULL))                                                \
    X(max_dim_indices, other_of(hd_max_dim(a->x, a->i, a->on, other())))                           \
    UNARY(X, argmax)                                                                               \
    UNARY(X, argmin)                                                                               \
    KEEPING(X, argmax_dim)                                                                         \
    KEEPING(X, argmin_dim)                                                                         \
    UNARY(X, any)                                                                                  \
    UNARY(X, all)                                                                                  \
    KEEPING(X, any_dim)                                                                            \
    KEEPING(X, all_dim)                                                                            \
    ALONG(X, softmax)                                                                              \
    ALONG(X, log_softmax)                                                                          \
    ALONG(X, cumsum)

#define OPS_PRODUCT(X)                                                                             \
    BINARY(X, dot)                                                                                 \
    BINARY(X, matmul)                                                                              \
    X(linear, hd_linear(a->x, a->y, a->z))                                                         \
    X(layer_norm, hd_layer_norm_n(a->x, a->n, a->sizes, a->y, a->z, 1e-5))                         \
    X(attention, hd_scaled_dot_product_attention(a->x, a->y, a->z, HD_NONE, 0, a->on))             \
    X(attention_masked, attention(a))                                                              \
    X(attention_weights, other_of(attention_with(a, other())))                                     \
    BINARY(X, mse_loss)                                                                            \
    X(mse_loss_with, hd_mse_loss_with(a->x, a->y, (hd_reduction)(a->k % 4)))                       \
    BINARY(X, cross_entropy)                                                                       \
    X(cross_entropy_with, cross_entropy(a))                                                        \
    X(bernoulli, hd_bernoulli(a->x))                                                               \
    X(dropout, hd_dropout(a->x, a->d, a->on))                                                      \
    X(multinomial, hd_multinomial(a->x, a->k, a->on))

#define OPS_IN_PLACE(X)                                                                            \
    BINARY(X, add_)                                                                                \
    BINARY(X, sub_)                                                                                \
    BINARY(X, mul_)                                                                                \
    BINARY(X, div_)                                                                                \
    SCALAR(X, add_scalar_)                                                                         \
    SCALAR(X, sub_scalar_)                                                                         \
    SCALAR(X, mul_scalar_)                                                                         \
    SCALAR(X, div_scalar_)                                                                         \
    SCALAR(X, fill_)                                                                               \
    UNARY(X, zero_)                                                                                \
    BINARY(X, copy_)                                                                               \
    X(masked_fill_, (hd_masked_fill_)(a->x, a->y, a->s))                                           \
    X(uniform_, hd_uniform_(a->x, a->i, a->j))                                                     \
    X(normal_, hd_normal_(a->x, a->i, a->d))                                                       \
    X(bernoulli_, hd_bernoulli_(a->x, a->d))                                                       \
    X(exponential_, hd_exponential_(a->x, a->d))                                                   \
    X(setitem_, hd_setitem_n(a->x, a->y, a->n, a->sizes))                                          \
    X(setitem_scalar_, (hd_setitem_scalar_n)(a->x, a->s, a->n, a->sizes))                          \
    X(trunc_normal_, hd_init_trunc_normal_(a->x, 0, 1, -2, 2))                                     \
    X(orthogonal_, hd_init_orthogonal_(a->x, a->d))                                                \
    X(kaiming_, hd_init_kaiming_uniform_(a->x, a->d, HD_FAN_IN, "leaky_relu"))

#define OPS(X)                                                                                     \
    OPS_ARITHMETIC(X)                                                                              \
    OPS_COMPARISON(X)                                                                              \
    OPS_VIEW(X)                                                                                    \
    OPS_COPY(X)                                                                                    \
    OPS_REDUCTION(X)                                                                               \
    OPS_PRODUCT(X)                                                                                 \
    OPS_IN_PLACE(X)

#endif
