/* test_padding.c - texts of different lengths in one batch: each row must have the logits,
 * gradients and generated tokens of its text alone. */
#include "suites.h"

enum { ROWS = 4 };

/* A mask (4, t): padding on the left, on the right, in the middle and at both ends, and none */
static hd_tensor *mask_of(int64_t t)
{
    hd_tensor *mask = hd_ones(HD_INT64, ROWS, t);
    hd_fill_(hd_slice(hd_select(mask, 0, 0), 0, 0, t / 3), 0);
    hd_fill_(hd_slice(hd_select(mask, 0, 1), 0, t / 2, t), 0);
    hd_fill_(hd_slice(hd_select(mask, 0, 2), 0, t / 2, t / 2 + 2), 0);
    hd_fill_(hd_slice(hd_select(mask, 0, 2), 0, 0, 1), 0);
    hd_fill_(hd_slice(hd_select(mask, 0, 2), 0, t - 1, t), 0);
    return mask;
}

/* Row i of x (b, t, ...) without what is padding: (1, n, ...) */
static hd_tensor *row_alone(hd_tensor *x, hd_tensor *mask, int64_t i)
{
    int64_t places[256], n = 0;
    for (int64_t k = 0; k < hd_size(mask, 1); k++) {
        places[n] = k;
        n += hd_get_int(mask, i, k) == 1;
    }
    hd_tensor *at = hd_from_data(HD_INT64, places, n);
    return hd_unsqueeze(hd_index_select(hd_select(x, 0, i), 0, at), 0);
}

static void ck_finite(hd_tensor *x)
{
    ck_assert(hd_item(hd_max(hd_abs(x))) < 1e30);
}

/* ---------------------------------------------------------------- models */

/* Those of the golden folders, the same with weights of bfloat16, and two with longer texts. */
enum { LONGER = 2 * MODEL_FOLDERS, MODELS_ALL = LONGER + 2, LONG = 100 };

static hd_module *model_of(int i)
{
    if (i >= LONGER) {
        hd_gpt2_config g = hd_gpt2_config_defaults();
        g.vocab_size = 64, g.n_embd = 16, g.n_layer = 2, g.n_head = 2, g.initializer_range = 0.3;
        hd_llama_config l = hd_llama_config_defaults();
        l.vocab_size = 64, l.hidden_size = 32, l.intermediate_size = 24, l.num_hidden_layers = 2;
        l.num_attention_heads = 4, l.num_key_value_heads = 2, l.initializer_range = 0.3;
        hd_module *m = i == LONGER ? hd_gpt2_new(&g) : hd_llama_new(&l);
        ck_assert(hd_module_eval(m));
        return m;
    }
    hd_pretrained_options o = hd_pretrained_defaults();
    o.dtype = i < MODEL_FOLDERS ? HD_FLOAT32 : HD_BFLOAT16;
    char folder[512];
    snprintf(folder, sizeof folder, MODELS "/%s", model_folders[i % MODEL_FOLDERS]);
    hd_module *m = hd_from_pretrained(folder, &o);
    ck_assert_msg(m, "%s", hd_error_message());
    return m;
}

static const char *name_of(int i)
{
    return i == LONGER ? "a GPT-2" : i > LONGER ? "a Llama" : model_folders[i % MODEL_FOLDERS];
}

/* The sum of the losses of logits (b, t, 64), without targets of -100 */
static hd_tensor *loss_of(hd_tensor *logits, hd_tensor *targets)
{
    hd_cross_entropy_options o = hd_cross_entropy_defaults();
    o.reduction = HD_SUM;
    return hd_cross_entropy_with(hd_flatten(logits, 0, 1), hd_flatten(targets, 0, 1), &o);
}

/* The gradients of what learns, detached, in the order of the names; drops them in the model */
static int64_t take_grads(hd_module *m, hd_tensor **grads)
{
    hd_list *all = hd_module_parameters(m);
    int64_t n = 0;
    for (int64_t i = 0; i < hd_list_len(all); i++) {
        hd_tensor *w = hd_list_get(all, i);
        if (hd_grad(w) != HD_NONE) {
            grads[n++] = hd_clone(hd_grad(w));
            hd_set_grad(w, HD_NONE);
        }
    }
    return n;
}

