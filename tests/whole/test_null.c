/* test_null.c - passes NULL (or HD_NONE) for each pointer of every public function. The call must
 * fail once, with a message that names the function and the parameter; a chain of calls keeps the
 * first error. */
#include <unistd.h>

#include "modules_made.h"
#include "support/freed_rows.h"
#include "support/null_rows.h"
#include "support/stored_rows.h"
#include "suites.h"

/* ---------------------------------------------------------------- things to pass */

static void handler(hd_code code, const char *message, void *user)
{
    (void)code, (void)message, (void)user;
}

static void warning_handler(const char *message, void *user)
{
    (void)message, (void)user;
}

static hd_tensor *hook(hd_tensor *grad, void *user)
{
    (void)user;
    return grad;
}

static hd_tensor *first(hd_tensor *const *inputs, int n, void *user)
{
    (void)n, (void)user;
    return inputs[0];
}

static bool visit(hd_module *m, const char *name, void *user)
{
    (void)m, (void)name, (void)user;
    return true;
}

static hd_list *get(int64_t i, void *user)
{
    (void)i, (void)user;
    return NULL;
}

static bool op_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    (void)ctx;
    y[0] = x[0];
    return true;
}

static void op_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    (void)ctx;
    gx[0] = gy[0];
}

static const hd_op op = {
    .size = sizeof op, .name = "Same", .forward = op_forward, .backward = op_backward};

static bool saving_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    y[0] = x[0];
    return hd_save(ctx, NULL);
}

static hd_tensor *save_nothing(void)
{
    static const hd_op saving = {.size = sizeof saving,
                                 .name = "Saving",
                                 .forward = saving_forward,
                                 .backward = op_backward};
    return hd_apply(&saving, NULL, hd_ones(HD_FLOAT32, 1));
}

static hd_tensor *end_without_result(hd_module *m)
{
    return hd_forward_begin(m) ? hd_forward_end(m, NULL) : HD_NONE;
}

typedef struct own_module {
    hd_module base;
    hd_tensor *t;
    hd_module *child;
} own_module;

static const hd_module_type own_type = HD_MODULE_TYPE(own_module, "Own", NULL);

/* ---------------------------------------------------------------- the table */

#define RELU hd_relu_new(false)
#define CALLED_NEW(call, constructor) hd_module *of_##call = constructor;
#define CALLED_FREE(call, constructor) hd_module_free(of_##call);

/* `error` stands before every call; NULL: none does. */
static void run_table(const char *error)
{
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_FLOAT32, 2, 3), *out = HD_NONE, *tensors[] = {x, x};
    hd_tensor *index = hd_zeros(HD_INT64, 2);
    hd_tensor *p = hd_parameter(hd_ones(HD_FLOAT32, 2, 3), true);
    hd_list *list = hd_list_of(p), *texts = hd_list_of(index), *made_list;
    hd_dict *dict = hd_dict_new();
    hd_generator *generator = hd_generator_new(1);
    hd_module *module = hd_linear_new(3, 2, true), *modules = hd_module_list_n(0, NULL);
    hd_module *packed = hd_multihead_attention_new(3, 1, NULL);
    hd_sgd_options sgd = hd_sgd_defaults();
    own_module *own = (own_module *)hd_module_new(&own_type);
    hd_optim *optim = hd_sgd_new(list, NULL);
    hd_schedule *schedule = hd_constant_lr_new(optim, 1, 0);
    hd_module *heads = hd_multi_head_attention_new(3, 4, 2, 0, 2, false);
    hd_module *block = hd_transformer_block_new(RELU, RELU, RELU, RELU, 0);
    hd_kv_cache *cache = hd_kv_cache_new(heads, 1);
    hd_tokenizer *tokenizer = hd_tokenizer_bytes();
    hd_tokens *tokens = hd_tokens_from(hd_arange(0, 9, 1)), *half, *rest;
    hd_dataset *windows = hd_windows_new(tokens, 2, 2), *parts[2];
    hd_loader *loader = hd_loader_new(windows, NULL);
    hd_dict *made;
    char path[] = "/tmp/heed-null-XXXXXX";
    int descriptor = mkstemp(path);
    hd_save_safetensors(path, dict);
    hd_safetensors *file = hd_safetensors_open(path, NULL);
    const hd_node *node = hd_grad_node(hd_mul(p, p));
    const int64_t two[] = {1, 1}, three[] = {3};
    const hd_scalar one = hd_scalar_int(1);
    int64_t whole;
    double value;
    int number;
    char bytes[24] = {0};
    CALLED_MODULES(CALLED_NEW)
    ck_no_error();
    hd_dict_set_int(dict, "whole", 1);
    (void)half, (void)rest, (void)parts, (void)made, (void)whole, (void)value, (void)number,
        (void)out, (void)made_list;

    hd_tensor *bad;
#include "null_table.h"
#include "null_made.h"
    if (!error && quarantine_on()) {
#include "freed_made.h"
    }
    if (!error) {
#include "stored_made.h"
    }
    ck_assert_msg(wrong == 0, "%d of the above", wrong);
    hd_on_error(NULL, NULL);
    hd_on_warning(NULL, NULL);
    close(descriptor);
    unlink(path);
    hd_safetensors_close(file);
    hd_loader_free(loader);
    hd_dataset_free(windows);
    hd_tokens_free(tokens);
    hd_tokenizer_free(tokenizer);
    hd_schedule_free(schedule);
    hd_optim_free(optim);
    hd_kv_cache_free(cache);
    hd_module_free(heads);
    hd_module_free(block);
    hd_module_free(module);
    hd_module_free(modules);
    hd_module_free(packed);
    CALLED_MODULES(CALLED_FREE)
    hd_module_free(&own->base);
    hd_generator_free(generator);
    hd_dict_free(dict);
}

NULL_SUITE
