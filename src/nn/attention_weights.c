/* attention_weights.c - what the notebooks' classes share: their arguments, the mask, and the
 * weights that they keep when told to. */
#include "nn/nn_internal.h"

#include <inttypes.h>

/* ---------------------------------------------------------------- arguments */

bool hd__attention_args(const char *function, int64_t d_in, int64_t d_out, int64_t context_length,
                        double dropout, int64_t num_heads)
{
    return hd__size_arg(function, "d_in", d_in, 0) && hd__size_arg(function, "d_out", d_out, 0) &&
           hd__size_arg(function, "context_length", context_length, 0) &&
           hd__probability_arg(function, "dropout", dropout) &&
           hd__size_arg(function, "num_heads", num_heads, 1);
}

bool hd__tokens_arg(const hd_module *self, hd_tensor *x, int64_t context_length)
{
    if (hd_ndim(x) != 3) {
        hd_error_set(HD_SHAPE, "hd_forward: %s: x %s: expected (b, num_tokens, d_in)",
                     self->type->name, HD__DIMS(x));
        return false;
    }
    if (hd_size(x, 1) > context_length) {
        hd_error_set(HD_SHAPE,
                     "hd_forward: %s: x %s: num_tokens %" PRId64
                     " is more than context_length %" PRId64,
                     self->type->name, HD__DIMS(x), hd_size(x, 1), context_length);
        return false;
    }
    return true;
}

hd_tensor *hd__causal_mask(int64_t n)
{
    return hd_triu(hd_ones(HD_FLOAT32, n, n), 1);
}

/* ---------------------------------------------------------------- kept weights */

hd_tensor *hd__keep_weights(hd_module *self, hd_tensor *attn_weights)
{
    hd__attention *m = (hd__attention *)self;
    if (m->keep && attn_weights) {
        hd_assign(&m->kept, hd_detach(attn_weights));
    }
    return attn_weights;
}

void hd__attention_free(hd_module *self)
{
    hd_release(((hd__attention *)self)->kept);
}

static bool keeps_weights(const char *function, const hd_module *m)
{
    static const hd_module_type *const types[] = {
        &hd__self_attention_v1_type, &hd__self_attention_v2_type, &hd__causal_attention_type,
        &hd__multi_head_attention_type};
    if (!hd__given(function, "m", m)) {
        return false;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (m->type == types[i]) {
            return true;
        }
    }
    hd_error_set(HD_VALUE,
                 "%s: %s: expected a SelfAttention_v1, SelfAttention_v2, CausalAttention or "
                 "MultiHeadAttention",
                 function, m->type->name);
    return false;
}

bool hd_attention_keep_weights(hd_module *m, bool keep)
{
    if (!keeps_weights("hd_attention_keep_weights", m)) {
        return false;
    }
    hd__attention *self = (hd__attention *)m;
    self->keep = keep;
    return keep || hd_assign(&self->kept, HD_NONE);
}

/* A new alias: the next forward does not take it away from the caller. */
hd_tensor *hd_attention_weights(const hd_module *m)
{
    if (!keeps_weights("hd_attention_weights", m)) {
        return NULL;
    }
    hd_tensor *kept = ((const hd__attention *)m)->kept;
    return kept && kept != HD_NONE ? hd_detach(kept) : HD_NONE;
}