START_TEST(rows_are_their_texts_alone)
{
    HD_SCOPE;
    const char *name = name_of(_i);
    hd_module *m = model_of(_i);
    int64_t t = _i < LONGER ? 13 : LONG;
    hd_tensor *ids = hd_randint(HD_INT64, 0, 64, ROWS, t), *mask = mask_of(t);
    hd_tensor *padding = hd_eq_scalar(mask, 0);
    hd_tensor *targets = hd_masked_fill(hd_randint(HD_INT64, 0, 64, ROWS, t), padding, -100);
    hd_tensor *logits = hd_forward_with_mask(m, ids, mask); /* (4, t, 64) */
    ck_assert_msg(logits, "%s", hd_error_message());
    ck_finite(logits);
    hd_tensor *together[64], *alone[64];
    ck_assert(hd_backward(loss_of(logits, targets)));
    int64_t n = take_grads(m, together);
    for (int64_t i = 0; i < ROWS; i++) {
        hd_tensor *y = hd_forward(m, row_alone(ids, mask, i)); /* (1, n, 64) */
        ck_close(name, "logits", row_alone(logits, mask, i), y);
        ck_assert(hd_backward(loss_of(y, row_alone(targets, mask, i))));
    }
    ck_assert(take_grads(m, alone) == n && n > 0);
    for (int64_t i = 0; i < n; i++) {
        ck_close(name, "a gradient", together[i], alone[i]);
    }
    hd_module_free(m);
}
END_TEST

/* In the tokens 32 to 63 is padding, and in those below is text. */
START_TEST(gradients_of_padding_reach_no_token)
{
    HD_SCOPE;
    hd_module *m = model_of(_i);
    hd_tensor *x = hd_module_get_parameter(m, _i == LONGER ? "transformer.wte.weight"
                                                           : "model.embed_tokens.weight");
    hd_tensor *head = hd_rand(HD_FLOAT32, 64, hd_size(x, 1)), *mask = mask_of(LONG),
              *pad = hd_eq_scalar(mask, 0);
    ck_assert(hd_module_set_parameter(m, "lm_head.weight", hd_parameter(head, true)));
    hd_tensor *ids = hd_randint(HD_INT64, 0, 32, ROWS, LONG);
    ids = hd_where(pad, hd_add_scalar(ids, 32), ids);
    for (int k = 0; k < 2; k++) { /* of the logits at padding, and of the others */
        HD_SCOPE;
        hd_tensor *logits = hd_forward_with_mask(m, ids, mask); /* (4, 100, 64) */
        hd_tensor *of = hd_unsqueeze(k ? mask : hd_to(pad, HD_INT64), 2);
        ck_assert(hd_backward(hd_sum(hd_mul(hd_mul(logits, logits), hd_to(of, HD_FLOAT32)))));
        hd_tensor *text = hd_narrow(hd_grad(x), 0, 0, 32), *none = hd_narrow(hd_grad(x), 0, 32, 32);
        ck_finite(hd_grad(x));
        ck_assert((hd_item(hd_max(hd_abs(text))) == 0) == (k == 0));
        ck_assert((hd_item(hd_max(hd_abs(none))) == 0) == (k == 1));
        hd_set_grad(x, HD_NONE);
    }
    hd_module_free(m);
}
END_TEST

START_TEST(a_mask_of_ones_changes_no_bit)
{
    HD_SCOPE;
    for (int i = 0; i < MODELS_ALL; i++) {
        HD_SCOPE;
        hd_module *m = model_of(i);
        int64_t t = i < LONGER ? 20 : LONG;
        hd_tensor *ids = hd_randint(HD_INT64, 0, 64, 2, t), *ones = hd_ones(HD_INT64, 2, t);
        hd_tensor *y = hd_forward(m, ids), *mask = mask_of(t), *four = hd_cat(0, ids, ids);
        ck_assert(hd_equal(y, hd_forward_with_mask(m, ids, ones)));
        ck_assert(hd_equal(y, hd_forward_with_mask(m, ids, hd_to(ones, HD_BOOL))));
        ck_assert(hd_equal(y, hd_forward_with_mask(m, ids, HD_NONE)));
        ck_assert(
            hd_equal(hd_forward_with_mask(m, four, mask),
                     hd_forward_with_mask(m, four, hd_to(hd_t(hd_clone(hd_t(mask))), HD_BOOL))));
        hd_generate_options o = hd_generate_defaults();
        hd_tensor *all = hd_generate(m, ids, &o);
        o.attention_mask = ones;
        ck_assert(hd_equal(all, hd_generate(m, ids, &o)));
        hd_module_free(m);
    }
}
END_TEST

