/* rows_nn.c - the rows of nn.h. */
#include "faults_memory/faults.h"

/* ---------------------------------------------------------------- a user's module */

static hd_tensor *own_forward(hd_module *self, hd_tensor *x)
{
    own_module *m = (own_module *)self;
    return hd_mul(hd_forward(m->child, hd_mul(x, m->weight)), m->buffer);
}

static const hd_module_type own_type = HD_MODULE_TYPE(own_module, "Own", own_forward);

static hd_module *own_new(void)
{
    own_module *m = (own_module *)hd_module_new(&own_type);
    if (!m) {
        return NULL;
    }
    hd_register_parameter(&m->base, "weight", &m->weight,
                          hd_parameter(hd_rand(HD_FLOAT32, 3), true));
    hd_register_buffer(&m->base, "buffer", &m->buffer, hd_ones(HD_FLOAT32, 3), true);
    hd_register_module(&m->base, "child", &m->child, hd_relu_new(false));
    return hd_module_ready(&m->base);
}

static hd_tensor *begin_and_end(hd_module *m, hd_tensor *x)
{
    return hd_forward_begin(m) ? hd_forward_end(m, hd_neg(hd_square(x))) : NULL;
}

static bool counts(hd_module *m, const char *name, void *user)
{
    (void)m, (void)name;
    ++*(int *)user;
    return true;
}

static bool visited(world *w)
{
    w->visits = 0;
    return hd_module_visit(w->block, counts, &w->visits);
}

/* ---------------------------------------------------------------- composed calls */

static bool taken_and_set(world *w)
{
    return hd_module_set(w->block, "ff", hd_module_take(w->block, "ff"));
}

/* These draw in the order in which they stand. */
static hd_module *new_block(void)
{
    hd_module *att = hd_multi_head_attention_new(4, 4, 6, 0, 2, false);
    hd_module *ff = hd_feed_forward_new(4, 8);
    return hd_transformer_block_new(att, ff, hd_layer_norm_new(4), hd_layer_norm_new(4), 0);
}

static hd_module *new_packed(bool bias_kv)
{
    hd_multihead_attention_options o = hd_multihead_attention_defaults();
    o.add_bias_kv = bias_kv;
    o.kdim = o.vdim = bias_kv ? 3 : 0;
    return hd_multihead_attention_new(4, 2, &o);
}

#define ROWS "faults_memory/rows_nn.h"
#define TABLE table_nn
#define NAME "nn"
#define PARTS MODULES
#include "faults_memory/table.h"
