/* main.c - runs every suite of the data layer. */
#include "suites.h"

/* ---------------------------------------------------------------- data */

static golden_file *data;

const golden_file *golden_data(void)
{
    return data;
}

hd_tokens *counted_tokens(int64_t n)
{
    HD_SCOPE;
    hd_tokens *t = hd_tokens_from(hd_arange(0, n, 1));
    ck_assert_ptr_nonnull(t);
    return t;
}

int64_t upcoming(hd_generator *g)
{
    hd_dict *d = hd_dict_new();
    hd_generator *copy = hd_generator_new(0);
    ck_assert(hd_generator_save(g, d, "") && hd_generator_load(copy, d, ""));
    int64_t next = (int64_t)(hd_generator_random64(copy) & INT64_MAX);
    hd_generator_free(copy);
    hd_dict_free(d);
    return next;
}

/* ---------------------------------------------------------------- main */

int main(void)
{
    data = golden_read(GOLDEN_DIR "/data.txt");
    int result = data && folder_make() ? RUN_SUITES(SUITES) : EXIT_FAILURE;
    golden_free(data);
    folder_remove();
    return result;
}
