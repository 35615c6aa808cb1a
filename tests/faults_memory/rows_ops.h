/* rows_ops.h - the functions of autograd.h that have no generated row; table.h explains the
 * form. */

/* ---------------------------------------------------------------- grad mode, leaves, gradients */

NEVER_ROW(hd_grad_mode, hd_grad_mode())
NEVER_ROW(hd_set_grad_mode, hd_set_grad_mode(false))
ROW(hd_requires_grad_, "", hd_requires_grad_(w->plain, true))
NEVER_ROW(hd_requires_grad_, hd_requires_grad_(w->p, false))
NEVER_ROW(hd_requires_grad, hd_requires_grad(w->x))
NEVER_ROW(hd_is_leaf, hd_is_leaf(w->p))
ROW(hd_retain_grad, "", hd_retain_grad(w->x))
NEVER_ROW(hd_grad_fn, hd_grad_fn(w->x))
ROW(hd_grad_fn, "of a user's op", hd_grad_fn(own_apply(w, w->x)))
ROW(hd_parameter, "", hd_parameter(w->plain, true))
ROW(hd_parameter, "without a gradient", hd_parameter(w->plain, false))
NEVER_ROW(hd_is_parameter, !hd_is_parameter(w->x))
ROW(hd_grad, "", hd_grad(w->q))
NEVER_ROW(hd_grad, hd_grad(w->p))
ROW(hd_set_grad, "", hd_set_grad(w->p, w->grad))
ROW(hd_set_grad, "in place of another", hd_set_grad(w->q, w->grad))
NEVER_ROW(hd_set_grad, hd_set_grad(w->q, HD_NONE))
ROW(hd_set_grads, "", hd_set_grads(w->leaves, w->grads))

/* ---------------------------------------------------------------- backward */

ROW_AS(CONSUMES, hd_backward, "", hd_backward(w->loss))
ROW(hd_backward_with, "", hd_backward_with(w->loss, HD_NONE, true))
ROW_AS(CONSUMES, hd_backward_with, "the graph goes", hd_backward_with(w->x, w->grad, false))
ROW(hd_backward_with, "a hook and retain_grad", hd_backward_with(w->hooked, w->grad, true))
ROW(hd_backward_with, "several paths",
    hd_backward_with(hd_add(hd_mul(w->x, w->x), hd_mul(w->x, w->hooked)), w->grad, true))
ROW(hd_grad_of, "",
    hd_grad_of(hd_list_of(w->loss), hd_list_of(w->p, w->v), NULL,
               &(hd_grad_options){sizeof(hd_grad_options), true, false}))
ROW(hd_grad_of, "of a non-leaf, with grad_outputs and an unused input",
    hd_grad_of(hd_list_of(hd_mul(w->x, w->p), w->loss), hd_list_of(w->x, w->q), w->some_grads,
               &(hd_grad_options){sizeof(hd_grad_options), true, true}))
ROW(hd_register_hook, "", hd_register_hook(w->x, tripled, NULL) > 0)
ROW(hd_register_hook, "a second one", hd_register_hook(w->hooked, tripled, NULL) > 0)
NEVER_ROW(hd_remove_hook, hd_remove_hook(w->hooked, w->hook))
NEVER_ROW(hd_on_backward_end, hd_on_backward_end(NULL, NULL))
NEVER_ROW(hd_backward_depth, hd_backward_depth() == 0)
ROW(hd_set_backward_grad, "for one that there is", backward_giving(w, w->p))
ROW(hd_set_backward_grad, "for a leaf that takes no part", backward_giving(w, w->q))

/* ---------------------------------------------------------------- users' ops, gradcheck */

ROW(hd_apply_n, "", own_apply(w, w->x))
ROW(hd_apply_n, "nothing requires grad", own_apply(w, w->plain))
ROW(hd_apply_multi_n, "", own_apply_two(w))
ROW(hd_apply_multi_n, "the second result", hd_list_get(own_apply_two(w), 1))
SKIP_ROW(hd_save, "own_forward calls it")
SKIP_ROW(hd_saved, "own_backward calls it")
SKIP_ROW(hd_needs_grad, "own_backward calls it")
SKIP_ROW(hd_ctx_user, "own_free calls it")
ROW(hd_gradcheck_n, "", gradcheck(w, cube))
ROW(hd_gradcheck_n, "with draws", gradcheck(w, dropped))

