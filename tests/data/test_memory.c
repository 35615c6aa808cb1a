/* test_memory.c - runs out of memory at each step between tokens and batches. */
#include "suites.h"
#include "support/scarce.h"

static const char *tokens_path;

static bool use_loader(hd_loader *l, hd_dict *d)
{
    HD_SCOPE;
    hd_tensor *x, *y;
    return hd_loader_next(l, &x, &y) && hd_loader_save(l, d, "loader") &&
           hd_loader_load(l, d, "loader") && hd_loader_next(l, &x, &y);
}

static bool use_tokens(const char *path, hd_dict *d)
{
    HD_SCOPE;
    hd_loader_options o = hd_loader_defaults();
    hd_dataset *parts[2] = {0};
    hd_tokens *first = NULL, *rest = NULL;
    o.shuffle = true;
    hd_tensor *ids = hd_arange(0, 20, 1);
    hd_tokens *memory = hd_tokens_from(ids);
    bool ok = hd_tokens_write(path, HD_TOKEN_U16, ids);
    hd_tokens *t = ok ? hd_tokens_open(path, HD_TOKEN_U16) : NULL;
    ok = hd_tokens_split(t, 0.9, &first, &rest);
    hd_dataset *s = ok ? hd_windows_new(first, 2, 1) : NULL;
    ok = s && hd_random_split(s, 2, (int64_t[]){10, 6}, NULL, parts);
    hd_loader *l = ok ? hd_loader_new(parts[0], &o) : NULL;
    ok = l && use_loader(l, d);
    hd_loader_free(l);
    hd_dataset_free(parts[0]);
    hd_dataset_free(parts[1]);
    hd_dataset_free(s);
    hd_tokens_free(first);
    hd_tokens_free(rest);
    hd_tokens_free(t);
    hd_tokens_free(memory);
    return ok;
}

static bool whole_way(void)
{
    hd_dict *d = hd_dict_new();
    bool ok =
        d && use_tokens(tokens_path, d) && hd_generator_save(hd_default_generator(), d, "rng");
    hd_dict_free(d);
    return ok;
}

START_TEST(runs_out_at_every_allocation)
{
    tokens_path = temporary("scarce.bin");
    ck_assert_int_gt(scarce_at_each(whole_way, false), 100);
}
END_TEST

Suite *suite_memory(void)
{
    const TTest *const tests[] = {runs_out_at_every_allocation};
    return SUITE_OF("memory", tests);
}
