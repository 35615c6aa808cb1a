/* layers.c - Linear, Bilinear, Dropout, Embedding, LayerNorm, RMSNorm, ReLU, SiLU and GELU. Each
 * has a struct, a forward, a function for the text in the brackets of its summary (`extra`), and a
 * constructor that draws the same weights as PyTorch's class. */
#include "base/text/number.h"
#include "nn/layers.h"
#include "nn/module_args.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *python_bool(bool b)
{
    return b ? "True" : "False";
}

/* ---------------------------------------------------------------- Linear */

typedef struct linear {
    hd_module base;
    hd_tensor *weight; /* (out_features, in_features) */
    hd_tensor *bias;   /* (out_features,), or HD_NONE */
} linear;

static hd_tensor *linear_forward(hd_module *self, hd_tensor *x)
{
    linear *m = (linear *)self;
    return hd_linear(x, m->weight, m->bias);
}

static void linear_extra(const hd_module *self, char *text, size_t n)
{
    const linear *m = (const linear *)self;
    snprintf(text, n, "in_features=%" PRId64 ", out_features=%" PRId64 ", bias=%s",
             hd_size(m->weight, 1), hd_size(m->weight, 0), python_bool(m->bias != HD_NONE));
}

const hd_module_type hd__nn_linear_type =
    HD_MODULE_TYPE(linear, "Linear", linear_forward, NULL, linear_extra);
const hd_module_type hd__nn_packed_out_proj_type =
    HD_MODULE_TYPE(linear, "NonDynamicallyQuantizableLinear", linear_forward, NULL, linear_extra);

/* Draws weight and bias from the uniform distribution between -bound and bound, where bound is 1 /
 * sqrt(in_features). Returns false with an error if a draw fails. hd_init_kaiming_uniform_ computes
 * the weight's bound, because with its rounding the weights have PyTorch's bits. */
static bool linear_draw(hd_module *self)
{
    linear *m = (linear *)self;
    int64_t in_features = hd_size(m->weight, 1);
    double bound = in_features > 0 ? 1 / sqrt((double)in_features) : 0;
    return hd_init_kaiming_uniform_(m->weight, sqrt(5.0), HD_FAN_IN, "leaky_relu") &&
           (m->bias == HD_NONE || hd_uniform_(m->bias, -bound, bound));
}

hd_module *hd__nn_linear_blank(const hd_module_type *type, int64_t in_features,
                               int64_t out_features, bool bias)
{
    linear *m = (linear *)hd_module_new(type);
    if (!m) {
        return NULL;
    }
    m->base.priv->draw = linear_draw;
    hd__nn_register_blank(&m->base, "weight", &m->weight, true, 2,
                          (int64_t[]){out_features, in_features});
    hd__nn_register_blank(&m->base, "bias", &m->bias, bias, 1, &out_features);
    return hd_module_ready(&m->base);
}

hd_module *hd_linear_new(int64_t in_features, int64_t out_features, bool bias)
{
    HD__CALL("hd_linear_new");
    bool ok = hd__nn_size_arg("in_features", in_features, 0) &&
              hd__nn_size_arg("out_features", out_features, 0);
    return ok ? hd__module_drawn(
                    hd__nn_linear_blank(&hd__nn_linear_type, in_features, out_features, bias), NULL)
              : NULL;
}

/* ---------------------------------------------------------------- Bilinear */

/* A Bilinear has the struct of a Linear. Its weight is (out_features, in1_features,
 * in2_features). */
static void bilinear_extra(const hd_module *self, char *text, size_t n)
{
    const linear *m = (const linear *)self;
    snprintf(text, n,
             "in1_features=%" PRId64 ", in2_features=%" PRId64 ", out_features=%" PRId64
             ", bias=%s",
             hd_size(m->weight, 1), hd_size(m->weight, 2), hd_size(m->weight, 0),
             python_bool(m->bias != HD_NONE));
}

static const hd_module_type bilinear_type =
    HD_MODULE_TYPE(linear, "Bilinear", NULL, NULL, bilinear_extra);

static bool bilinear_draw(hd_module *self)
{
    linear *m = (linear *)self;
    double bound = 1 / sqrt((double)hd_size(m->weight, 1));
    return hd_uniform_(m->weight, -bound, bound) &&
           (m->bias == HD_NONE || hd_uniform_(m->bias, -bound, bound));
}

