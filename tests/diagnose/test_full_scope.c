/* test_full_scope.c - tests of the warning about a loop without a scope, which keeps the tensors of
 * all rounds. Correct programs that keep as many give no warning. Also tests the messages when
 * memory runs out. */
#include "suites.h"

#include "support/warnings.h"

enum { MANY = 50 << 20 }; /* elements of float32, 200 MiB, that nobody touches */

static bool large_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    (void)ctx, (void)x;
    *y = hd_empty(HD_FLOAT32, MANY);
    return *y;
}

static bool small_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    (void)x;
    *y = hd_ones_n(HD_FLOAT32, 0, NULL);
    return *y && hd_save(ctx, *x);
}

static void zero_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    bool last = !strcmp(*(const char *const *)hd_ctx_user(ctx), "small");
    *gx = last ? hd_expand(hd_zeros(HD_FLOAT32, 1), MANY) : hd_zeros_n(HD_FLOAT32, 0, NULL);
    (void)gy;
}

static hd_tensor *small_loss(hd_tensor *y) /* () */
{
    static const char *small = "small";
    static const hd_op op = {sizeof op, "Small", small_forward, zero_backward, NULL};
    return hd_apply(&op, (void *)&small, y);
}

static hd_tensor *large_loss(hd_tensor *x, hd_tensor **kept) /* () */
{
    static const char *large = "large";
    static const hd_op op = {sizeof op, "Large", large_forward, zero_backward, NULL};
    hd_tensor *y = hd_apply(&op, (void *)&large, x); /* (MANY,) */
    if (kept) {
        *kept = hd_retain(y);
    }
    return small_loss(y);
}

static void fill_root_scope(hd_tensor *x, int steps)
{
    for (int i = 0; i < steps; i++) {
        hd_backward(large_loss(x, NULL));
    }
}

#define HELD(scope, tensors, bytes, backwards, made)                                               \
    "hd_backward: " scope " owns " tensors " tensors with " bytes " bytes that were made between " \
    "the first and the last of " backwards " backwards, such as the " made                         \
    " made. Write HD_SCOPE; at the start of the loop's body, so that each iteration frees its "    \
    "tensors. hd_scope_report lists them all"

START_TEST(a_loop_without_a_scope)
{
    hd_tensor *x = hd_requires_grad_(hd_ones_n(HD_FLOAT32, 0, NULL), true); /* () */
    ck_warning(fill_root_scope(x, 7),
               HELD("the root scope", "10", "1048576020", "6", "(52428800,) that hd_empty"));
    ck_no_warning(fill_root_scope(x, 3)); /* until the memory has doubled */
}
END_TEST

/* So many small losses, and then large ones, in one scope. */
static void fill_scope(hd_tensor *x, int small)
{
    hd_scope *scope = hd_scope_open_at("opened.c", 12);
    for (int i = 0; i < small; i++) {
        ck_assert(hd_backward(small_loss(x)));
    }
    fill_root_scope(x, 7);
    hd_scope_close(scope);
}

START_TEST(a_loop_in_one_scope)
{
    hd_tensor *x = hd_requires_grad_(hd_ones_n(HD_FLOAT32, 0, NULL), true); /* () */
    ck_warning(fill_scope(x, 26), HELD("the scope opened at opened.c:12", "37", "1258291324", "32",
                                       "(52428800,) that hd_empty"));
}
END_TEST

START_TEST(a_batch_in_parts)
{
    hd_tensor *x = hd_requires_grad_(hd_ones_n(HD_FLOAT32, 0, NULL), true); /* () */
    ck_no_warning(fill_scope(x, 25)); /* 31, whose gradients are added up */
}
END_TEST

static void in_scopes(hd_tensor *x, hd_tensor **kept)
{
    for (int i = 0; i < 8; i++) {
        HD_SCOPE;
        hd_backward(large_loss(x, kept ? &kept[i] : NULL));
    }
}

/* All memory is of graphs that may be used again, or of one. */
static void graphs_that_are_kept(hd_tensor *x)
{
    for (int i = 0; i < 8; i++) {
        hd_backward_with(large_loss(x, NULL), HD_NONE, true);
    }
}

/* Batches that outweigh what is computed of them. */
static void batches(hd_tensor *x, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        hd_empty(HD_FLOAT32, MANY);
        hd_backward(hd_square(x));
    }
}

/* Data for all steps, before them and between two of them. */
static void data_in_the_root_scope(hd_tensor *x)
{
    for (int i = 0; i < 9; i++) {
        if (i % 6 == 0) {
            hd_empty(HD_FLOAT32, 4 * MANY);
        }
        hd_backward(hd_square(x));
    }
}

static void released(hd_tensor *x)
{
    hd_empty(HD_FLOAT32, 6 * MANY);
    for (int i = 0; i < 8; i++) {
        hd_tensor *loss = large_loss(x, NULL); /* () */
        hd_backward(loss);
        hd_release(loss);
    }
}

