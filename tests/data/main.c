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

/* ---------------------------------------------------------------- main */

int main(void)
{
    data = golden_read(GOLDEN_DIR "/data.txt");
    int result = data && folder_make() ? RUN_SUITES(SUITES) : EXIT_FAILURE;
    golden_free(data);
    folder_remove();
    return result;
}
