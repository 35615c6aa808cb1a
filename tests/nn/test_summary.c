/* test_summary.c - compares print(model) and the names of state_dict with PyTorch's for the same
 * models, and, for the table of modules, the weights and the result: tests/golden/modules.txt. */
#include "suites.h"

#include <stdio.h>
#include <unistd.h>

#include "support/golden_reader.h"
#include "support/golden_tensor.h"
#include "support/module_rows.h"

/* ---------------------------------------------------------------- the models of the file */

static const hd_module_type block_type = {
    sizeof block_type, "Block", sizeof(probe), NULL, NULL, NULL};
static const hd_module_type empty_type = {
    sizeof empty_type, "Empty", sizeof(probe), NULL, NULL, NULL};

static hd_module *empty(void)
{
    return hd_module_ready(hd_module_new(&empty_type));
}

static hd_module *block(void)
{
    probe *m = (probe *)hd_module_new(&block_type);
    hd_register_module(&m->base, "norm1", &m->left, hd_layer_norm_new(4));
    hd_register_module(&m->base, "attention", &m->right,
                       hd_multi_head_attention_new(4, 4, 6, 0.1, 2, false));
    hd_register_module(&m->base, "norm2", &m->third, hd_layer_norm_new(4));
    hd_register_module(&m->base, "layers", &m->fourth,
                       hd_sequential(hd_linear_new(4, 16, true), hd_gelu_new("none"),
                                     hd_linear_new(16, 4, true), hd_dropout_new(0.1, false)));
    return hd_module_ready(&m->base);
}

static hd_module *two_rows_norm(void)
{
    return hd_layer_norm_new_n(2, (int64_t[]){2, 4}, 1e-5, true, true);
}

static hd_module *norm(double eps, bool affine, bool bias)
{
    return hd_layer_norm_new_n(1, (int64_t[]){4}, eps, affine, bias);
}

static hd_module *plain(void)
{
    return hd_linear_new(2, 2, true);
}

static hd_module *activated(void)
{
    return hd_sequential(plain(), hd_relu_new(false));
}

static hd_module *unlike_packed(void)
{
    hd_multihead_attention_options o = hd_multihead_attention_defaults();
    o.bias = false;
    o.kdim = 3;
    o.vdim = 5;
    o.add_bias_kv = true;
    return hd_multihead_attention_new(4, 2, &o);
}

/* The Python text of each case that the table of modules does not have, in C. A dropout whose p is
 * an int in Python has no counterpart in C, where the double 0 prints as 0.0. */
#define MODELS(X)                                                                                  \
    X("nn.Dropout(1 / 3)", hd_dropout_new(1.0 / 3, false))                                         \
    X("nn.Dropout(1e-5)", hd_dropout_new(1e-5, false))                                             \
    X("nn.LayerNorm((2, 4))", two_rows_norm())                                                     \
    X("nn.LayerNorm(4, eps=1e-6)", norm(1e-6, true, true))                                         \
    X("nn.LayerNorm(4, elementwise_affine=False)", norm(1e-5, false, true))                        \
    X("nn.LayerNorm(4, bias=False)", norm(1e-5, true, false))                                      \
    X("nn.Sequential()", hd_sequential_n(0, NULL))                                                 \
    X("nn.Sequential(nn.Linear(2, 3))", hd_sequential(hd_linear_new(2, 3, true)))                  \
    X("nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))",                                \
      hd_sequential(hd_linear_new(2, 3, true), hd_relu_new(false), hd_linear_new(3, 1, true)))     \
    X("nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))", hd_sequential(plain(), plain()))          \
    X("nn.Sequential(nn.Sequential(nn.Linear(1, 1), nn.GELU()), nn.ReLU())",                       \
      hd_sequential(hd_sequential(hd_linear_new(1, 1, true), hd_gelu_new("none")),                 \
                    hd_relu_new(false)))                                                           \
    X("nn.ModuleList()", hd_module_list_n(0, NULL))                                                \
    X("nn.ModuleList([nn.ReLU()])", hd_module_list(hd_relu_new(false)))                            \
    X("nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2)])",                        \
      hd_module_list(plain(), plain(), plain()))                                                   \
    X("nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.GELU(), nn.ReLU(), nn.ReLU()])",                    \
      hd_module_list(hd_relu_new(false), hd_relu_new(false), hd_gelu_new("none"),                  \
                     hd_relu_new(false), hd_relu_new(false)))                                      \
    X("nn.ModuleList([nn.Sequential(nn.Linear(2, 2), nn.ReLU()) for _ in range(2)])",              \
      hd_module_list(activated(), activated()))                                                    \
    X("nn.MultiheadAttention(4, 2)", hd_multihead_attention_new(4, 2, NULL))                       \
    X("nn.MultiheadAttention(4, 2, bias=False, kdim=3, vdim=5, add_bias_kv=True)",                 \
      unlike_packed())                                                                             \
    X("SelfAttention_v1(3, 2)", hd_self_attention_v1_new(3, 2))                                    \
    X("SelfAttention_v2(3, 2)", hd_self_attention_v2_new(3, 2, false))                             \
    X("SelfAttention_v2(3, 2, True)", hd_self_attention_v2_new(3, 2, true))                        \
    X("CausalAttention(3, 2, 6, 0.0)", hd_causal_attention_new(3, 2, 6, 0.0, false))               \
    X("CausalAttention(3, 2, 6, 0.1, True)", hd_causal_attention_new(3, 2, 6, 0.1, true))          \
    X("MultiHeadAttentionWrapper(3, 2, 6, 0.0, 2)",                                                \
      hd_multi_head_attention_wrapper_new(3, 2, 6, 0.0, 2, false))                                 \
    X("MultiHeadAttentionWrapper(3, 2, 6, 0.5, 1, True)",                                          \
      hd_multi_head_attention_wrapper_new(3, 2, 6, 0.5, 1, true))                                  \
    X("MultiHeadAttention(3, 2, 6, 0.0, 2)", hd_multi_head_attention_new(3, 2, 6, 0.0, 2, false))  \
    X("MultiHeadAttention(3, 4, 6, 0.5, 2, True)",                                                 \
      hd_multi_head_attention_new(3, 4, 6, 0.5, 2, true))                                          \
    X("Block()", block())                                                                          \
    X("nn.ModuleList([Block(), Block()])", hd_module_list(block(), block()))                       \
    X("Empty()", empty())

