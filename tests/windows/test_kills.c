/* test_kills.c - replaces a checkpoint again and again until it is killed, and looks whether one
 * is whole. tools/cross/run kills it.
 *
 * usage: test_kills replace|look DIR
 *
 * Each checkpoint holds its number in both files. look prints it, after hd_checkpoint_load. */
#include <stdio.h>
#include <string.h>

#include "heed/heed.h"

static bool replace(const char *dir, int64_t number)
{
    HD_SCOPE;
    hd_dict *model = hd_dict_new(), *state = hd_dict_new();
    bool ok = hd_dict_set(model, "x", hd_full(HD_FLOAT32, (double)number, 4096)) &&
              hd_dict_set_int(state, "number", number) && hd_checkpoint_replace(dir, model, state);
    hd_dict_free(model);
    hd_dict_free(state);
    return ok;
}

static bool look(const char *dir)
{
    HD_SCOPE;
    hd_dict *model = NULL, *state = NULL;
    int64_t number = -1;
    bool ok = hd_checkpoint_load(dir, &model, &state) && hd_dict_get_int(state, "number", &number);
    ok = ok && hd_get(hd_dict_get(model, "x"), 4095) == (double)number;
    hd_dict_free(model);
    hd_dict_free(state);
    printf("%lld\n", (long long)number);
    return ok;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: test_kills replace|look DIR\n");
        return 2;
    }
    bool ok = strcmp(argv[1], "replace") != 0 && look(argv[2]);
    for (int64_t i = 1; strcmp(argv[1], "replace") == 0 && (ok = replace(argv[2], i)); i++) {
        printf("%lld\n", (long long)i);
        fflush(stdout);
    }
    if (!ok) {
        fprintf(stderr, "%s\n", hd_error_message());
    }
    return ok ? 0 : 1;
}
