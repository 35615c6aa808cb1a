/* pytorch.c - the program of docs/guides/pytorch.md: weights go to PyTorch and come back.
 *
 *   pytorch save     writes weights.safetensors and x.npy, and prints the answer to x
 *   pytorch load     reads back.safetensors, and prints the answer of these weights to x */
#include "heed/heed.h"

#include <stdio.h>
#include <string.h>

/* The class CausalAttention of the notebook: d_in 3, d_out 2, context_length 6, no dropout. */
static hd_module *model_new(void)
{
    return hd_causal_attention_new(3, 2, 6, 0.0, false);
}

/* ---------------------------------------------------------------- to PyTorch */

static bool save(hd_module *model, hd_tensor *x) /* x (1, 4, 3) */
{
    hd_dict *weights = hd_module_state_dict(model);
    hd_save_safetensors("weights.safetensors", weights);
    hd_dict_free(weights);
    return hd_save_npy("x.npy", x);
}

/* ---------------------------------------------------------------- and back */

static bool load(hd_module *model)
{
    hd_dict *weights = hd_load_safetensors("back.safetensors", NULL);
    bool ok = hd_module_load_state_dict(model, weights, true, NULL);
    hd_dict_free(weights);
    return ok;
}

int main(int argc, char **argv)
{
    if (argc != 2 || (strcmp(argv[1], "save") != 0 && strcmp(argv[1], "load") != 0)) {
        fprintf(stderr, "usage: pytorch save | pytorch load\n");
        return 2;
    }
    hd_on_error(hd_error_abort, NULL);
    hd_on_warning(hd_warning_print, NULL);
    hd_manual_seed(123);
    hd_tensor *x = hd_rand(HD_FLOAT32, 1, 4, 3); /* (1, 4, 3) */
    hd_module *model = model_new();
    if (strcmp(argv[1], "save") == 0) {
        save(model, x);
    } else {
        load(model);
    }
    hd_print(hd_forward(model, x)); /* (1, 4, 2) */
    hd_module_free(model);
    return 0;
}