/* ---------------------------------------------------------------- writing */

/* Rows that end in a token */
static hd_tensor *mask_to_go_on(int64_t t)
{
    hd_tensor *mask = mask_of(t);
    hd_fill_(hd_select(mask, 1, t - 1), 1);
    return mask;
}

START_TEST(texts_are_written_as_alone)
{
    HD_SCOPE;
    HD_NO_GRAD;
    const char *name = name_of(_i);
    hd_module *m = model_of(_i);
    int64_t t = 12, pad = 63;
    hd_tensor *mask = mask_to_go_on(t);
    hd_tensor *ids =
        hd_masked_fill(hd_randint(HD_INT64, 0, 63, ROWS, t), hd_eq_scalar(mask, 0), (double)pad);
    keeper *k = keep_logits(m);
    hd_generate_options o = hd_generate_defaults();
    o.max_new_tokens = 50;
    o.repetition_penalty = 1.3; /* of which padding is no part */
    o.attention_mask = mask;
    hd_tensor *all = hd_generate(m, ids, &o); /* (4, 62) */
    ck_assert_msg(all, "%s", hd_error_message());
    ck_assert(hd_equal(hd_narrow(all, 1, 0, t), ids));
    hd_tensor *logits = hd_clone(k->kept); /* (4, 50, 64) */
    o.attention_mask = HD_NONE;
    for (int64_t i = 0; i < ROWS; i++) {
        HD_SCOPE;
        ck_assert(hd_assign(&k->kept, hd_zeros(HD_FLOAT32, 1, 0, 64)));
        hd_tensor *alone = hd_generate(m, row_alone(ids, mask, i), &o);
        hd_tensor *row = hd_select(all, 0, i), *wanted = hd_select(alone, 0, 0);
        ck_assert_msg(hd_equal(hd_slice(row, 0, t, t + 50),
                               hd_slice(wanted, 0, hd_numel(wanted) - 50, hd_numel(wanted))),
                      "%s: row %d: %s", name, (int)i, hd_repr(all));
        ck_close(name, "cached logits", hd_narrow(logits, 0, i, 1), k->kept);
    }
    hd_module_free(m);
}
END_TEST

/* ---------------------------------------------------------------- what is refused */

#define REFUSED(mask, code, message)                                                               \
    do {                                                                                           \
        ck_assert_ptr_null(hd_forward_with_mask(m, ids, mask));                                    \
        ck_error(code, "hd_forward_with_mask: " message);                                          \
        o.attention_mask = mask;                                                                   \
        ck_assert_ptr_null(hd_generate(m, ids, &o));                                               \
        ck_error(code, "hd_generate: " message);                                                   \
    } while (0)

