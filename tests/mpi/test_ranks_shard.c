/* test_ranks_shard.c - tests of an optimizer whose state is divided among the ranks. */
#include <stdio.h>
#include <string.h>

#include "ranks.h"

typedef struct {
    hd_module *m;
    hd_ddp *d;
    hd_optim *o;
} training;

static training training_new(bool shard, int kind)
{
    hd_manual_seed(5);
    training t = {.m = small_new()};
    hd_ddp_options o = hd_ddp_defaults();
    o.shard_optimizer = shard;
    t.d = hd_ddp_new(t.m, &o);
    hd_list *own = hd_ddp_parameters(t.d);
    hd_adamw_options a = hd_adamw_defaults();
    a.lr = 0.05;
    a.amsgrad = true;
    hd_sgd_options s = hd_sgd_defaults();
    s.momentum = 0.9;
    t.o = kind == 0 ? hd_adamw_new(own, &a) : hd_sgd_new(own, &s);
    return t;
}

static void training_free(training *t)
{
    hd_optim_free(t->o);
    hd_ddp_free(t->d);
    hd_module_free(t->m);
}

/* spare: the first step that may use the spare parameter, which every second one does */
static bool steps(training *t, int first, int n, int spare)
{
    bool ok = true;
    for (int i = first; i < first + n && ok; i++) {
        HD_SCOPE;
        ((small_model *)t->m)->use_spare = i >= spare && i % 2;
        ok = hd_optim_zero_grad(t->o) && hd_module_zero_grad(t->m) &&
             hd_backward(rows_loss(t->m, (i * 4 + hd_mpi_rank()) * 3, 3)) &&
             hd_ddp_step(t->d, t->o);
    }
    return ok;
}

static void count_warning(const char *message, void *user)
{
    fprintf(stderr, "rank %d: warning: %s\n", hd_mpi_rank(), message);
    ++*(int *)user;
}

/* The results are the same to the bit. A rank whose part has no gradient in the first four steps is
 * not warned of it. */
static bool same_steps(void)
{
    int warnings = 0;
    hd_on_warning(count_warning, &warnings);
    for (int kind = 0; kind < 2; kind++) {
        HD_SCOPE;
        training a = training_new(false, kind), b = training_new(true, kind);
        CHECK(!b.d && error_has(HD_STATE, "hd_ddp_new", "there is an hd_ddp already"));
        training_free(&b);
        CHECK(steps(&a, 0, 7, 4));
        hd_tensor *want = all_parameters(a.m); /* (n,) */
        int64_t all = hd_list_len(hd_ddp_parameters(a.d));
        training_free(&a);
        b = training_new(true, kind);
        double mine = (double)hd_list_len(hd_ddp_parameters(b.d));
        CHECK(hd_mpi_sum(1, &mine) && mine == (double)all);
        CHECK(steps(&b, 0, 7, 4) && same_bits(all_parameters(b.m), want));
        CHECK(same_everywhere(all_parameters(b.m)));
        training_free(&b);
    }
    hd_on_warning(NULL, NULL);
    CHECK(warnings == 0);
    return true;
}

/* Do a and b have the same entries in the same order? */
static bool same_dicts(const hd_dict *a, const hd_dict *b)
{
    bool same = hd_dict_len(a) == hd_dict_len(b) && hd_dict_len(a) > 10;
    for (int64_t i = 0; same && i < hd_dict_len(a); i++) {
        const char *name = hd_dict_name(a, i);
        double x = 0, y = 0;
        hd_dict_kind kind = hd_dict_kind_of(a, name);
        same = strcmp(name, hd_dict_name(b, i)) == 0 && hd_dict_kind_of(b, name) == kind;
        if (same && kind == HD_DICT_TENSOR) {
            same = same_bits(hd_dict_get(a, name), hd_dict_get(b, name));
        } else if (same && kind != HD_DICT_STRING) {
            same = hd_dict_get_double(a, name, &x) && hd_dict_get_double(b, name, &y) && x == y;
        }
        if (!same) {
            fprintf(stderr, "%s and %s differ\n", name, hd_dict_name(b, i));
        }
    }
    return same;
}

/* The saved state is that of one optimizer, and a training goes on from it in any way. */
static bool saves(void)
{
    static const char *const prefixes[] = {"optim", ""};
    for (int i = 0; i < 4; i++) {
        HD_SCOPE;
        const char *prefix = prefixes[i / 2];
        bool first = i % 2;
        training a = training_new(first, 0);
        hd_dict *saved = hd_dict_new(), *plain = hd_dict_new();
        CHECK(steps(&a, 0, 3, 0) && hd_ddp_optim_save(a.d, a.o, saved, prefix));
        CHECK((hd_dict_len(saved) > 0) == (hd_mpi_rank() == 0));
        if (!first) {
            CHECK(hd_optim_save(a.o, plain, prefix));
            CHECK(hd_mpi_rank() > 0 || same_dicts(saved, plain));
        }
        char path[64];
        snprintf(path, sizeof path, "ranks_shard_%d", hd_mpi_size());
        hd_dict *weights = hd_module_state_dict(a.m), *copy = hd_dict_new();
        for (int64_t k = 0; k < hd_dict_len(weights); k++) {
            const char *name = hd_dict_name(weights, k);
            hd_dict_set(copy, name, hd_clone(hd_dict_get(weights, name)));
        }
        CHECK(hd_mpi_all_ok("saving", hd_mpi_rank() > 0 || hd_checkpoint_save(path, copy, saved)));
        CHECK(steps(&a, 3, 3, 0));
        hd_tensor *want = all_parameters(a.m); /* (n,) */
        training_free(&a);
        for (int shard = 0; shard < 2; shard++) {
            training b = training_new(shard, 0);
            hd_dict *loaded = NULL, *from = NULL;
            CHECK(hd_checkpoint_load(path, &from, &loaded));
            CHECK(hd_module_load_state_dict(b.m, from, true, NULL));
            CHECK(hd_ddp_optim_load(b.d, b.o, loaded, prefix));
            CHECK(steps(&b, 3, 3, 0) && same_bits(all_parameters(b.m), want));
            hd_dict_free(loaded);
            hd_dict_free(from);
            training_free(&b);
        }
        CHECK(hd_mpi_all_ok("removing", hd_mpi_rank() > 0 || hd_checkpoint_remove(path)));
        hd_dict_free(weights);
        hd_dict_free(copy);
        hd_dict_free(saved);
        hd_dict_free(plain);
    }
    return true;
}

static bool refuses(void)
{
    training a = training_new(true, 0);
    hd_dict *d = hd_dict_new();
    CHECK(!hd_ddp_optim_load(a.d, a.o, d, "optim") && error_has(HD_VALUE, "optim.type", ""));
    CHECK(!hd_ddp_optim_save(a.d, a.o, NULL, "optim") && error_has(HD_NULL_ARG, "d is NULL", ""));
    CHECK(!hd_ddp_optim_save(a.d, NULL, d, "optim") && error_has(HD_NULL_ARG, "o", ""));
    CHECK(!hd_ddp_parameters(NULL) && error_has(HD_NULL_ARG, "hd_ddp_parameters", "d is NULL"));
    CHECK(!hd_ddp_step(NULL, a.o) && error_has(HD_NULL_ARG, "hd_ddp_step", "d is NULL"));
    hd_dict_free(d);
    training_free(&a);
    return true;
}

const ranks_case shard_cases[] = {
    {"same_steps", same_steps}, {"saves", saves}, {"refuses", refuses}, {NULL, NULL}};
