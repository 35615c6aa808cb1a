/* test_ranks_ddp.c - tests that the ranks average their gradients, and that a training gives the
 * result of one rank. */
#include <math.h>
#include <string.h>

#include "ranks.h"

enum { ROWS = 12 }; /* a multiple of 1, 2, 3 and 4 ranks */

static int64_t share(void)
{
    return ROWS / hd_mpi_size();
}

static int64_t my_first(int step)
{
    return step * ROWS + hd_mpi_rank() * share();
}

/* The average over the ranks of this rank's x, added in the order of the ranks. */
static hd_tensor *average(hd_tensor *x)
{
    HD_NO_GRAD;
    hd_tensor *all = hd_mpi_gather(x); /* (ranks, x's sizes) */
    hd_tensor *sum = hd_clone(hd_select(all, 0, 0));
    for (int r = 1; r < hd_mpi_size(); r++) {
        hd_add_(sum, hd_select(all, 0, r));
    }
    return hd_div_scalar(sum, hd_mpi_size());
}

static hd_ddp *with_buckets(hd_module *m, int64_t bytes)
{
    hd_ddp_options o = hd_ddp_defaults();
    o.bucket_bytes = o.first_bucket_bytes = bytes;
    return hd_ddp_new(m, &o);
}

/* ---------------------------------------------------------------- averages */

/* Every size of bucket gives the average of the gradients that the ranks have without an hd_ddp, to
 * the bit. */
static bool averages(void)
{
    static const int64_t sizes[] = {1, 40, 100, 4096, 25 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        HD_SCOPE;
        hd_module *m = small_new();
        CHECK(hd_backward(rows_loss(m, my_first(0), share())));
        hd_tensor *want = average(all_grads(m)); /* (n,) */
        hd_module_zero_grad(m);
        hd_ddp *d = with_buckets(m, sizes[i]);
        CHECK(d);
        stagger((int)i);
        CHECK(hd_backward(rows_loss(m, my_first(0), share())));
        CHECK(same_bits(all_grads(m), want));
        CHECK(hd_grad(((small_model *)m)->spare ? hd_module_get_parameter(m, "spare.weight")
                                                : NULL) == HD_NONE);
        hd_ddp_free(d);
        hd_module_zero_grad(m);
        CHECK(hd_backward(rows_loss(m, my_first(0), share())));
        CHECK(same_bits(average(all_grads(m)), want)); /* its own again */
        hd_module_free(m);
    }
    return true;
}

/* In two dtypes, with MPI's own sum. */
static bool averages_of_doubles(void)
{
    hd_ddp_options o = hd_ddp_defaults();
    hd_module *m = small_new();
    CHECK(hd_module_to(hd_module_get(m, "second"), HD_FLOAT64));
    hd_tensor *w = hd_module_get_parameter(m, "second.weight"); /* (3, 5) float64 */
    hd_tensor *v = hd_module_get_parameter(m, "first.weight");  /* (5, 6) */
    for (int fast = 0; fast < 2; fast++) {
        HD_SCOPE;
        double scale = hd_mpi_rank() + 1, n = hd_mpi_size();
        o.fast = fast;
        hd_ddp *d = hd_ddp_new(m, &o);
        CHECK(d && hd_backward(hd_add(hd_sum(hd_mul_scalar(w, scale)),
                                      hd_to(hd_sum(hd_mul_scalar(v, 2 * scale)), HD_FLOAT64))));
        CHECK(hd_get(hd_grad(w), 2, 4) == (n + 1) / 2 && hd_get(hd_grad(v), 4, 5) == n + 1);
        CHECK(hd_dtype_of(hd_grad(w)) == HD_FLOAT64);
        hd_ddp_free(d);
        hd_module_zero_grad(m);
    }
    hd_module_free(m);
    return true;
}

/* What was there before is averaged together with what is added. */
static bool accumulates(void)
{
    hd_module *m = small_new();
    hd_ddp *d = with_buckets(m, 100);
    CHECK(hd_ddp_no_sync(d, true) == false);
    CHECK(hd_backward(rows_loss(m, my_first(0), share())));
    CHECK(hd_backward(rows_loss(m, my_first(1), share())));
    if (hd_mpi_size() > 1) {
        CHECK(!same_everywhere(all_grads(m)));
    }
    CHECK(hd_backward(rows_loss(m, my_first(2), share())));
    hd_tensor *want = average(all_grads(m)); /* (n,) */
    hd_module_zero_grad(m);
    CHECK(hd_backward(rows_loss(m, my_first(0), share())));
    CHECK(hd_backward(rows_loss(m, my_first(1), share())));
    CHECK(hd_ddp_no_sync(d, false) == true);
    CHECK(hd_backward(rows_loss(m, my_first(2), share())));
    CHECK(same_bits(all_grads(m), want) && same_everywhere(all_grads(m)));

    /* A second one adds to the averages. */
    hd_tensor *once = all_grads(m); /* (n,) */
    CHECK(hd_backward(rows_loss(m, my_first(3), share())));
    CHECK(same_everywhere(all_grads(m)) && !same_bits(all_grads(m), once));
    hd_ddp_free(d);
    hd_module_free(m);
    return true;
}

