/* tiny.h - the model of tools/golden/golden_lora.py, with its own Conv1D. */
#ifndef HEED_TESTS_HF_TINY_H
#define HEED_TESTS_HF_TINY_H

#include "heed/heed.h"

typedef struct conv1d {
    hd_module base;
    hd_tensor *weight, *bias; /* (in, out), (out,) */
} conv1d;

typedef struct tiny_block {
    hd_module base;
    hd_module *c_attn, *c_fc, *proj;
} tiny_block;

typedef struct tiny {
    hd_module base;
    hd_module *block, *head;
} tiny;

static inline hd_tensor *conv1d_forward(hd_module *self, hd_tensor *x)
{
    conv1d *m = (conv1d *)self;
    return hd_add(hd_matmul(x, m->weight), m->bias);
}

static inline hd_module *conv1d_new(int64_t in, int64_t out)
{
    static const hd_module_type type = HD_MODULE_TYPE(conv1d, "Conv1D", conv1d_forward);
    HD_SCOPE;
    conv1d *m = (conv1d *)hd_module_new(&type);
    if (!m) {
        return NULL;
    }
    hd_register_parameter(&m->base, "weight", &m->weight,
                          hd_parameter(hd_ones(HD_FLOAT32, in, out), true));
    hd_register_parameter(&m->base, "bias", &m->bias, hd_parameter(hd_ones(HD_FLOAT32, out), true));
    return hd_module_ready(&m->base);
}

static inline hd_tensor *tiny_block_forward(hd_module *self, hd_tensor *x)
{
    tiny_block *m = (tiny_block *)self;
    x = hd_add(x, hd_forward(m->c_attn, x));
    return hd_add(x, hd_forward(m->proj, hd_relu(hd_forward(m->c_fc, x))));
}

static inline hd_module *tiny_block_new(void)
{
    static const hd_module_type type = HD_MODULE_TYPE(tiny_block, "Block", tiny_block_forward);
    tiny_block *m = (tiny_block *)hd_module_new(&type);
    if (!m) {
        return NULL;
    }
    hd_register_module(&m->base, "c_attn", &m->c_attn, conv1d_new(4, 4));
    hd_register_module(&m->base, "c_fc", &m->c_fc, conv1d_new(4, 8));
    hd_register_module(&m->base, "proj", &m->proj, hd_linear_new(8, 4, true));
    return hd_module_ready(&m->base);
}

static inline hd_tensor *tiny_forward(hd_module *self, hd_tensor *x)
{
    tiny *m = (tiny *)self;
    return hd_forward(m->head, hd_forward(m->block, x));
}

static inline hd_module *tiny_new(void)
{
    static const hd_module_type type = HD_MODULE_TYPE(tiny, "Tiny", tiny_forward);
    tiny *m = (tiny *)hd_module_new(&type);
    if (!m) {
        return NULL;
    }
    hd_register_module(&m->base, "block", &m->block, tiny_block_new());
    hd_register_module(&m->base, "head", &m->head, hd_linear_new(4, 3, false));
    return hd_module_ready(&m->base);
}

#endif