hd_module *hd_bilinear_new(int64_t in1_features, int64_t in2_features, int64_t out_features,
                           bool bias)
{
    HD__CALL("hd_bilinear_new");
    if (!hd__nn_size_arg("in1_features", in1_features, 1) ||
        !hd__nn_size_arg("in2_features", in2_features, 0) ||
        !hd__nn_size_arg("out_features", out_features, 0)) {
        return NULL;
    }
    linear *m = (linear *)hd_module_new(&bilinear_type);
    if (!m) {
        return NULL;
    }
    hd__nn_register_blank(&m->base, "weight", &m->weight, true, 3,
                          (int64_t[]){out_features, in1_features, in2_features});
    hd__nn_register_blank(&m->base, "bias", &m->bias, bias, 1, &out_features);
    return hd__module_drawn(&m->base, bilinear_draw);
}

hd_tensor *hd_bilinear_call(hd_module *m, hd_tensor *x1, hd_tensor *x2)
{
    HD__CALL("hd_bilinear_call");
    if (!hd__nn_type_arg("m", m, &bilinear_type) || !hd__nn_tensor_given("x1", x1) ||
        !hd__nn_tensor_given("x2", x2) || !hd_forward_begin(m)) {
        return NULL;
    }
    const linear *b = (const linear *)m;
    return hd_forward_end(m, hd_bilinear(x1, x2, b->weight, b->bias));
}

/* ---------------------------------------------------------------- Dropout */

typedef struct dropout {
    hd_module base;
    double p;
    bool inplace;
} dropout;

static hd_tensor *dropout_forward(hd_module *self, hd_tensor *x)
{
    dropout *m = (dropout *)self;
    bool training = hd_module_training(self);
    if (!m->inplace || !training || m->p == 0) {
        return hd_dropout(x, m->p, training);
    }
    hd_tensor *ones = hd_fill_(hd_clone(hd_detach(x)), 1); /* ones, in x's shape */
    return hd_mul_(x, hd_dropout(ones, m->p, true));
}

static void dropout_extra(const hd_module *self, char *text, size_t n)
{
    const dropout *m = (const dropout *)self;
    snprintf(text, n, "p=%s, inplace=%s", HD__FLOAT(m->p), python_bool(m->inplace));
}

static const hd_module_type dropout_type =
    HD_MODULE_TYPE(dropout, "Dropout", dropout_forward, NULL, dropout_extra);

double hd_dropout_p(const hd_module *m)
{
    HD__CALL("hd_dropout_p");
    if (!hd__object("m", m)) {
        return NAN;
    }
    if (m->type != &dropout_type) {
        hd_fail(HD_VALUE, "m is a %s: expected a Dropout", m->type->name);
        return NAN;
    }
    return ((const dropout *)m)->p;
}

double hd__nn_dropout_now(const hd_module *m)
{
    bool other = m && m->type != &dropout_type;
    return other ? -1 : m && hd_module_training(m) ? ((const dropout *)m)->p : 0;
}

hd_module *hd_dropout_new(double p, bool inplace)
{
    HD__CALL("hd_dropout_new");
    if (!hd__nn_probability_arg("p", p)) {
        return NULL;
    }
    dropout *m = (dropout *)hd_module_new(&dropout_type);
    if (m) {
        m->p = p;
        m->inplace = inplace;
    }
    return (hd_module *)m;
}

/* ---------------------------------------------------------------- Embedding */

typedef struct embedding {
    hd_module base;
    hd_tensor *weight;   /* (num_embeddings, embedding_dim) */
    int64_t padding_idx; /* 0 or more, or HD_NO_PADDING */
} embedding;

static hd_tensor *embedding_forward(hd_module *self, hd_tensor *x)
{
    embedding *m = (embedding *)self;
    return hd_embedding(x, m->weight, m->padding_idx);
}

static void embedding_extra(const hd_module *self, char *text, size_t n)
{
    const embedding *m = (const embedding *)self;
    int at =
        snprintf(text, n, "%" PRId64 ", %" PRId64, hd_size(m->weight, 0), hd_size(m->weight, 1));
    if (m->padding_idx >= 0 && at > 0 && (size_t)at < n) {
        snprintf(text + at, n - (size_t)at, ", padding_idx=%" PRId64, m->padding_idx);
    }
}

static const hd_module_type embedding_type =
    HD_MODULE_TYPE(embedding, "Embedding", embedding_forward, NULL, embedding_extra);

static bool embedding_draw(hd_module *self)
{
    HD__SCOPE_OR(false);
    embedding *m = (embedding *)self;
    hd_tensor *padding = m->padding_idx < 0 ? HD_NONE : hd_select(m->weight, 0, m->padding_idx);
    return padding && hd_normal_(m->weight, 0, 1) && (padding == HD_NONE || hd_zero_(padding));
}

