/* rows_nn.h - the functions of nn.h as rows; table.h explains the form. */

/* ---------------------------------------------------------------- making */

ROW_AS(DRAWS, hd_module_new, "and the registrations", own_new())
SKIP_ROW(hd_register_parameter, "own_new calls it")
SKIP_ROW(hd_register_buffer, "own_new calls it")
SKIP_ROW(hd_register_module, "own_new calls it")
SKIP_ROW(hd_module_ready, "own_new calls it")
SKIP_ROW(hd_module_free, "every world calls it")
NEVER_ROW(hd_set_init_mode, hd_set_init_mode(true))
NEVER_ROW(hd_dropout_p, hd_dropout_p(hd_module_get(w->mixed, "3")) == 0.5)
NEVER_ROW(hd_norm_eps, hd_norm_eps(hd_module_get(w->mixed, "2")) == 1e-5)
NEVER_ROW(hd_gelu_approximate, hd_gelu_approximate(hd_module_get(w->mixed, "1"))[0] == 'n')
ROW(hd_layer_norm_new_n, "", hd_layer_norm_new_n(2, (int64_t[]){3, 4}, 1e-5, true, true))
ROW(hd_layer_norm_new_n, "without bias", hd_layer_norm_new_n(1, (int64_t[]){3}, 1e-5, true, false))
ROW_AS(DRAWS, hd_sequential_n, "", hd_sequential(hd_linear_new(3, 4, true), hd_relu_new(false)))
ROW_AS(DRAWS, hd_module_list_n, "", hd_module_list(hd_linear_new(3, 4, true), hd_relu_new(false)))
ROW(hd_module_list_append, "", hd_module_list_append(w->list_module, hd_relu_new(true)))
ROW(hd_self_attention_v1_new, "", hd_self_attention_v1_new(3, 2))
ROW(hd_self_attention_v2_new, "", hd_self_attention_v2_new(3, 2, true))
ROW(hd_causal_attention_new, "", hd_causal_attention_new(3, 2, 4, 0.5, true))
ROW(hd_multi_head_attention_wrapper_new, "",
    hd_multi_head_attention_wrapper_new(3, 2, 4, 0.5, 2, false))
ROW(hd_multi_head_attention_new, "", hd_multi_head_attention_new(4, 4, 5, 0.5, 2, true))
ROW(hd_feed_forward_new, "", hd_feed_forward_new(4, 8))
ROW_AS(DRAWS, hd_transformer_block_new, "", new_block())
ROW(hd_multihead_attention_new, "", hd_multihead_attention_new(4, 2, NULL))
ROW(hd_multihead_attention_new, "with bias_k and kdim", new_packed(true))

/* ---------------------------------------------------------------- running */

ROW(hd_forward, "Linear", hd_forward(w->linear, w->x))
ROW(hd_forward, "a Sequential with dropout", hd_forward(w->mixed, w->x))
ROW(hd_forward, "an Embedding", hd_forward(w->embedding, w->ids))
ROW(hd_forward, "MultiHeadAttention that keeps its weights", hd_forward(w->heads, w->tokens3))
ROW(hd_forward, "CausalAttention", hd_forward(w->causal, w->tokens3))
ROW(hd_forward, "a TransformerBlock", hd_forward(w->block, w->tokens3))
ROW(hd_forward, "MultiheadAttention", hd_forward(w->packed, w->tokens3))
ROW(hd_forward_begin, "", begin_and_end(w->linear, w->x))
ROW(hd_forward_end, "", begin_and_end(w->linear, w->plain))
NEVER_ROW(hd_module_train, hd_module_train(w->block, true))
NEVER_ROW(hd_module_eval, hd_module_eval(w->mixed))
NEVER_ROW(hd_module_training, hd_module_training(w->mixed))

/* ---------------------------------------------------------------- what is inside */

ROW(hd_module_parameters, "", hd_module_parameters(w->block))
ROW(hd_module_named_parameters, "", hd_module_named_parameters(w->block))
ROW(hd_module_named_buffers, "", hd_module_named_buffers(w->block))
NEVER_ROW(hd_module_get, (const void *)hd_module_get(w->block, "att"))
NEVER_ROW(hd_module_get_parameter, hd_module_get_parameter(w->block, "att.W_query.weight"))
NEVER_ROW(hd_module_get_buffer, hd_module_get_buffer(w->block, "att.mask"))
ROW(hd_module_set_parameter, "",
    hd_module_set_parameter(w->linear, "weight", hd_parameter(w->plain, true)))
ROW(hd_module_set_parameter, "of bfloat16",
    hd_module_set_parameter(w->linear, "weight",
                            hd_parameter(hd_to(hd_detach(w->plain), HD_BFLOAT16), false)))
NEVER_ROW(hd_module_set_parameter, hd_module_set_parameter(w->linear, "weight", w->q))
ROW(hd_module_visit, "", visited(w))
ROW(hd_module_state_dict, "", hd_module_state_dict(w->block))
ROW(hd_module_load_state_dict, "", hd_module_load_state_dict(w->mixed, w->state, true, NULL))
DO(CALL, hd_module_load_state_dict, "with a report", {
    bool ok = hd_module_load_state_dict(w->mixed, w->grads_state, false, w->report);
    keep(o, thing_of_bool(ok));
})
ROW(hd_module_save_grads, "", hd_module_save_grads(w->linear, w->dict, "g"))
ROW(hd_module_save_grads, "in place of others",
    hd_module_save_grads(w->linear, w->grads_state, "g"))