/* ---------------------------------------------------------------- walking the graph */

NEVER_ROW(hd_grad_node, hd_grad_node(w->x))
NEVER_ROW(hd_node_name, hd_node_name(hd_grad_node(w->x)))
ROW(hd_node_name, "of a user's op", hd_node_name(hd_grad_node(own_apply(w, w->x))))
NEVER_ROW(hd_node_is_leaf, !hd_node_is_leaf(hd_grad_node(w->x)))
NEVER_ROW(hd_node_inputs, hd_node_inputs(hd_grad_node(w->x)))
NEVER_ROW(hd_node_outputs, hd_node_outputs(hd_grad_node(w->x)))
NEVER_ROW(hd_node_input, hd_node_input(hd_grad_node(w->x), 0, NULL))
NEVER_ROW(hd_node_sizes, hd_node_sizes(hd_grad_node(w->x), 0, &(int){0}))

/* ---------------------------------------------------------------- views */

ROW(hd_view_n, "", hd_view(w->x, 9))
ROW(hd_reshape_n, "", hd_reshape(w->x, 9))
ROW(hd_reshape_n, "a copy", hd_reshape(hd_t(w->x), 9))
ROW(hd_transpose, "", hd_transpose(w->x, 0, 1))
ROW(hd_permute_n, "", hd_permute(w->x, 1, 0))
ROW(hd_expand_n, "", hd_expand(w->v, 3, 3))
ROW(hd_repeat_n, "", hd_repeat(w->x, 2, 1, 3))
ROW(hd_repeat_interleave, "", hd_repeat_interleave(w->x, 2, 0))
ROW(hd_flatten, "", hd_flatten(w->x, 0, -1))
ROW(hd_slice, "", hd_slice(w->x, 1, 1, 3))
ROW(hd_slice_step, "", hd_slice_step(w->x, 0, 0, 3, 2))
ROW(hd_split, "", hd_split(w->x, 2, 1))
ROW(hd_split, "one part", hd_list_get(hd_split(w->x, 2, 1), 1))
ROW(hd_split_sizes_n, "", hd_split_sizes_n(w->x, 2, (int64_t[]){1, 2}, 0))
ROW(hd_chunk, "", hd_list_get(hd_chunk(w->x, 2, 0), 0))
ROW(hd_unbind, "", hd_list_get(hd_unbind(w->x, 0), 2))
ROW(hd_getitem_n, "", hd_getitem(w->x, 1))
ROW(hd_getitem_n, "a column", hd_getitem(w->x, HD_ALL, 2))

/* ---------------------------------------------------------------- copies */

ROW(hd_contiguous, "", hd_contiguous(hd_t(w->x)))
NEVER_ROW(hd_contiguous, hd_contiguous(w->x))
ROW(hd_clone, "transposed", hd_clone(hd_t(w->x)))
ROW(hd_cat_n, "", hd_cat_n(3, (hd_tensor *[]){w->x, w->y, w->x}, 1))
ROW(hd_cat_list, "", hd_cat_list(w->list, 0))
ROW(hd_cat_list, "of two dtypes", hd_cat(0, w->x, w->d))
ROW(hd_stack_n, "", hd_stack_n(2, (hd_tensor *[]){w->x, w->y}, 1))
ROW(hd_stack_list, "", hd_stack_list(w->list, 2))

/* ---------------------------------------------------------------- arithmetic and functions */