/* A parameter that some ranks use, that none uses, and that was used under no_sync alone. */
static bool unused(void)
{
    hd_module *m = small_new();
    small_model *s = (small_model *)m;
    hd_tensor *w = hd_module_get_parameter(m, "spare.weight");  /* (3, 5) */
    hd_tensor *v = hd_module_get_parameter(m, "second.weight"); /* (3, 5) */
    bool odd = hd_mpi_rank() % 2 == 1;
    s->use_spare = odd;
    CHECK(hd_backward(rows_loss(m, my_first(0), share())));
    hd_tensor *want = average(all_grads(m)); /* (n,) */
    hd_module_zero_grad(m);
    hd_ddp *d = with_buckets(m, 100);
    CHECK(hd_backward(rows_loss(m, my_first(0), share())));
    CHECK(same_bits(all_grads(m), want) && same_everywhere(all_grads(m)));
    CHECK((hd_grad(w) == HD_NONE) == (hd_mpi_size() == 1));

    hd_module_zero_grad(m);
    s->use_spare = false;
    hd_set_grad(w, hd_full_like(w, HD_FLOAT32, 7)); /* nobody uses it: it stays */
    CHECK(hd_backward(rows_loss(m, my_first(0), share())));
    CHECK(hd_get(hd_grad(w), 0, 0) == 7);

    hd_module_zero_grad(m);
    hd_ddp_no_sync(d, true);
    s->use_spare = odd;
    CHECK(hd_backward(rows_loss(m, my_first(0), share())));
    hd_ddp_no_sync(d, false);
    s->use_spare = false;
    CHECK(hd_backward(rows_loss(m, my_first(1), share())));
    CHECK(same_everywhere(all_grads(m)) && hd_grad(v) != HD_NONE);
    CHECK((hd_grad(w) == HD_NONE) == (hd_mpi_size() == 1));
    hd_ddp_free(d);
    hd_module_free(m);
    return true;
}

/* Rank 0's weights and buffers are everybody's, and a model without work to do is refused. */
static bool makes(void)
{
    hd_manual_seed(hd_mpi_rank());
    hd_module *m = small_new();
    hd_ddp *d = hd_ddp_new(m, NULL);
    CHECK(d && same_everywhere(all_parameters(m)));
    CHECK(!hd_ddp_new(m, NULL) && error_has(HD_STATE, "hd_ddp_new", "there is an hd_ddp already"));
    hd_ddp_free(d);
    hd_ddp_free(d);
    CHECK(error_has(HD_STATE, "hd_ddp_free", "not the current hd_ddp"));
    hd_module_requires_grad_(m, false);
    CHECK(!hd_ddp_new(m, NULL) &&
          error_has(HD_VALUE, "hd_ddp_new", "no parameter of model requires grad"));
    CHECK(!hd_ddp_new(NULL, NULL) && error_has(HD_NULL_ARG, "hd_ddp_new", "model is NULL"));
    hd_ddp_options o = hd_ddp_defaults();
    o.bucket_bytes = 0;
    CHECK(!hd_ddp_new(m, &o) && error_has(HD_VALUE, "bucket_bytes 0", "expected 1 or more"));
    hd_module_free(m);
    hd_ddp_free(NULL);
    return true;
}

/* hd_grad_of, and hooks of the program. */
static int hook_calls;

static hd_tensor *count_hook(hd_tensor *g, void *user)
{
    (void)g, (void)user;
    hook_calls++;
    return HD_NONE;
}

static bool other_gradients(void)
{
    hd_module *m = small_new();
    hd_tensor *w = hd_module_get_parameter(m, "first.weight"); /* (5, 6) */
    hd_list *of_w = hd_list_of(w);
    hd_tensor *own = hd_list_get(
        hd_grad_of(hd_list_of(rows_loss(m, my_first(0), share())), of_w, NULL, NULL), 0);
    hd_ddp *d = hd_ddp_new(m, NULL);
    hd_tensor *again = hd_list_get(
        hd_grad_of(hd_list_of(rows_loss(m, my_first(0), share())), of_w, NULL, NULL), 0);
    CHECK(same_bits(own, again) && hd_grad(w) == HD_NONE);
    CHECK(hd_register_hook(w, count_hook, NULL) > 0);
    hook_calls = 0;
    CHECK(hd_backward(rows_loss(m, my_first(0), share())));
    CHECK(hook_calls == 1 && same_bits(hd_grad(w), average(own)));
    hd_ddp_free(d);
    hd_module_free(m);
    return true;
}