#define ONE(text, constructor) +1
enum { MODELS_COUNT = MODULE_ROWS MODELS(ONE) };
#undef ONE

/* The number of the row of the table that has this text; -1: none has it. */
static int module_row_of(const char *python)
{
    int row = MODULE_ROWS - 1;
    while (row >= 0 && strcmp(python, module_row_texts[row]) != 0) {
        row--;
    }
    return row;
}

static hd_module *model_of(const char *python)
{
#define MAKE(text, constructor)                                                                    \
    if (strcmp(python, text) == 0) {                                                               \
        return constructor;                                                                        \
    }
    MODELS(MAKE)
#undef MAKE
    return module_row_new(module_row_of(python));
}

/* The names of m's state_dict, one a line. */
static void names_of(const hd_module *m, char *text)
{
    hd_dict *d = hd_module_state_dict(m);
    *text = '\0';
    for (int64_t i = 0; i < hd_dict_len(d); i++) {
        strcat(text, i ? "\n" : "");
        strcat(text, hd_dict_name(d, i));
    }
    hd_dict_free(d);
}

/* m, which was made after seed 0, has drawn what PyTorch's does, and gives the same. */
static void ck_row(const golden_case *c, int row, hd_module *m)
{
    int64_t next = (int64_t)(hd_generator_random64(hd_default_generator()) & INT64_MAX);
    ck_assert_msg(next == golden_int(c, "next", -1), "%s: draws otherwise", c->name);
    hd_dict *d = hd_module_state_dict(m);
    for (int64_t i = 0; i < hd_dict_len(d); i++) {
        ck_init(c, hd_dict_name(d, i), hd_dict_get(d, hd_dict_name(d, i)));
    }
    hd_dict_free(d);
    const golden_record *x = golden_get(c, "in0"), *y = golden_get(c, "in1");
    if (x && hd_module_eval(m)) {
        hd_tensor *in[] = {tensor_of(x), y ? tensor_of(y) : NULL};
        hd_tensor *out = module_row_call(row, m, in[0], in[1]);
        ck_assert_msg(out, "%s: %s", c->name, hd_error_message());
        ck_assert_msg(distance(out, tensor_of(golden_get(c, "out"))) < 1e-6, "%s: %s", c->name,
                      hd_repr(out));
    }
}