ROW(hd_add, "broadcast", hd_add(w->x, w->v))
ROW(hd_add, "of two dtypes", hd_add(w->x, w->d))
ROW(hd_mul, "transposed", hd_mul(hd_t(w->x), w->y))
ROW(hd_mul, "many elements", hd_mul(w->wide, w->v))
ROW(hd_div, "broadcast", hd_div(w->v, w->x))
ROW(hd_div, "integers", hd_div(w->indices, w->target))
ROW(hd_pow, "broadcast", hd_pow(w->x, w->v))
ROW(hd_pow_scalar, "", hd_pow_scalar(w->x, 0.5))
ROW(hd_maximum, "broadcast", hd_maximum(w->x, w->v))
ROW(hd_exp, "integers", hd_exp(w->indices))
ROW(hd_gelu, "transposed", hd_gelu(hd_t(w->x)))
ROW(hd_clamp, "", hd_clamp(w->x, 0.2, 0.8))
ROW(hd_where, "", hd_where(w->mask, w->x, w->v))
ROW(hd_masked_fill, "", hd_masked_fill(w->x, w->mask, -3))
ROW(hd_logical_and, "", hd_logical_and(w->mask, w->x))
ROW(hd_logical_and, "broadcast", hd_logical_and(w->mask, w->target))
ROW(hd_equal, "", hd_equal(w->x, hd_clone(w->x)))
ROW(hd_equal, "itself", hd_equal(w->x, w->x))
ROW(hd_allclose, "", hd_allclose(w->x, w->x, 1e-5, 1e-8, false))
ROW(hd_eq, "of two dtypes", hd_eq(w->x, w->d))

/* ---------------------------------------------------------------- in place */

ROW(hd_add_, "broadcast", hd_add_(w->x, w->v))
ROW(hd_add_, "a view", hd_add_(w->row, w->v))
ROW(hd_add_, "the base of a view", hd_add_(w->h, w->v))
ROW(hd_sub_, "another dtype", hd_sub_(w->x, w->d))
ROW(hd_mul_, "a view", hd_mul_(w->row, w->v))
ROW(hd_mul_, "broadcast", hd_mul_(w->x, w->v))
ROW(hd_mul_, "a plain tensor", hd_mul_(w->plain, w->y))
ROW_AS(ALONE, hd_mul_, "itself", hd_mul_(w->x, w->x))
ROW(hd_div_, "float64", hd_div_(w->x, w->d))
ROW(hd_mul_scalar_, "a view", hd_mul_scalar_(w->row, 3))
ROW(hd_fill_, "a view", hd_fill_(w->row, 3))
ROW(hd_zero_, "a plain tensor's row", hd_zero_(hd_select(w->plain, 0, 1)))
ROW(hd_copy_, "broadcast", hd_copy_(w->x, w->v))
ROW(hd_copy_, "another dtype", hd_copy_(w->x, w->d))
ROW(hd_copy_, "into a view", hd_copy_(w->row, w->v))
ROW(hd_masked_fill_, "", hd_masked_fill_(w->x, w->mask, -3))
ROW(hd_masked_fill_, "a view", hd_masked_fill_(w->row, hd_select(w->mask, 0, 0), -3))
ROW(hd_uniform_, "", hd_uniform_(w->x, 0, 1))
ROW(hd_uniform_, "transposed", hd_uniform_(hd_t(w->z), 0, 1))
ROW(hd_normal_, "", hd_normal_(w->x, 0, 1))
ROW(hd_normal_, "many", hd_normal_(hd_clone(hd_detach(w->wide)), 0, 1))
ROW(hd_normal_, "transposed", hd_normal_(hd_t(w->x), 0, 1))
ROW(hd_bernoulli_, "", hd_bernoulli_(w->x, 0.5))
ROW(hd_bernoulli_, "transposed", hd_bernoulli_(hd_t(w->z), 0.5))
ROW(hd_exponential_, "", hd_exponential_(w->x, 2))
ROW(hd_setitem_n, "", hd_setitem(w->x, w->v, 1))
ROW(hd_setitem_n, "a plain tensor", hd_setitem(w->plain, hd_detach(w->v), 1))
ROW(hd_setitem_scalar_n, "", hd_setitem_scalar(w->x, 4, 1, 2))

/* ---------------------------------------------------------------- reductions */

