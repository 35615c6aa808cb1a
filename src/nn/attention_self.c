/* attention_self.c - SelfAttention_v1 and SelfAttention_v2, line for line as in the notebooks
 * (README.md): every token attends to every token. Vaswani et al. 2017, "Attention Is All You
 * Need", eq. 1. */
#include "nn/attention_weights.h"

/* Returns softmax(queries @ keys^T / sqrt(d_out)) @ values. This result and p's three tensors are
 * (n, d_out). */
static hd_tensor *self_attend(hd_module *self, hd__nn_projected p)
{
    hd_tensor *attn_scores = hd_matmul(p.queries, hd_t(p.keys)); /* (n, n) */
    return hd__nn_weigh((hd__nn_attention *)self, attn_scores, p.keys, p.values);
}

/* ---------------------------------------------------------------- SelfAttention_v1 */

typedef struct self_attention_v1 {
    hd__nn_attention base;
    hd_tensor *W_query, *W_key, *W_value; /* (d_in, d_out) */
} self_attention_v1;

static hd_tensor *self_attention_v1_forward(hd_module *self, hd_tensor *x) /* x (n, d_in) */
{
    self_attention_v1 *m = (self_attention_v1 *)self;
    hd__nn_projected p;
    p.keys = hd_matmul(x, m->W_key); /* (n, d_out) */
    p.queries = hd_matmul(x, m->W_query);
    p.values = hd_matmul(x, m->W_value);
    return self_attend(self, p); /* (n, d_out) */
}

static const hd_module_type self_attention_v1_type = HD_MODULE_TYPE(
    self_attention_v1, "SelfAttention_v1", self_attention_v1_forward, hd__nn_attention_free);

static bool self_attention_v1_draw(hd_module *m)
{
    self_attention_v1 *self = (self_attention_v1 *)m;
    return hd_uniform_(self->W_query, 0, 1) && hd_uniform_(self->W_key, 0, 1) &&
           hd_uniform_(self->W_value, 0, 1);
}

hd_module *hd_self_attention_v1_new(int64_t d_in, int64_t d_out)
{
    HD__CALL("hd_self_attention_v1_new");
    if (!hd__nn_attention_args(d_in, d_out, 0, 0, 1)) {
        return NULL;
    }
    hd_module *m = hd_module_new(&self_attention_v1_type);
    if (!m) {
        return NULL;
    }
    self_attention_v1 *self = (self_attention_v1 *)m;
    const int64_t sizes[] = {d_in, d_out};
    hd__nn_register_blank(m, "W_query", &self->W_query, true, 2, sizes);
    hd__nn_register_blank(m, "W_key", &self->W_key, true, 2, sizes);
    hd__nn_register_blank(m, "W_value", &self->W_value, true, 2, sizes);
    return hd__module_drawn(m, self_attention_v1_draw);
}

/* ---------------------------------------------------------------- SelfAttention_v2 */

static hd_tensor *self_attention_v2_forward(hd_module *self, hd_tensor *x) /* x (n, d_in) */
{
    return self_attend(self, hd__nn_project((hd__nn_attention *)self, x)); /* (n, d_out) */
}

static const hd_module_type self_attention_v2_type = HD_MODULE_TYPE(
    hd__nn_attention, "SelfAttention_v2", self_attention_v2_forward, hd__nn_attention_free);

hd_module *hd_self_attention_v2_new(int64_t d_in, int64_t d_out, bool qkv_bias)
{
    HD__CALL("hd_self_attention_v2_new");
    bool ok = hd__nn_attention_args(d_in, d_out, 0, 0, 1);
    return ok ? hd__module_drawn(
                    hd__nn_attention_blank(&self_attention_v2_type, d_in, d_out, qkv_bias), NULL)
              : NULL;
}