START_TEST(golden_models)
{
    golden_file *f = golden_read(GOLDEN_DIR "/modules.txt");
    ck_assert_ptr_nonnull(f);
    int found = 0;
    for (int k = 0; k < f->count; k++) {
        HD_SCOPE;
        const golden_case *c = &f->cases[k];
        const char *python = golden_text(c, "python", ""), *text = golden_text(c, "print", NULL);
        hd_manual_seed(0);
        hd_module *m = text ? model_of(python) : NULL;
        if (!text || strcmp(python, "nn.Dropout(0)") == 0 || strcmp(python, "nn.Dropout(1)") == 0) {
            continue;
        }
        char names[4096];
        ck_assert_msg(m, "%s: %s", python, hd_error_message());
        ck_assert_msg(strcmp(hd_module_summary(m), text) == 0, "%s:\n%s\nexpected:\n%s", python,
                      hd_module_summary(m), text);
        names_of(m, names);
        ck_assert_msg(strcmp(names, golden_text(c, "keys", "?")) == 0, "%s: %s", python, names);
        if (module_row_of(python) >= 0) {
            ck_row(c, module_row_of(python), m);
        }
        hd_module_free(m);
        found++;
    }
    ck_assert_int_eq(found, MODELS_COUNT); /* the file has every model */
    golden_free(f);
}
END_TEST

/* ---------------------------------------------------------------- users' modules */

static const char *extra_text;

static void extra(const hd_module *self, char *text, size_t n)
{
    (void)self;
    snprintf(text, n, "%s", extra_text);
}

static const hd_module_type user_type = HD_MODULE_TYPE(probe, "User", NULL, NULL, extra);

/* What PyTorch prints for modules that have this extra_repr. */
START_TEST(extra_lines)
{
    HD_SCOPE;
    probe *m = (probe *)hd_module_new(&user_type);
    extra_text = "size=3";
    ck_assert_str_eq(hd_module_summary(&m->base), "User(size=3)");
    extra_text = "one\n\ntwo";
    ck_assert_str_eq(hd_module_summary(&m->base), "User(\n  one\n  \n  two\n)");
    hd_register_module(&m->base, "left", &m->left, hd_relu_new(true));
    extra_text = "size=3";
    ck_assert_str_eq(hd_module_summary(&m->base),
                     "User(\n  size=3\n  (left): ReLU(inplace=True)\n)");
    extra_text = "";
    ck_assert_str_eq(hd_module_summary(&m->base), "User(\n  (left): ReLU(inplace=True)\n)");

    extra_text = "one\n\ntwo"; /* further lines are indented, blank ones become empty, */
    probe *root = probe_new();
    hd_register_module(&root->base, "left", &root->left, &m->base);
    ck_assert_str_eq(hd_module_summary(&root->base), "Probe(\n  (left): User(\n    one\n\n    two\n"
                                                     "    (left): ReLU(inplace=True)\n  )\n)");
    hd_module *list = hd_module_list(&root->base); /* except in a ModuleList */
    ck_assert_str_eq(hd_module_summary(list),
                     "ModuleList(\n  (0): Probe(\n    (left): User(\n      one\n  \n      two\n"
                     "      (left): ReLU(inplace=True)\n    )\n  )\n)");
    hd_module_free(list);
}
END_TEST

START_TEST(printing)
{
    FILE *copy = tmpfile();
    int out = dup(1);
    fflush(stdout);
    dup2(fileno(copy), 1);
    hd_module *m = hd_linear_new(2, 3, true);
    bool ok = hd_module_print(m);
    fflush(stdout);
    dup2(out, 1);
    close(out);
    char text[128] = "";
    rewind(copy);
    size_t n = fread(text, 1, sizeof text - 1, copy);
    fclose(copy);
    ck_assert(ok);
    ck_assert_int_gt(n, 0);
    ck_assert_str_eq(text, "Linear(in_features=2, out_features=3, bias=True)\n");
    hd_module_free(m);
    ck_assert(!hd_module_print(NULL));
    ck_error(HD_NULL_ARG, "hd_module_print: m is NULL");
    ck_assert_str_eq(hd_module_summary(NULL), "NULL");
    ck_error(HD_NULL_ARG, "hd_module_summary: m is NULL");
}
END_TEST

/* ---------------------------------------------------------------- what constructors refuse */

START_TEST(refusals)
{
#define REFUSES(code, message, constructor)                                                        \
    ck_assert_ptr_null(constructor);                                                               \
    ck_error(code, message);
    MODULE_REFUSALS(REFUSES)
}
END_TEST

Suite *suite_summary(void)
{
    const TTest *const tests[] = {
        golden_models,
        extra_lines,
        printing,
        refusals,
    };
    return SUITE("summary", tests);
}