ROW(hd_sum, "transposed", hd_sum(hd_t(w->x)))
ROW(hd_sum, "many elements", hd_sum(w->wide))
ROW(hd_sum, "bool", hd_sum(w->mask))
ROW(hd_sum_dim, "", hd_sum_dim(w->x, 0, false))
ROW(hd_sum_dims_n, "", hd_sum_dims(w->x, true, 0, 1))
ROW(hd_mean_dims_n, "", hd_mean_dims(w->x, false, 0, 1))
ROW(hd_var_dim, "", hd_var_dim(w->x, 0, 1, false))
ROW(hd_var_dims_n, "", hd_var_dims(w->x, 1, true, 0, 1))
ROW(hd_std_dims_n, "", hd_std_dims(w->x, 1, true, 0, 1))
ROW(hd_prod_dim, "", hd_prod_dim(w->x, 1, true))
ROW(hd_logsumexp_dim, "", hd_logsumexp_dim(w->x, 0, false))
ROW(hd_logsumexp_dims_n, "", hd_logsumexp_dims(w->x, true, 0, 1))
DO(CALL, hd_max_dim, "", {
    hd_tensor *at = NULL;
    keep(o, thing_of_tensor(hd_max_dim(w->x, 1, true, &at)));
    KEEP_OUT(o, "indices", at);
})
DO(CALL, hd_min_dim, "", {
    hd_tensor *at = NULL;
    keep(o, thing_of_tensor(hd_min_dim(w->x, 0, false, &at)));
    KEEP_OUT(o, "indices", at);
})
ROW(hd_max_dim, "without indices", hd_max_dim(w->x, 1, true, NULL))
ROW(hd_cumsum, "transposed", hd_cumsum(hd_t(w->x), 1))
ROW(hd_softmax, "transposed", hd_softmax(hd_t(w->x), 1))
ROW(hd_softmax, "dim 0", hd_softmax(w->x, 0))
ROW(hd_log_softmax, "dim 0", hd_log_softmax(w->x, 0))
ROW(hd_any_dim, "", hd_any_dim(w->mask, 0, false))
ROW(hd_all, "", hd_all(w->mask))

/* ---------------------------------------------------------------- products */

ROW(hd_dot, "", hd_dot(w->v, w->v))
ROW(hd_outer, "", hd_outer(w->v, w->v))
ROW(hd_matmul, "with a vector", hd_matmul(w->x, w->v))
ROW(hd_matmul, "a vector first", hd_matmul(w->v, w->x))
ROW(hd_matmul, "batches", hd_matmul(hd_expand(w->x, 5, 3, 3), hd_t(w->y)))
ROW(hd_matmul, "batches that broadcast",
    hd_matmul(hd_expand(hd_unsqueeze(w->x, 0), 2, 3, 3), hd_unsqueeze(w->y, 0)))
ROW(hd_matmul, "larger than a tile", hd_matmul(w->wide, hd_t(w->wide)))
ROW(hd_matmul, "float64", hd_matmul(w->d, w->d))
ROW(hd_linear, "", hd_linear(w->x, w->y, w->v))
ROW(hd_linear, "by bfloat16", hd_linear(w->x, hd_to(hd_detach(w->y), HD_BFLOAT16), w->v))
ROW(hd_linear, "without bias", hd_linear(w->x, w->y, HD_NONE))
ROW(hd_linear, "transposed", hd_linear(hd_t(w->x), hd_t(w->y), w->v))
ROW(hd_linear, "larger than a tile", hd_linear(w->wide, w->wide, HD_NONE))

/* ---------------------------------------------------------------- picking elements */

ROW(hd_index_select, "", hd_index_select(w->x, 0, w->index))
ROW(hd_index_select, "dim 1", hd_index_select(w->x, 1, w->index))
ROW(hd_gather, "", hd_gather(w->x, 1, w->indices))
ROW(hd_embedding, "", hd_embedding(w->indices, w->x, HD_NO_PADDING))
ROW(hd_embedding, "of bfloat16",
    hd_embedding(w->indices, hd_to(hd_detach(hd_t(w->x)), HD_BFLOAT16), HD_NO_PADDING))