/* ---------------------------------------------------------------- trainings */

/* The weights after some steps, and the mean loss over the ranks of each step. */
static hd_tensor *train(int steps, int64_t first, int64_t rows, double *losses, bool wait)
{
    hd_manual_seed(5);
    hd_module *m = small_new();
    hd_ddp *d = hd_mpi_size() > 1 && rows < ROWS ? with_buckets(m, 64) : NULL;
    hd_adamw_options a = hd_adamw_defaults();
    a.lr = 0.05;
    hd_list *parameters = hd_module_parameters(m);
    hd_optim *o = hd_adamw_new(parameters, &a);
    for (int i = 0; i < steps; i++) {
        HD_SCOPE;
        hd_tensor *loss = rows_loss(m, i % 4 * ROWS + first, rows);
        hd_optim_zero_grad(o);
        if (wait) {
            stagger(i);
        }
        hd_backward(loss);
        hd_clip_grad_norm_(parameters, 0.3, 2, false);
        hd_optim_step(o);
        losses[i] = hd_item(loss);
    }
    if (d) {
        hd_mpi_sum(steps, losses);
        for (int i = 0; i < steps; i++) {
            losses[i] /= hd_mpi_size();
        }
    }
    hd_tensor *end = all_parameters(m); /* (n,) */
    hd_ddp_free(d);
    hd_optim_free(o);
    hd_module_free(m);
    return end;
}

/* The ranks together do what one rank does, to 1e-6. */
static bool trains_as_one(void)
{
    enum { STEPS = 50 };
    double one[STEPS], all[STEPS];
    hd_tensor *alone = train(STEPS, 0, ROWS, one, false); /* (n,), on each rank by itself */
    hd_tensor *together = train(STEPS, hd_mpi_rank() * share(), share(), all, false); /* (n,) */
    CHECK(alone && together && same_everywhere(together));
    for (int i = 0; i < STEPS; i++) {
        CHECK(fabs(one[i] - all[i]) <= 1e-6 * fabs(one[i]));
    }
    CHECK(one[STEPS - 1] < 0.9 * one[0]);
    return true;
}

/* Whatever the timing, the bits are the same. */
static bool trains_the_same(void)
{
    enum { STEPS = 12 };
    double a[STEPS], b[STEPS];
    hd_tensor *first = train(STEPS, hd_mpi_rank() * share(), share(), a, false); /* (n,) */
    hd_tensor *second = train(STEPS, hd_mpi_rank() * share(), share(), b, true); /* (n,) */
    CHECK(first && same_bits(first, second) && memcmp(a, b, sizeof a) == 0);
    return true;
}

/* Buckets are sent while backward goes on, and as many bytes as the formula says. */
static bool overlaps(void)
{
    hd_ddp_figures f;
    hd_module *m = small_new();
    hd_ddp *d = with_buckets(m, 1); /* each parameter alone */
    int64_t n = 5 * 6 + 5 + 3 * 5 + 3 + 3 * 5, ranks = hd_mpi_size();
    CHECK(hd_ddp_get_figures(d, &f, false) && f.buckets == 5 && f.backwards == 0);
    ((small_model *)m)->use_spare = false;
    CHECK(hd_backward(rows_loss(m, my_first(0), share())));
    CHECK(hd_ddp_get_figures(d, &f, true));
    if (ranks > 1) {
        CHECK(f.backwards == 1 && f.bytes == 4 * n && f.bytes_moved > 0);
        /* The spare weight is the first of all, and it never comes. */
        CHECK(f.bytes_early == 0);
    }
    ((small_model *)m)->use_spare = true;
    hd_module_requires_grad_(hd_module_get(m, "second"), false);
    hd_ddp_free(d);
    d = with_buckets(m, 1);
    CHECK(hd_backward(rows_loss(m, my_first(0), share())));
    CHECK(hd_ddp_get_figures(d, &f, true) && f.buckets == 3);
    if (ranks > 1) {
        CHECK(f.bytes == 4 * 50 && f.bytes_early == 4 * 50);
        CHECK(f.bytes_hidden >= 4 * 15 && f.bytes_hidden < 4 * 50 && f.seconds_exposed > 0 &&
              f.seconds_hooks > 0);
    }
    CHECK(hd_ddp_get_figures(d, &f, false) && f.bytes == 0 && f.backwards == 0);
    hd_ddp_free(d);
    hd_module_free(m);
    return true;
}

const ranks_case ddp_cases[] = {
    {"averages", averages},
    {"averages_of_doubles", averages_of_doubles},
    {"accumulates", accumulates},
    {"unused", unused},
    {"makes", makes},
    {"other_gradients", other_gradients},
    {"trains_as_one", trains_as_one},
    {"trains_the_same", trains_the_same},
    {"overlaps", overlaps},
    {NULL, NULL},
};
