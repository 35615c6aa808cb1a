/* program.c - a program with every kind of object that the gdb printer can show, and a function to
 * stop in.
 *
 * tests/checks/check_gdb stops in `stop`, goes up one frame and prints the variables. The output
 * must equal expected.txt. */
#include <math.h>

#include "heed/heed.h"

static void stop(const hd_module *module, const hd_list *list, const hd_node *node)
{
    (void)module, (void)list, (void)node;
    __asm__ volatile("" ::: "memory");
}

typedef struct attention {
    hd_module base; /* first member */
    hd_module *query, *key, *layers;
    hd_tensor *scale, *mask;
} attention;

static hd_tensor *attention_forward(hd_module *self, hd_tensor *x)
{
    return hd_forward(((attention *)self)->query, x);
}

static hd_module *attention_new(void)
{
    static const hd_module_type type = HD_MODULE_TYPE(attention, "Attention", attention_forward);
    attention *m = (attention *)hd_module_new(&type);
    hd_register_module(&m->base, "query", &m->query, hd_linear_new(3, 2, true));
    hd_register_module(&m->base, "key", &m->key, hd_linear_new(3, 2, false));
    hd_register_module(&m->base, "layers", &m->layers,
                       hd_sequential(hd_linear_new(2, 2, false), hd_linear_new(2, 2, false),
                                     hd_linear_new(2, 2, false), hd_relu_new(false)));
    hd_register_parameter(&m->base, "scale", &m->scale, hd_parameter(hd_ones(HD_FLOAT32, 2), true));
    hd_register_buffer(&m->base, "mask", &m->mask, hd_eye(HD_BOOL, 3, 3), true);
    return hd_module_ready(&m->base);
}

static bool square_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    y[0] = hd_mul(x[0], x[0]);
    return hd_save(ctx, x[0]);
}

static void square_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    gx[0] = hd_mul(gy[0], hd_mul_scalar(hd_saved(ctx, 0), 2)); /* dx = dy 2x */
}

static hd_dict *settings_new(hd_tensor *weight)
{
    hd_dict *d = hd_dict_new();
    hd_dict_set(d, "model.weight", weight);
    hd_dict_set_int(d, "step", -12);
    hd_dict_set_double(d, "lr", 0.001);
    hd_dict_set_string(d, "name", "K\xc3\xb6ln");
    hd_dict_set(d, "bias", hd_tensor_of(((int64_t[]){1, 2}), 2));
    return d;
}

int main(void)
{
    hd_manual_seed(123); /* for the weights of the layers */
    const float data[] = {0.43f, -INFINITY, 0.89f, 1e10f, 2, NAN};
    hd_tensor *matrix = hd_from_data(HD_FLOAT32, data, 2, 3);
    hd_tensor *transposed = hd_transpose(matrix, 0, 1);                      /* (3, 2) */
    hd_tensor *vector = hd_slice(hd_arange(0, 10, 1), 0, 2, 5);              /* (3,) */
    hd_tensor *batch = hd_full(HD_FLOAT64, 0.1, 2, 1, 2);                    /* (2, 1, 2) */
    hd_tensor *scalar = hd_scalar_tensor(HD_BOOL, true);                     /* () */
    hd_tensor *empty = hd_zeros(HD_FLOAT32, 2, 0);                           /* (2, 0) */
    hd_tensor *large = hd_view(hd_arange_as(HD_FLOAT32, 0, 600, 1), 20, 30); /* (20, 30) */
    hd_tensor *none = HD_NONE, *nothing = NULL;
    hd_tensor *wild = (hd_tensor *)16;

    hd_list *list = hd_list_of(matrix, HD_NONE, scalar, large), *bare = hd_list_n(0, NULL);
    hd_dict *settings = settings_new(large), *blank = hd_dict_new();
    hd_module *model = attention_new();
    hd_module_eval(model);
    static const hd_op square = {.size = sizeof(hd_op),
                                 .name = "Square",
                                 .forward = square_forward,
                                 .backward = square_backward};
    hd_tensor *w = hd_parameter(hd_full(HD_FLOAT32, 2, 3), true);    /* (3,) */
    hd_tensor *product = hd_mul(hd_apply(&square, NULL, w), matrix); /* (2, 3) */
    const hd_node *node = hd_grad_node(product), *own = hd_node_input(node, 0, NULL);
    const hd_node *end = hd_grad_node(w);
    hd_tensor *gone;
    hd_list *closed;
    {
        HD_SCOPE;
        gone = hd_ones(HD_FLOAT32, 2);
        closed = hd_list_of(gone);
    }
    hd_scope *scope = hd_scope_open_at("train.c", 7);
    hd_zeros(HD_FLOAT32, 2, 6, 3);
    hd_scalar_tensor(HD_INT64, 5);
    stop(model, list, node);
    hd_scope_close(scope);
    hd_dict_free(settings);
    hd_dict_free(blank);
    hd_module_free(model);
    return !list || !bare || !own || !end || !gone || !closed || hd_error_code() != HD_OK ||
           !matrix || !transposed || !vector || !batch || !scalar || !empty || !large ||
           none != HD_NONE || nothing || !wild;
}