ROW(hd_embedding, "with padding", hd_embedding(w->target, w->x, 1))
DO(CALL, hd_topk, "", {
    hd_tensor *at = NULL;
    keep(o, thing_of_tensor(hd_topk(w->x, 2, 1, true, &at)));
    KEEP_OUT(o, "indices", at);
})
ROW(hd_topk, "without indices", hd_topk(w->x, 2, 0, false, NULL))
ROW(hd_one_hot, "", hd_one_hot(w->index, 3))
ROW(hd_one_hot, "counted", hd_one_hot(w->indices, -1))
DO(CALL, hd_sort, "", {
    hd_tensor *at = NULL;
    keep(o, thing_of_tensor(hd_sort(hd_t(w->x), 1, true, &at)));
    KEEP_OUT(o, "indices", at);
})
ROW(hd_sort, "without indices", hd_sort(w->x, 0, false, NULL))
ROW(hd_argsort, "of bool", hd_argsort(w->mask, 1, false))
ROW(hd_index_add, "", hd_index_add(w->x, 0, w->index, hd_index_select(w->y, 0, w->index)))
ROW(hd_scatter, "", hd_scatter(w->x, 1, w->indices, w->y))
ROW(hd_bincount, "", hd_bincount(w->index, 7))

/* ---------------------------------------------------------------- random */

ROW(hd_bernoulli, "", hd_bernoulli(hd_detach(w->x)))
ROW(hd_dropout, "half of it", hd_dropout(w->x, 0.5, true))
ROW(hd_dropout, "all", hd_dropout(w->x, 1, true))
ROW(hd_dropout, "transposed", hd_dropout(hd_t(w->x), 0.5, true))
NEVER_ROW(hd_dropout, hd_dropout(w->x, 0.5, false))
ROW(hd_multinomial, "", hd_multinomial(w->plain, 5, true))
ROW(hd_multinomial, "without replacement", hd_multinomial(w->plain, 2, false))
ROW(hd_multinomial, "one row", hd_multinomial(hd_detach(w->v), 1, false))

/* ---------------------------------------------------------------- normalisation, losses */

ROW(hd_layer_norm_n, "", hd_layer_norm_n(w->x, 1, (int64_t[]){3}, w->v, w->v, 1e-5))
ROW(hd_layer_norm_n, "without weight and bias",
    hd_layer_norm_n(w->x, 2, (int64_t[]){3, 3}, HD_NONE, HD_NONE, 1e-5))
ROW(hd_layer_norm_n, "transposed", hd_layer_norm_n(hd_t(w->x), 1, (int64_t[]){3}, w->v, HD_NONE, 1))
ROW(hd_rms_norm, "", hd_rms_norm(w->x, w->v, 1e-5))
ROW(hd_rms_norm, "without weight", hd_rms_norm(hd_t(w->x), HD_NONE, 1e-5))
ROW(hd_mse_loss, "of two dtypes", hd_mse_loss(w->x, w->d))
ROW(hd_mse_loss_with, "the sum", hd_mse_loss_with(w->x, w->y, HD_SUM))
ROW(hd_mse_loss_with, "each", hd_mse_loss_with(w->x, w->y, HD_REDUCE_NONE))
ROW(hd_l1_loss, "of two dtypes", hd_l1_loss(w->x, w->d))
ROW(hd_l1_loss_with, "each", hd_l1_loss_with(w->x, w->y, HD_REDUCE_NONE))
ROW(hd_smooth_l1_loss_with, "the sum", hd_smooth_l1_loss_with(w->x, w->d, 0.5, HD_SUM))
ROW(hd_kl_div_with, "of logarithms", hd_kl_div_with(w->x, w->y, true, HD_MEAN))
ROW(hd_binary_cross_entropy, "", hd_binary_cross_entropy(hd_sigmoid(w->x), hd_sigmoid(w->y)))
ROW(hd_binary_cross_entropy_with, "each",
    hd_binary_cross_entropy_with(hd_t(hd_sigmoid(w->x)), hd_sigmoid(w->y), HD_REDUCE_NONE))
ROW(hd_binary_cross_entropy_with_logits_with, "the sum",
    hd_binary_cross_entropy_with_logits_with(w->x, w->y, HD_SUM))