hd_module *hd_embedding_new(int64_t num_embeddings, int64_t embedding_dim, int64_t padding_idx)
{
    HD__CALL("hd_embedding_new");
    if (!hd__nn_size_arg("num_embeddings", num_embeddings, 0) ||
        !hd__nn_size_arg("embedding_dim", embedding_dim, 0)) {
        return NULL;
    }
    bool padded = padding_idx != HD_NO_PADDING;
    if (padded && (padding_idx < -num_embeddings || padding_idx >= num_embeddings)) {
        return hd_fail(HD_INDEX,
                       "padding_idx %" PRId64 ": expected %" PRId64 " to %" PRId64
                       ", or HD_NO_PADDING",
                       padding_idx, -num_embeddings, num_embeddings - 1);
    }
    embedding *m = (embedding *)hd_module_new(&embedding_type);
    if (!m) {
        return NULL;
    }
    m->padding_idx = padded && padding_idx < 0 ? padding_idx + num_embeddings : padding_idx;
    hd__nn_register_blank(&m->base, "weight", &m->weight, true, 2,
                          (int64_t[]){num_embeddings, embedding_dim});
    return hd__module_drawn(&m->base, embedding_draw);
}

/* ---------------------------------------------------------------- LayerNorm */

typedef struct layer_norm {
    hd_module base;
    hd_tensor *weight; /* normalized_shape, or HD_NONE */
    hd_tensor *bias;   /* normalized_shape, or HD_NONE */
    int ndim;
    int64_t normalized_shape[HD_MAX_DIMS];
    double eps;
} layer_norm;

static hd_tensor *layer_norm_forward(hd_module *self, hd_tensor *x)
{
    layer_norm *m = (layer_norm *)self;
    return hd_layer_norm_n(x, m->ndim, m->normalized_shape, m->weight, m->bias, m->eps);
}

static void layer_norm_extra(const hd_module *self, char *text, size_t n)
{
    const layer_norm *m = (const layer_norm *)self;
    snprintf(text, n, "%s, eps=%s, elementwise_affine=%s, bias=%s",
             HD__SIZES(m->ndim, m->normalized_shape), HD__FLOAT(m->eps),
             python_bool(m->weight != HD_NONE), python_bool(m->bias != HD_NONE));
}

static const hd_module_type layer_norm_type =
    HD_MODULE_TYPE(layer_norm, "LayerNorm", layer_norm_forward, NULL, layer_norm_extra);

static bool normalized_shape_arg(int n, const int64_t *normalized_shape)
{
    if (n < 1 || n > HD_MAX_DIMS) {
        return hd_fail(HD_SHAPE, "normalized_shape of %d dimensions: expected 1 to %d", n,
                       HD_MAX_DIMS);
    }
    bool ok = hd__arg_given("normalized_shape", normalized_shape);
    for (int i = 0; i < n && ok; i++) {
        ok = hd__nn_size_arg("normalized_shape", normalized_shape[i], 0);
    }
    return ok;
}

static bool layer_norm_draw(hd_module *self)
{
    layer_norm *m = (layer_norm *)self;
    return (m->weight == HD_NONE || hd_fill_(m->weight, 1)) &&
           (m->bias == HD_NONE || hd_fill_(m->bias, 0));
}

hd_module *hd_layer_norm_new_n(int n, const int64_t *normalized_shape, double eps,
                               bool elementwise_affine, bool bias)
{
    HD__CALL("hd_layer_norm_new");
    if (!normalized_shape_arg(n, normalized_shape)) {
        return NULL;
    }
    layer_norm *m = (layer_norm *)hd_module_new(&layer_norm_type);
    if (!m) {
        return NULL;
    }
    m->ndim = n;
    memcpy(m->normalized_shape, normalized_shape, (size_t)n * sizeof *normalized_shape);
    m->eps = eps;
    hd__nn_register_blank(&m->base, "weight", &m->weight, elementwise_affine, n, normalized_shape);
    hd__nn_register_blank(&m->base, "bias", &m->bias, elementwise_affine && bias, n,
                          normalized_shape);
    return hd__module_drawn(&m->base, layer_norm_draw);
}

hd_module *hd_layer_norm_new(int64_t normalized_size)
{
    HD__CALL("hd_layer_norm_new");
    return hd_layer_norm_new_n(1, &normalized_size, 1e-5, true, true);
}

/* ---------------------------------------------------------------- RMSNorm */

typedef struct rms_norm {
    hd_module base;
    hd_tensor *weight; /* (dim,) */
    double eps;
} rms_norm;

static hd_tensor *rms_norm_forward(hd_module *self, hd_tensor *x)
{
    rms_norm *m = (rms_norm *)self;
    return hd_rms_norm(x, m->weight, m->eps);
}

static void rms_norm_extra(const hd_module *self, char *text, size_t n)
{
    const rms_norm *m = (const rms_norm *)self;
    snprintf(text, n, "%s, eps=%s, elementwise_affine=True", HD__DIMS(m->weight),
             HD__FLOAT(m->eps));
}