START_TEST(masks_that_are_refused)
{
    HD_SCOPE;
    hd_module *m = golden_model("llama"), *linear = hd_linear_new(2, 3, true);
    hd_tensor *ids = hd_ones(HD_INT64, 2, 3), *mask = hd_ones(HD_INT64, 2, 3);
    hd_generate_options o = hd_generate_defaults();
#define EXPECTED ": expected int64 or bool (2, 3), the shape of ids"
    REFUSED(hd_ones(HD_FLOAT32, 2, 3), HD_DTYPE, "attention_mask is float32 (2, 3)" EXPECTED);
    REFUSED(hd_ones(HD_INT64, 3), HD_SHAPE, "attention_mask is int64 (3,)" EXPECTED);
    REFUSED(hd_ones(HD_BOOL, 2, 4), HD_SHAPE, "attention_mask is bool (2, 4)" EXPECTED);
    REFUSED(hd_ones(HD_INT64, 1, 3), HD_SHAPE, "attention_mask is int64 (1, 3)" EXPECTED);
    REFUSED(hd_ones(HD_INT64, 2, 3, 1), HD_SHAPE, "attention_mask is int64 (2, 3, 1)" EXPECTED);
#undef EXPECTED
    REFUSED(NULL, HD_NULL_ARG, "attention_mask is NULL");
    ck_assert(hd_setitem_scalar(mask, 2, 1, 1));
    REFUSED(mask, HD_VALUE,
            "attention_mask has 2 at (1, 1): expected 1 for a token, or 0 for "
            "padding");
    ck_assert(hd_setitem_scalar(mask, -1, 1, 1));
    REFUSED(mask, HD_VALUE,
            "attention_mask has -1 at (1, 1): expected 1 for a token, or 0 for "
            "padding");
    ck_assert(hd_fill_(hd_select(mask, 0, 1), 0));
    REFUSED(mask, HD_VALUE, "row 1 of attention_mask has no 1: expected at least one");
    REFUSED(hd_to(mask, HD_BOOL), HD_VALUE,
            "row 1 of attention_mask has no 1: expected at least one");
    ck_assert(hd_setitem_scalar(mask, 1, 1, 1));
    ck_assert_ptr_nonnull(hd_forward_with_mask(m, ids, mask));
    for (int k = 0; k < 2; k++) {
        o.attention_mask = k ? hd_to(mask, HD_BOOL) : mask;
        ck_assert_ptr_null(hd_generate(m, ids, &o));
        ck_error(HD_VALUE, "hd_generate: row 1 of attention_mask ends in 0: expected 1. Put the "
                           "padding on the left, because new tokens are added on the right");
    }
    ck_assert_ptr_null(hd_forward_with_mask(linear, ids, mask));
    ck_error(HD_VALUE, "hd_forward_with_mask: m is a Linear: expected a model of heed/hf.h");
    ck_assert_ptr_null(hd_forward_with_mask(m, hd_ones(HD_INT64, 1, 65), HD_NONE));
    ck_error(
        HD_VALUE,
        "hd_forward_with_mask: ids have 65 tokens: expected at most 64, the context of the model");
    ck_assert_ptr_null(hd_forward_with_mask(m, hd_ones(HD_FLOAT32, 1, 5), HD_NONE));
    ck_error(HD_DTYPE, "hd_forward_with_mask: ids are float32 (1, 5): expected int64 "
                       "(batch, tokens)");
    hd_module_free(m);
    hd_module_free(linear);
}
END_TEST

#undef REFUSED

/* ---------------------------------------------------------------- a mask that was forgotten */

START_TEST(padding_without_a_mask)
{
    HD_SCOPE;
    static const int64_t left[] = {9, 9, 5, 6, 3, 4, 5, 6}, right[] = {3, 4, 5, 6, 5, 6, 7, 9},
                         both[] = {9, 4, 9, 6, 9, 6, 7, 3};
    static const char warning[] =
        "hd_generate: rows 0 and 1 begin or end with different numbers of the pad token 9, which "
        "the model reads as text. Set o->attention_mask, with 0 for padding";
    hd_module *m = golden_model("gpt2");
    hd_tensor *padded = hd_from_data(HD_INT64, left, 2, 4), *y;
    hd_generate_options o = hd_generate_defaults();
    ck_no_warning(y = hd_generate(m, padded, &o)); /* no token fills */
    o.pad_token_id = 9;
    ck_warning(y = hd_generate(m, padded, &o), warning);
    ck_warning(y = hd_generate(m, hd_from_data(HD_INT64, right, 2, 4), &o), warning);
    ck_no_warning(y = hd_generate(m, hd_from_data(HD_INT64, both, 2, 4), &o));
    ck_no_warning(y = hd_generate(m, hd_narrow(padded, 0, 0, 1), &o));
    o.pad_token_id = -1;
    o.eos_token_id[0] = 9;
    o.num_eos = 1;
    ck_warning(y = hd_generate(m, padded, &o), warning);
    o.attention_mask = hd_ne_scalar(padded, 9);
    ck_no_warning(y = hd_generate(m, padded, &o));
    o.attention_mask = hd_ones(HD_INT64, 2, 4);
    ck_no_warning(y = hd_generate(m, padded, &o));
    ck_assert_ptr_nonnull(y);
    hd_module_free(m);
}
END_TEST

Suite *suite_padding(void)
{
    const TTest *const once[] = {a_mask_of_ones_changes_no_bit, masks_that_are_refused,
                                 padding_without_a_mask};
    const struct {
        const TTest *test;
        int from, to;
    } each[] = {{rows_are_their_texts_alone, 0, MODELS_ALL},
                {gradients_of_padding_reach_no_token, LONGER, MODELS_ALL},
                {texts_are_written_as_alone, 0, MODELS_ALL}};
    Suite *s = SUITE("padding", once);
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        TCase *c = tcase_create(each[i].test->name);
        tcase_add_checked_fixture(c, leak_checked_begin, leak_checked_end);
        tcase_add_loop_test(c, each[i].test, each[i].from, each[i].to);
        suite_add_tcase(s, c);
    }
    return s;
}
