/* test_memory.c - memory that runs out at every single allocation of every scenario: the call fails
 * and says so, nothing leaks, nothing is half done, and with enough memory all goes well again. */
#include "memory_scenarios.h"
#include "support/scarce.h"

/* ---------------------------------------------------------------- an allocator that refuses */

static scarce memory; /* the allocator of both tests */

/* ---------------------------------------------------------------- inputs */

static void make_inputs(inputs *in)
{
    hd_manual_seed(1);
    in->a = hd_requires_grad_(hd_rand(HD_FLOAT32, 2, 3), true);
    in->b = hd_requires_grad_(hd_rand(HD_FLOAT32, 3), true);
    in->w = hd_requires_grad_(hd_rand(HD_FLOAT32, 4, 3), true);
    in->bias = hd_requires_grad_(hd_rand(HD_FLOAT32, 4), true);
    in->h = hd_mul_scalar(in->a, 2);
    in->index = hd_from_data(HD_INT64, ((int64_t[]){1, 0}), 2);
    in->mask = hd_from_data(HD_BOOL, ((uint8_t[]){1, 0, 0, 0, 1, 0}), 2, 3);
    ck_no_error();
}

/* What a failed call must leave as it was. */
typedef struct picture {
    float a[6], b[3], w[12], bias[4], h[6];
    int64_t version;
    char name[32];
} picture;

static picture picture_of(const inputs *in)
{
    picture p = {.version = hd_version_of(in->h)};
    hd_copy_to(in->a, p.a, sizeof p.a);
    hd_copy_to(in->b, p.b, sizeof p.b);
    hd_copy_to(in->w, p.w, sizeof p.w);
    hd_copy_to(in->bias, p.bias, sizeof p.bias);
    hd_copy_to(in->h, p.h, sizeof p.h);
    snprintf(p.name, sizeof p.name, "%s", hd_grad_fn(in->h));
    return p;
}

static bool any_grad(const inputs *in)
{
    return hd_grad(in->a) != HD_NONE || hd_grad(in->b) != HD_NONE || hd_grad(in->w) != HD_NONE ||
           hd_grad(in->bias) != HD_NONE;
}

/* ---------------------------------------------------------------- every allocation */

/* Runs the scenario with the k-th block refused. Did it need fewer? */
static bool enough(const scenario *s, int64_t k, bool goes_on)
{
    hd_scope *scope = hd_scope_open();
    inputs in;
    make_inputs(&in);
    picture before = picture_of(&in);
    int64_t blocks = memory.blocks, tensors = hd_tensor_count();
    memory.left = k;
    memory.once = !goes_on;
    memory.refused = 0;
    hd_scope *inner = hd_scope_open();
    bool ok = inner && s->run(&in);
    memory.left = -1;
    hd_scope_close(inner);
    bool refused = memory.refused > 0;
    if (refused) {
        ck_assert_msg(!ok && hd_error_code() == HD_MEMORY, "%s, block %lld%s: %s, '%s'", s->name,
                      (long long)k, goes_on ? " and on" : "", ok ? "went well" : "failed",
                      hd_error_message());
        hd_error_clear();
        picture after = picture_of(&in);
        ck_assert_msg(memcmp(&before, &after, sizeof before) == 0 && !any_grad(&in),
                      "%s, block %lld%s: an input has changed", s->name, (long long)k,
                      goes_on ? " and on" : "");
    }
    ck_assert_msg(ok || refused, "%s: %s", s->name, hd_error_message());
    ck_assert_msg(ok || (memory.blocks == blocks && hd_tensor_count() == tensors),
                  "%s, block %lld%s: %lld blocks leak", s->name, (long long)k,
                  goes_on ? " and on" : "", (long long)(memory.blocks - blocks));
    hd_scope_close(scope);
    ck_assert_int_eq(own_live, 0);
    return !refused;
}

START_TEST(every_block_refused_in_turn)
{
    const scenario *s = &scenarios[_i];
    memory.left = -1;
    scarce_use(&memory);
    int64_t k = 0;
    while (!enough(s, k, true)) {
        k++;
    }
    for (int64_t i = 0; i < k; i++) {
        enough(s, i, false);
    }
    ck_assert_int_gt(k, 0);
    ck_assert_int_eq(memory.blocks, 0);
    ck_assert_int_eq(hd_bytes_live(), 0);
    scarce_end();
}
END_TEST

/* A message that shows a number is complete even if no memory is left for its text. */
START_TEST(messages_need_no_memory)
{
    memory.left = -1;
    scarce_use(&memory);
    {
        HD_SCOPE;
        hd_tensor *x = hd_ones(HD_FLOAT32, 2);
        hd_optim *o = hd_sgd_new(hd_list_of(hd_parameter(x, true)), NULL);
        hd_one_cycle_options c = hd_one_cycle_defaults();
        c.total_steps = 10;
        c.pct_start = 0.1;
        memory.left = 0;
        memory.once = false;
        ck_assert_ptr_null(hd_dropout(x, 1e-7 - 1, true));
        ck_error(HD_VALUE, "hd_dropout: p -0.9999999: expected 0 to 1");
        ck_assert_ptr_null(hd_normal_(x, 0, -1));
        ck_error(HD_VALUE, "hd_normal_: std -1.0: expected 0 or more");
        memory.left = 2; /* the schedule's own blocks */
        ck_assert_ptr_null(hd_one_cycle_new(o, &c));
        ck_error(HD_VALUE, "hd_one_cycle_new: pct_start 0.1 of total_steps 10: a phase begins and "
                           "ends at step 0");
        memory.left = -1;
        hd_optim_free(o);
    }
    ck_assert_int_eq(memory.blocks, 0);
    scarce_end();
}
END_TEST

Suite *suite_memory(void)
{
    const TTest *const tests[] = {messages_need_no_memory};
    Suite *s = SUITE_OF("memory", tests);
    suite_add_loop(s, every_block_refused_in_turn, n_scenarios);
    return s;
}