static const hd_module_type rms_norm_type =
    HD_MODULE_TYPE(rms_norm, "RMSNorm", rms_norm_forward, NULL, rms_norm_extra);

static bool rms_norm_draw(hd_module *self)
{
    return hd_fill_(((rms_norm *)self)->weight, 1);
}

hd_module *hd_rms_norm_new(int64_t dim, double eps)
{
    HD__CALL("hd_rms_norm_new");
    if (!hd__nn_size_arg("dim", dim, 0)) {
        return NULL;
    }
    rms_norm *m = (rms_norm *)hd_module_new(&rms_norm_type);
    if (!m) {
        return NULL;
    }
    m->eps = eps;
    hd__nn_register_blank(&m->base, "weight", &m->weight, true, 1, &dim);
    return hd__module_drawn(&m->base, rms_norm_draw);
}

double hd_norm_eps(const hd_module *m)
{
    HD__CALL("hd_norm_eps");
    if (!hd__object("m", m)) {
        return NAN;
    }
    if (m->type != &layer_norm_type && m->type != &rms_norm_type) {
        hd_fail(HD_VALUE, "m is a %s: expected a LayerNorm or an RMSNorm", m->type->name);
        return NAN;
    }
    return m->type == &rms_norm_type ? ((const rms_norm *)m)->eps : ((const layer_norm *)m)->eps;
}

/* ---------------------------------------------------------------- ReLU, SiLU, GELU */

typedef struct activation {
    hd_module base;
    bool flag; /* ReLU, SiLU: inplace; GELU: true for approximate="tanh", false for "none" */
} activation;

static hd_tensor *relu_forward(hd_module *self, hd_tensor *x)
{
    if (!((activation *)self)->flag) {
        return hd_relu(x);
    }
    if (hd_dtype_of(x) == HD_BOOL) {
        return hd_fail(HD_DTYPE, "x is bool: expected a dtype of numbers");
    }
    return hd_masked_fill_(x, hd_le_scalar(x, 0), 0); /* a NaN stays NaN */
}

static void relu_extra(const hd_module *self, char *text, size_t n)
{
    snprintf(text, n, "%s", ((const activation *)self)->flag ? "inplace=True" : "");
}

static const hd_module_type relu_type =
    HD_MODULE_TYPE(activation, "ReLU", relu_forward, NULL, relu_extra);

/* Returns silu(x). If inplace, x becomes silu of its clone: backward needs the old values of x,
 * which the clone keeps. */
static hd_tensor *silu_forward(hd_module *self, hd_tensor *x)
{
    return ((activation *)self)->flag ? hd_copy_(x, hd_silu(hd_clone(x))) : hd_silu(x);
}

static const hd_module_type silu_type =
    HD_MODULE_TYPE(activation, "SiLU", silu_forward, NULL, relu_extra);

static hd_module *activation_new(const hd_module_type *type, bool flag)
{
    activation *m = (activation *)hd_module_new(type);
    if (m) {
        m->flag = flag;
    }
    return (hd_module *)m;
}

hd_module *hd_relu_new(bool inplace)
{
    HD__CALL("hd_relu_new");
    return activation_new(&relu_type, inplace);
}

hd_module *hd_silu_new(bool inplace)
{
    HD__CALL("hd_silu_new");
    return activation_new(&silu_type, inplace);
}

static hd_tensor *gelu_forward(hd_module *self, hd_tensor *x)
{
    return ((activation *)self)->flag ? hd_gelu_tanh(x) : hd_gelu(x);
}

static const char *approximate_of(const hd_module *self)
{
    return ((const activation *)self)->flag ? "tanh" : "none";
}

static void gelu_extra(const hd_module *self, char *text, size_t n)
{
    snprintf(text, n, "approximate='%s'", approximate_of(self));
}

static const hd_module_type gelu_type =
    HD_MODULE_TYPE(activation, "GELU", gelu_forward, NULL, gelu_extra);

hd_module *hd_gelu_new(const char *approximate)
{
    HD__CALL("hd_gelu_new");
    if (!hd__arg_given("approximate", approximate)) {
        return NULL;
    }
    bool by_tanh = strcmp(approximate, "tanh") == 0;
    if (!by_tanh && strcmp(approximate, "none") != 0) {
        return hd_fail(HD_VALUE, "approximate \"%s\": expected \"none\" or \"tanh\"", approximate);
    }
    return activation_new(&gelu_type, by_tanh);
}

const char *hd_gelu_approximate(const hd_module *m)
{
    HD__CALL("hd_gelu_approximate");
    if (!hd__object("m", m)) {
        return NULL;
    }
    return m->type == &gelu_type ? approximate_of(m)
                                 : hd_fail(HD_VALUE, "m is a %s: expected a GELU", m->type->name);
}
