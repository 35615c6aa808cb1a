/* test_accumulation.c - tests of a run that is stopped between the backwards of one step. A
 * checkpoint after any of them, loaded into another model, optimizer and generator, must reach the
 * bytes of the uninterrupted run. */
#include <stdio.h>
#include <unistd.h>

#include "../../examples/gpt.h"
#include "suites.h"

enum { MICRO = 14, ACCUMULATE = 4 }; /* two backwards are left over at the end */

typedef struct run {
    hd_module *model;
    hd_optim *optim;
    hd_list *parameters;
} run;

/* A model with tied weights, as GPT-2 has. Its initial weights come from the default generator. */
static run begin(uint64_t seed)
{
    static const gpt_config cfg = {.vocab_size = 11,
                                   .context_length = 6,
                                   .emb_dim = 8,
                                   .n_heads = 2,
                                   .n_layers = 1,
                                   .drop_rate = 0.25};
    hd_manual_seed(seed);
    run r = {.model = gpt_model_new(&cfg)};
    hd_tensor *embedding = hd_module_get_parameter(r.model, "tok_emb.weight");
    ck_assert(hd_module_set_parameter(r.model, "out_head.weight", embedding));
    r.parameters = hd_module_parameters(r.model);
    r.optim = hd_adamw_new(r.parameters, NULL);
    ck_no_error();
    return r;
}

static void end(run *r)
{
    hd_optim_free(r->optim);
    hd_module_free(r->model);
}

/* Makes the backwards from .. to - 1; a step follows every fourth. Batches come from the stream
 * that dropout draws from. */
static void train(const run *r, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++) {
        HD_SCOPE;
        if (i % ACCUMULATE == 0) {
            ck_assert(hd_optim_zero_grad(r->optim));
        }
        hd_tensor *x = hd_randint(HD_INT64, 0, 11, 2, 6), *y = hd_randint(HD_INT64, 0, 11, 12);
        hd_tensor *logits = hd_flatten(hd_forward(r->model, x), 0, 1); /* (12, 11) */
        hd_backward(hd_div_scalar(hd_cross_entropy(logits, y), ACCUMULATE));
        if (i % ACCUMULATE == ACCUMULATE - 1) {
            hd_clip_grad_norm_(r->parameters, 0.5, 2, true);
            hd_optim_step(r->optim);
        }
        ck_no_error();
    }
}

static void save(const run *r, const char *dir)
{
    hd_dict *model = hd_module_state_dict(r->model), *state = hd_dict_new();
    ck_assert(hd_optim_save(r->optim, state, "optim"));
    ck_assert(hd_module_save_grads(r->model, state, "grad"));
    ck_assert(hd_generator_save(hd_default_generator(), state, "generator"));
    ck_assert_msg(hd_checkpoint_save(dir, model, state), "%s", hd_error_message());
    hd_dict_free(model);
    hd_dict_free(state);
}

static void load(run *r, const char *dir)
{
    hd_dict *model, *state;
    ck_assert_msg(hd_checkpoint_load(dir, &model, &state), "%s", hd_error_message());
    ck_assert(hd_module_load_state_dict(r->model, model, true, NULL));
    ck_assert(hd_optim_load(r->optim, state, "optim"));
    ck_assert(hd_module_load_grads(r->model, state, "grad"));
    ck_assert(hd_generator_load(hd_default_generator(), state, "generator"));
    ck_no_error();
    hd_dict_free(model);
    hd_dict_free(state);
}

static void ck_same_file(const char *dir, const char *other, const char *name, int64_t k)
{
    static char bytes[2][1 << 17];
    size_t n[2];
    for (int i = 0; i < 2; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", i ? other : dir, name);
        FILE *f = fopen(path, "rb");
        ck_assert_ptr_nonnull(f);
        n[i] = fread(bytes[i], 1, sizeof bytes[i], f);
        fclose(f);
        ck_assert(n[i] > 0 && n[i] < sizeof bytes[i]);
    }
    ck_assert_msg(n[0] == n[1] && memcmp(bytes[0], bytes[1], n[0]) == 0,
                  "%s, stopped after %lld backwards", name, (long long)k);
}

/* Makes k backwards and a checkpoint; a run that began otherwise makes the others. */
static void resume(const char *root, const char *all, int64_t k)
{
    HD_SCOPE;
    char middle[128], last[128];
    snprintf(middle, sizeof middle, "%s/middle", root);
    snprintf(last, sizeof last, "%s/last", root);
    run before = begin(1);
    train(&before, 0, k);
    save(&before, middle);
    end(&before);
    run after = begin(2);
    train(&after, 0, 1 + k % 3);
    load(&after, middle);
    train(&after, k, MICRO);
    save(&after, last);
    end(&after);
    ck_same_file(all, last, "model.safetensors", k);
    ck_same_file(all, last, "state.safetensors", k);
    ck_assert(hd_checkpoint_remove(middle) && hd_checkpoint_remove(last));
}

START_TEST(at_every_backward)
{
    char root[] = "/tmp/heed-accumulation-XXXXXX", all[64];
    ck_assert_ptr_nonnull(mkdtemp(root));
    snprintf(all, sizeof all, "%s/all", root);
    {
        HD_SCOPE;
        run r = begin(1);
        train(&r, 0, MICRO);
        save(&r, all);
        end(&r);
    }
    for (int64_t k = 0; k <= MICRO; k++) {
        resume(root, all, k);
    }
    ck_assert(hd_checkpoint_remove(all));
    ck_assert_int_eq(rmdir(root), 0);
}
END_TEST

Suite *suite_accumulation(void)
{
    const TTest *const tests[] = {at_every_backward};
    return SUITE_OF("accumulation", tests);
}
