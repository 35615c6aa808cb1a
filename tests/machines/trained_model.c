/* trained_model.c - trains a small GPT with fixed seeds and writes its weights, to compare
 * machines.
 *
 * usage: trained_model TEXT FILE
 *
 * The bytes of FILE are the same on every 64-bit machine with glibc at the baseline CPU level, with
 * any number of threads. tests/checks/check_trained_model compares them on one machine, and
 * tools/cross/run compares machines. With another C library the weights agree to about 1e-6,
 * because its exp, log and tanh may round differently. */
#include <stdio.h>

#include "../../examples/gpt.h"

enum { STEPS = 40, BATCH = 8 };

static const gpt_config config = {.vocab_size = 65,
                                  .context_length = 32,
                                  .emb_dim = 64,
                                  .n_heads = 4,
                                  .n_layers = 2,
                                  .drop_rate = 0.1};

/* The ids of the text's characters: their places in the sorted set of them. */
static hd_tokens *read_text(const char *path)
{
    static char text[1 << 16];
    FILE *f = fopen(path, "rb");
    if (!f) {
        hd_error_set(HD_IO, "trained_model: cannot open '%s'", path);
        return NULL;
    }
    size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    hd_tokenizer *chars = hd_tokenizer_chars(text, (int64_t)n);
    hd_tokens *tokens =
        hd_tokens_from(hd_tokenizer_encode(chars, text, (int64_t)n, HD_SPECIAL_TEXT));
    hd_tokenizer_free(chars);
    return tokens;
}

static bool take_step(hd_module *model, hd_optim *optim, hd_loader *loader, double *loss_value)
{
    HD_SCOPE;
    hd_tensor *x, *y; /* (BATCH, context_length) each */
    if (!hd_loader_next(loader, &x, &y)) {
        return false; /* the end of an epoch, or an error */
    }
    hd_tensor *logits = hd_flatten(hd_forward(model, x), 0, 1); /* (b * num_tokens, vocab_size) */
    hd_tensor *loss = hd_cross_entropy(logits, hd_flatten(y, 0, 1)); /* () */
    hd_optim_zero_grad(optim);
    hd_backward(loss);
    hd_clip_grad_norm_(hd_module_parameters(model), 1.0, 2.0, false);
    hd_optim_step(optim);
    *loss_value = hd_item(loss);
    return true;
}

static void train(hd_module *model, const hd_dataset *windows)
{
    hd_adamw_options a = hd_adamw_defaults();
    a.lr = 3e-3;
    hd_optim *optim = hd_adamw_new(hd_module_parameters(model), &a);
    hd_loader_options o = hd_loader_defaults();
    o.batch_size = BATCH;
    o.shuffle = o.drop_last = true;
    hd_loader *loader = hd_loader_new(windows, &o);
    double loss = 0;
    for (int step = 0; step < STEPS && hd_error_code() == HD_OK;) {
        step += take_step(model, optim, loader, &loss);
    }
    printf("loss %.4f after %d steps\n", loss, STEPS);
    hd_loader_free(loader);
    hd_optim_free(optim);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: trained_model TEXT FILE\n");
        return 2;
    }
    hd_on_error(hd_error_print, NULL);
    hd_manual_seed(7);
    hd_tokens *tokens = read_text(argv[1]);
    hd_dataset *windows = hd_windows_new(tokens, config.context_length, 16);
    hd_module *model = gpt_model_new(&config);
    train(model, windows);
    hd_dict *state = hd_module_state_dict(model);
    hd_save_safetensors(argv[2], state);
    hd_dict_free(state);
    hd_module_free(model);
    hd_dataset_free(windows);
    hd_tokens_free(tokens);
    return hd_error_code() == HD_OK ? 0 : 1;
}
