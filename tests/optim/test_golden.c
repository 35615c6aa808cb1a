/* test_golden.c - twenty steps of every option against PyTorch's: tests/golden/optim.txt. */
#include "suites.h"

#include "../golden_reader.h"

static hd_optim *sgd(const golden_case *c, const hd_list *parameters)
{
    hd_sgd_options o = hd_sgd_defaults();
    o.lr = golden_double(c, "lr", o.lr);
    o.momentum = golden_double(c, "momentum", o.momentum);
    o.dampening = golden_double(c, "dampening", o.dampening);
    o.weight_decay = golden_double(c, "weight_decay", o.weight_decay);
    o.nesterov = golden_int(c, "nesterov", o.nesterov);
    o.maximize = golden_int(c, "maximize", o.maximize);
    return hd_sgd_new(parameters, &o);
}

static hd_optim *adamw(const golden_case *c, const hd_list *parameters)
{
    hd_adamw_options o = hd_adamw_defaults();
    const golden_record *betas = golden_get(c, "betas");
    o.lr = golden_double(c, "lr", o.lr);
    o.beta1 = betas ? betas->d[0] : o.beta1;
    o.beta2 = betas ? betas->d[1] : o.beta2;
    o.eps = golden_double(c, "eps", o.eps);
    o.weight_decay = golden_double(c, "weight_decay", o.weight_decay);
    o.amsgrad = golden_int(c, "amsgrad", o.amsgrad);
    o.maximize = golden_int(c, "maximize", o.maximize);
    return hd_adamw_new(parameters, &o);
}

/* (2, 3) of the record's values from `from` on */
static hd_tensor *tensor_of(const golden_record *r, int64_t from)
{
    hd_tensor *x = hd_from_data(HD_FLOAT64, r->d + from, 2, 3);
    return r->type == GOLDEN_F32 ? hd_to(x, HD_FLOAT32) : x;
}

/* x by other strides: the transposed of a copy of its transposed */
static hd_tensor *strided(hd_tensor *x)
{
    return hd_t(hd_contiguous(hd_t(x)));
}

static void run(const golden_file *f, const golden_case *c, bool strided_parameter,
                bool strided_grad)
{
    HD_SCOPE;
    const golden_record *out = golden_get(c, "out");
    bool f32 = out->type == GOLDEN_F32;
    const golden_case *given = golden_find(f, f32 ? "gradients_f32" : "gradients_f64");
    const golden_record *start = golden_get(given, "start"), *grads = golden_get(given, "grads");
    hd_tensor *x = tensor_of(start, 0);
    hd_tensor *p = hd_parameter(strided_parameter ? strided(x) : x, true);
    const hd_list *parameters = hd_list_of(p);
    bool is_sgd = strcmp(golden_text(c, "class", ""), "SGD") == 0;
    hd_optim *o = is_sgd ? sgd(c, parameters) : adamw(c, parameters);
    ck_assert_msg(o != NULL, "%s: %s", c->name, hd_error_message());
    double largest = 0;
    for (int64_t i = 0; i < out->numel; i++) {
        largest = fmax(largest, fabs(out->d[i]));
    }
    for (int64_t k = 0; k < 20; k++) {
        hd_tensor *g = tensor_of(grads, 6 * k);
        ck_assert(hd_set_grad(p, strided_grad ? strided(g) : g));
        ck_assert_msg(hd_optim_step(o), "%s: %s", c->name, hd_error_message());
        for (int64_t i = 0; i < 6; i++) {
            double got = element_at(p, i), want = out->d[6 * k + i];
            ck_assert_msg(fabs(got - want) <= (f32 ? 1e-6 : 1e-12) * largest,
                          "%s: step %lld, element %lld is %.17g, expected %.17g", c->name,
                          (long long)k, (long long)i, got, want);
        }
    }
    hd_optim_free(o);
}

START_TEST(twenty_steps)
{
    golden_file *f = golden_read(GOLDEN_DIR "/optim.txt");
    ck_assert_ptr_nonnull(f);
    int found = 0;
    for (int k = 0; k < f->count; k++) {
        if (golden_get(&f->cases[k], "out")) {
            run(f, &f->cases[k], false, false);
            run(f, &f->cases[k], true, false);
            run(f, &f->cases[k], false, true);
            found++;
        }
    }
    ck_assert_int_eq(found, 32);
    golden_free(f);
}
END_TEST

Suite *suite_golden(void)
{
    const TTest *const tests[] = {
        twenty_steps,
    };
    return SUITE("golden", tests);
}