ROW(hd_cross_entropy, "", hd_cross_entropy(w->x, w->target))
ROW(hd_cross_entropy_with, "",
    hd_cross_entropy_with(w->x, w->target,
                          &(hd_cross_entropy_options){sizeof(hd_cross_entropy_options), 1, HD_SUM}))
ROW(hd_cross_entropy_with, "each",
    hd_cross_entropy_with(w->x, w->target,
                          &(hd_cross_entropy_options){sizeof(hd_cross_entropy_options), 1,
                                                      HD_REDUCE_NONE}))
ROW(hd_nll_loss, "", hd_nll_loss(w->x, w->target))
ROW(hd_nll_loss_with, "each",
    hd_nll_loss_with(w->x, w->target,
                     &(hd_cross_entropy_options){sizeof(hd_cross_entropy_options), 1,
                                                 HD_REDUCE_NONE}))

/* ---------------------------------------------------------------- attention */

NEVER_ROW(hd_fused_attention, hd_fused_attention())
NEVER_ROW(hd_set_fused_attention, (hd_set_fused_attention(true), true))
ROW(hd_scaled_dot_product_attention, "",
    hd_scaled_dot_product_attention(w->x, w->y, w->y, HD_NONE, 0, true))
ROW(hd_scaled_dot_product_attention, "a mask",
    hd_scaled_dot_product_attention(w->x, w->y, w->y, w->mask, 0, false))
ROW(hd_scaled_dot_product_attention, "dropout",
    hd_scaled_dot_product_attention(w->x, w->y, w->y, HD_NONE, 0.5, false))
ROW(hd_scaled_dot_product_attention, "tiles",
    hd_scaled_dot_product_attention(w->wide, w->wide, w->wide, HD_NONE, 0, true))
ROW(hd_scaled_dot_product_attention, "tiles, dropout",
    hd_scaled_dot_product_attention(w->wide, w->wide, w->wide, HD_NONE, 0.5, false))
ROW(hd_scaled_dot_product_attention, "a mask that learns",
    hd_scaled_dot_product_attention(w->x, w->y, w->y, w->x, 0, false))
ROW(hd_scaled_dot_product_attention, "float64",
    hd_scaled_dot_product_attention(w->d, w->d, w->d, HD_NONE, 0.5, false))
ROW(hd_scaled_dot_product_attention, "plain ops", plain_attention(w))
DO(CALL, hd_scaled_dot_product_attention_with, "the weights", {
    hd_tensor *weights = NULL;
    hd_attention_options a = attention_options(w->mask, 0.5);
    keep(o, thing_of_tensor(hd_scaled_dot_product_attention_with(w->x, w->y, w->y, &a, &weights)));
    KEEP_OUT(o, "weights", weights);
})
DO(CALL, hd_scaled_dot_product_attention_with, "grouped queries, the weights", {
    hd_tensor *weights = NULL, *q = hd_unsqueeze(w->x, 1), *k = hd_unsqueeze(w->y, 0);
    hd_attention_options a = attention_options(hd_unsqueeze(w->mask, 1), 0.5);
    a.enable_gqa = true;
    keep(o, thing_of_tensor(hd_scaled_dot_product_attention_with(q, k, k, &a, &weights)));
    KEEP_OUT(o, "weights", weights);
})
DO(CALL, hd_rotary_tables, "", {
    hd_tensor *c = NULL, *s = NULL;
    keep(o, thing_of_bool(hd_rotary_tables(4, 3, NULL, &c, &s)));
    KEEP_OUT(o, "cos", c);
    KEEP_OUT(o, "sin", s);
})
ROW(hd_rotary, "", turned_columns(w, hd_narrow(w->x, 1, 0, 2)))
ROW(hd_rotary, "transposed", turned_columns(w, hd_t(hd_narrow(w->x, 0, 0, 2))))
DO(CALL, hd_scaled_dot_product_attention_with, "tiles, the weights", {
    hd_tensor *weights = NULL;
    hd_attention_options a = attention_options(HD_NONE, 0.25);
    keep(o, thing_of_tensor(
                hd_scaled_dot_product_attention_with(w->wide, w->wide, w->wide, &a, &weights)));
    KEEP_OUT(o, "weights", weights);
})
