/* test_made_by.c - tests that the error about a freed tensor names the function that the user
 * called to make it, also if that function calls others. */
#include "suites.h"
#include "support/quarantine.h"

static int differ;

/* True if the message says "; function made it", with the first `length` letters of the name. */
static bool says(const char *message, const char *function, size_t length)
{
    char text[100];
    snprintf(text, sizeof text, "; %.*s made it", (int)length, function);
    return strstr(message, text);
}

/* y was freed; does its error say that `function` made it? hd_split_n may call itself hd_split. */
static void expect_maker(const char *function, const char *call, const hd_tensor *y)
{
    int64_t n = hd_numel(y);
    const char *message = hd_error_message();
    size_t length = strlen(function);
    bool listed = length > 2 && strcmp(function + length - 2, "_n") == 0;
    bool said = says(message, function, length) || (listed && says(message, function, length - 2));
    if (n != -1 || hd_error_code() != HD_STATE || !said) {
        fprintf(stderr, "%s: %s\n", call, message);
        differ++;
    }
    hd_error_clear();
}

#define MADE(function, ...)                                                                        \
    do {                                                                                           \
        hd_tensor *made;                                                                           \
        {                                                                                          \
            HD_SCOPE;                                                                              \
            made = __VA_ARGS__;                                                                    \
        }                                                                                          \
        expect_maker(function, #__VA_ARGS__, made);                                                \
    } while (0)

/* ---------------------------------------------------------------- the table of functions */

enum { SIDE = 32 };

/* An input of the survey by its letter (bench/survey.c), where p (32, 32) stands for all that is
 * neither a mask nor an index; NULL: none. */
static hd_tensor *input(hd_tensor *p, char letter)
{
    switch (letter) {
    case 'm': return hd_gt_scalar(hd_detach(p), 0.5);
    case 'w': return hd_select(p, 0, 1);
    case 'r':
    case 'c':
    case 'T': return hd_arange(0, SIDE, 1);
    case 'R':
    case 'C': return hd_zeros(HD_INT64, SIDE, SIDE);
    default: return p;
    }
}

/* The inputs x, y and z of a call, a letter for each; those without a letter are NULL. */
static void inputs_of(hd_tensor *p, const char *letters, hd_tensor *in[3])
{
    for (int k = 0; k < 3 && letters[k]; k++) {
        in[k] = input(p, letters[k]);
    }
}

/* A call that gives its own input makes nothing, and hd_view refuses what is not contiguous. */
#define MADE_OF(inputs, function, ...)                                                             \
    do {                                                                                           \
        hd_tensor *in[3] = {NULL, NULL, NULL}, *made, *other;                                      \
        inputs_of(p, inputs, in);                                                                  \
        hd_tensor *x = in[0], *y = in[1], *z = in[2];                                              \
        (void)x, (void)y, (void)z, (void)other;                                                    \
        {                                                                                          \
            HD_SCOPE;                                                                              \
            made = __VA_ARGS__;                                                                    \
        }                                                                                          \
        if (made != x && (made || hd_is_contiguous(p))) {                                          \
            expect_maker(function, #__VA_ARGS__, made);                                            \
        }                                                                                          \
        hd_error_clear();                                                                          \
    } while (0);

static void run_table(hd_tensor *p)
{
    HD_SCOPE;
#include "made_by_made.h"
}

START_TEST(every_function_of_the_table)
{
    if (!quarantine_on()) {
        return;
    }
    HD_SCOPE;
    differ = 0;
    hd_tensor *p = hd_full(HD_FLOAT32, 0.25, SIDE, SIDE);
    run_table(p);
    run_table(hd_transpose(p, 0, 1));
    run_table(hd_select(hd_full(HD_FLOAT32, 0.25, SIDE, SIDE, 2), 2, 0));
    run_table(hd_requires_grad_(p, true));
    ck_assert_int_eq(differ, 0);
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- other ways through a function */

/* Each row runs with and without a graph, and with p contiguous and not. */
static void run_rows(hd_tensor *x, hd_tensor *p)
{
    hd_tensor *v = hd_select(p, 0, 1), *q = hd_rand(HD_FLOAT32, 2, 3, 4), *indices;
    (void)indices;
    MADE("hd_view", hd_view(x, 6));
    MADE("hd_reshape", hd_reshape(p, 9));
    MADE("hd_split", hd_list_get(hd_split(p, 1, 0), 0));
    MADE("hd_chunk", hd_list_get(hd_chunk(p, 2, 0), 0));
    MADE("hd_pow_scalar", hd_pow_scalar(p, 1));
    MADE("hd_max_dim", (hd_max_dim(p, 0, false, &indices), indices));
    MADE("hd_matmul", hd_matmul(p, p));
    MADE("hd_matmul", hd_matmul(p, v));
    MADE("hd_matmul", hd_matmul(v, p));
    MADE("hd_matmul", hd_matmul(v, v));
    MADE("hd_matmul", hd_matmul(hd_rand(HD_FLOAT32, 2, 3, 3), p));
    MADE("hd_linear", hd_linear(p, p, HD_NONE));
    MADE("hd_linear", hd_linear(p, p, v));
    MADE("hd_linear", hd_linear(hd_unsqueeze(p, 0), p, v));
    MADE("hd_dropout", hd_dropout(p, 1, true));
    MADE("hd_scaled_dot_product_attention",
         hd_scaled_dot_product_attention(q, q, q, HD_NONE, 0, true));
    MADE("hd_scaled_dot_product_attention",
         hd_scaled_dot_product_attention(q, q, q, hd_ones(HD_BOOL, 3, 3), 0.5, false));
}

START_TEST(the_function_that_the_user_called)
{
    if (!quarantine_on()) {
        return;
    }
    HD_SCOPE;
    differ = 0;
    hd_tensor *p = hd_full(HD_FLOAT32, 0.25, 3, 3), *x = hd_ones(HD_FLOAT32, 2, 3);
    run_rows(x, p);
    run_rows(x, hd_transpose(hd_full(HD_FLOAT32, 0.25, 3, 3), 0, 1));
    run_rows(x, hd_select(hd_full(HD_FLOAT32, 0.25, 3, 3, 2), 2, 0));
    run_rows(x, hd_requires_grad_(p, true));
    hd_tensor *turned = hd_transpose(x, 0, 1);
    float two[] = {1, 2};
    MADE("hd_contiguous", hd_contiguous(turned));
    MADE("hd_reshape", hd_reshape(turned, 6));
    MADE("hd_flatten", hd_flatten(turned, 0, 1));
    MADE("hd_to", hd_to(turned, HD_INT64));
    MADE("hd_ones", hd_ones(HD_FLOAT32, 2));
    MADE("hd_empty", hd_empty(HD_FLOAT32, 2));
    MADE("hd_scalar_tensor", hd_scalar_tensor(HD_FLOAT32, 2));
    MADE("hd_arange", hd_arange(0, 3, 1));
    MADE("hd_arange_as", hd_arange_as(HD_FLOAT32, 0, 3, 1));
    MADE("hd_linspace", hd_linspace(HD_FLOAT32, 0, 1, 3));
    MADE("hd_eye", hd_eye(HD_FLOAT32, 2, 2));
    MADE("hd_empty_like", hd_empty_like(x, HD_FLOAT32));
    MADE("hd_zeros_like", hd_zeros_like(x, HD_FLOAT32));
    MADE("hd_ones_like", hd_ones_like(x, HD_FLOAT32));
    MADE("hd_full_like", hd_full_like(x, HD_FLOAT32, 3));
    MADE("hd_rand_like", hd_rand_like(x, HD_FLOAT32));
    MADE("hd_randn_like", hd_randn_like(x, HD_FLOAT32));
    MADE("hd_rand", hd_rand(HD_FLOAT32, 2));
    MADE("hd_randn", hd_randn(HD_FLOAT32, 2));
    MADE("hd_randint", hd_randint(HD_INT64, 0, 3, 2));
    MADE("hd_randint", hd_randint(HD_FLOAT32, 0, 3, 2));
    MADE("hd_randperm", hd_randperm(3));
    MADE("hd_from_data", hd_from_data(HD_FLOAT32, ((float[]){1, 2}), 2));
    MADE("hd_tensor_of", hd_tensor_of(((float[]){1, 2}), 2));
    MADE("hd_wrap", hd_wrap(HD_FLOAT32, two, NULL, NULL, 2));
    MADE("hd_parameter", hd_parameter(x, true));
    MADE("hd_grad", (hd_backward(hd_sum(p)), hd_grad(p)));
    ck_assert_int_eq(differ, 0);
    ck_no_error();
}
END_TEST

Suite *suite_made_by(void)
{
    const TTest *const tests[] = {every_function_of_the_table, the_function_that_the_user_called};
    return SUITE_OF("made by", tests);
}