/* Three losses of one scope, and parts of each. */
static void losses_of_three_kinds(hd_tensor *x)
{
    for (int i = 0; i < 2; i++) {
        hd_backward(large_loss(x, NULL));
        hd_backward(hd_square(large_loss(x, NULL)));
        hd_backward(hd_exp(large_loss(x, NULL)));
    }
}

START_TEST(much_memory_of_several_losses)
{
    hd_tensor *x = hd_requires_grad_(hd_ones_n(HD_FLOAT32, 0, NULL), true); /* () */
    ck_no_warning(losses_of_three_kinds(x));
}
END_TEST

START_TEST(batches_that_outweigh_their_results)
{
    hd_tensor *x = hd_requires_grad_(hd_ones_n(HD_FLOAT32, 0, NULL), true); /* () */
    ck_warning(batches(x, 7),
               HELD("the root scope", "10", "1048576020", "6", "(52428800,) that hd_empty"));
}
END_TEST

/* A test of its own, because a thread looks again only when its memory has doubled. */
START_TEST(much_data_in_the_root_scope)
{
    ck_no_warning(data_in_the_root_scope(hd_requires_grad_(hd_ones(HD_FLOAT32, 1), true)));
}
END_TEST

START_TEST(much_memory_that_is_in_use)
{
    hd_tensor *x = hd_requires_grad_(hd_ones_n(HD_FLOAT32, 0, NULL), true), *kept[8]; /* () */
    ck_no_warning(in_scopes(x, NULL));
    ck_no_warning(in_scopes(x, kept));
    for (int i = 0; i < 8; i++) {
        hd_release(kept[i]);
    }
}
END_TEST

START_TEST(much_memory_of_graphs_that_stay)
{
    hd_tensor *x = hd_requires_grad_(hd_ones_n(HD_FLOAT32, 0, NULL), true); /* () */
    ck_no_warning(graphs_that_are_kept(x));
}
END_TEST

/* A buffer of the past, which each round learns from. */
static void replay(hd_tensor *x)
{
    for (int i = 0; i < 50000; i++) {
        hd_ones(HD_FLOAT32, 1); /* a state */
        hd_ones(HD_FLOAT32, 1); /* and a reward */
        hd_scope *scope = hd_scope_open();
        if (i % 100 == 99) {
            hd_backward(hd_square(x));
        }
        hd_scope_close(scope);
    }
}

START_TEST(a_replay_buffer_of_100000_tensors)
{
    hd_tensor *x = hd_requires_grad_(hd_ones_n(HD_FLOAT32, 0, NULL), true); /* () */
    ck_no_warning(replay(x));
}
END_TEST

static void many_small_steps(hd_tensor *x)
{
    for (int i = 0; i < 60000; i++) {
        hd_backward(hd_exp(hd_square(x)));
    }
}

START_TEST(many_small_tensors_without_a_scope)
{
    hd_tensor *x = hd_requires_grad_(hd_zeros_n(HD_FLOAT32, 0, NULL), true); /* () */
    ck_warning(many_small_steps(x),
               HELD("the root scope", "99998", "399992", "50000", "() that hd_exp"));
}
END_TEST

START_TEST(losses_that_are_released)
{
    hd_tensor *x = hd_requires_grad_(hd_ones_n(HD_FLOAT32, 0, NULL), true); /* () */
    ck_no_warning(released(x));
}
END_TEST

/* ---------------------------------------------------------------- memory runs out */

START_TEST(what_holds_memory_when_it_runs_out)
{
    hd_ones(HD_FLOAT32, 10);
    ck_assert_ptr_null(hd_empty(HD_FLOAT32, INT64_MAX / 16));
    ck_error(HD_MEMORY, "hd_empty: 2305843009213693948 bytes: out of memory");
    hd_tensor *x = hd_ones(HD_FLOAT32, 1 << 18); /* (262144,) */
    hd_neg(x);
    hd_neg(hd_view(x, 2, -1));
    HD_SCOPE;
    hd_exp(x);
    ck_assert_ptr_null(hd_empty(HD_FLOAT32, INT64_MAX / 16));
    ck_error(HD_MEMORY, "hd_empty: 2305843009213693948 bytes: out of memory; the root scope holds "
                        "3145768 bytes, 2097152 of them made by hd_neg");
}
END_TEST

Suite *suite_full_scope(void)
{
    const TTest *const tests[] = {
        a_loop_without_a_scope,
        a_loop_in_one_scope,
        a_batch_in_parts,
        batches_that_outweigh_their_results,
        much_data_in_the_root_scope,
        much_memory_of_several_losses,
        much_memory_that_is_in_use,
        much_memory_of_graphs_that_stay,
        losses_that_are_released,
        a_replay_buffer_of_100000_tensors,
        many_small_tensors_without_a_scope,
        what_holds_memory_when_it_runs_out,
    };
    return SUITE_OF("memory that a scope holds", tests);
}