ROW(hd_module_load_grads, "", hd_module_load_grads(w->linear, w->grads_state, "g"))
ROW(hd_module_zero_grad, "", hd_module_zero_grad(w->linear))
ROW(hd_module_requires_grad_, "", hd_module_requires_grad_(w->block, false))
ROW(hd_module_freeze, "", hd_module_freeze(w->block, "att"))
ROW(hd_module_num_parameters, "", hd_module_num_parameters(w->block, true))
ROW(hd_module_set, "", hd_module_set(w->block, "ff", hd_relu_new(false)))
NEVER_ROW(hd_module_take, taken_and_set(w))
ROW(hd_module_to, "", hd_module_to(w->block, HD_FLOAT64))
ROW(hd_module_summary, "", hd_module_summary(w->block))
SKIP_ROW(hd_module_print, "it prints hd_module_summary to stdout")
NEVER_ROW(hd_module_list_len, hd_module_list_len(w->list_module))
NEVER_ROW(hd_module_list_get, (const void *)hd_module_list_get(w->list_module, 0))

/* ---------------------------------------------------------------- initialisation */

NEVER_ROW(hd_init_uniform_, hd_init_uniform_(w->plain, -1, 1))
NEVER_ROW(hd_init_uniform_, hd_init_uniform_(w->p, -1, 1))
NEVER_ROW(hd_init_normal_, hd_init_normal_(w->p, 0, 1))
ROW(hd_init_normal_, "transposed", hd_init_normal_(hd_t(w->plain), 0, 1))
NEVER_ROW(hd_init_constant_, hd_init_constant_(w->p, 3))
NEVER_ROW(hd_init_ones_, hd_init_ones_(w->p))
NEVER_ROW(hd_init_zeros_, hd_init_zeros_(w->p))
ROW(hd_init_trunc_normal_, "", hd_init_trunc_normal_(w->p, 0, 1, -0.1, 0.1))
ROW(hd_init_trunc_normal_, "transposed", hd_init_trunc_normal_(hd_t(w->plain), 0, 1, -0.5, 2))
NEVER_ROW(hd_init_xavier_uniform_, hd_init_xavier_uniform_(w->p, 1))
NEVER_ROW(hd_init_xavier_normal_, hd_init_xavier_normal_(w->p, 1))
NEVER_ROW(hd_init_kaiming_uniform_, hd_init_kaiming_uniform_(w->p, 0, HD_FAN_IN, "relu"))
NEVER_ROW(hd_init_kaiming_normal_, hd_init_kaiming_normal_(w->p, 0, HD_FAN_OUT, "leaky_relu"))
ROW(hd_init_orthogonal_, "", hd_init_orthogonal_(w->p, 1))
ROW(hd_init_orthogonal_, "wide", hd_init_orthogonal_(hd_narrow(w->plain, 0, 0, 2), 1))
NEVER_ROW(hd_calculate_gain, hd_calculate_gain("relu", 0))

/* ---------------------------------------------------------------- attention, caches */

ROW(hd_kv_cache_new, "", hd_kv_cache_new(w->heads, 2))
ROW(hd_kv_cache_new_for, "", hd_kv_cache_new_for(HD_FLOAT32, 2, 2, 6, 2))
DO(CALL, hd_kv_cache_update, "", {
    hd_tensor *k = hd_ones(HD_FLOAT32, 2, 2, 1, 2), *v = k;
    bool ok = hd_kv_cache_update(w->cache, &k, &v); /* on failure k and v stay as they are */
    keep(o, thing_of_bool(ok));
    KEEP_OUT(o, "keys", ok ? k : NULL);
    KEEP_OUT(o, "values", ok ? v : NULL);
})
SKIP_ROW(hd_kv_cache_free, "every world calls it")
NEVER_ROW(hd_kv_cache_len, hd_kv_cache_len(w->cache))
NEVER_ROW(hd_kv_cache_truncate, hd_kv_cache_truncate(w->cache, 1))
DO(CALL, hd_multi_head_attention_cached, "",
   { keep(o, thing_of_tensor(hd_multi_head_attention_cached(w->heads, w->tokens3, w->cache))); })
ROW(hd_transformer_block_cached, "",
    hd_transformer_block_cached(w->block, w->tokens3, w->block_cache))
NEVER_ROW(hd_attention_keep_weights, hd_attention_keep_weights(w->causal, true))
ROW(hd_attention_weights, "", hd_attention_weights(w->heads))
DO(CALL, hd_multihead_attention, "", {
    hd_tensor *weights = NULL;
    hd_tensor *x = w->tokens3;
    keep(o, thing_of_tensor(hd_multihead_attention(w->packed, x, x, x, NULL, &weights)));
    KEEP_OUT(o, "weights", weights);
})
