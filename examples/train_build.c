/* train_build.c - makes a run of its settings: text, windows, model, optimizer. */
#include <stdlib.h>

#include "train_run.h"
#include "train_text.h"

static hd_tokenizer *make_tokenizer(const settings *s, const char *text, int64_t n)
{
    if (s->data.tokenizer == TOKENIZER_BYTES)
        return hd_tokenizer_bytes();
    if (s->data.tokenizer == TOKENIZER_BPE)
        return hd_tokenizer_bpe(s->data.vocab, s->data.merges);
    return hd_tokenizer_chars(text, n);
}

static int64_t fnv(const char *text, size_t n)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 1099511628211u;
    return (int64_t)h;
}

bool run_read_data(run *r)
{
    HD_SCOPE;
    size_t n = 0;
    char *text = read_text(r->s.data.text[0] ? r->s.data.text : HEED_SOURCES, &n);
    if (text == NULL)
        return false;
    r->text_hash = fnv(text, n);
    r->tokenizer = make_tokenizer(&r->s, text, (int64_t)n);
    hd_tensor *ids = hd_tokenizer_encode(r->tokenizer, text, (int64_t)n, HD_SPECIAL_ALLOW);
    free(text);
    /* better now than after the first thousand steps */
    hd_tensor *prompt = hd_tokenizer_encode(r->tokenizer, r->s.sample.prompt, -1, HD_SPECIAL_ALLOW);
    if (hd_numel(prompt) == 0)
        return hd_error_set(HD_VALUE, "train_gpt: sample.prompt is empty: expected some text");
    hd_tokens *tokens = hd_tokens_from(ids); /* (count,) */
    bool ok = hd_tokens_split(tokens, r->s.data.train_fraction, &r->train_tokens, &r->val_tokens);
    hd_tokens_free(tokens);
    int64_t length = r->s.model.context_length;
    r->train_set =
        hd_windows_new(r->train_tokens, length, r->s.train.stride ? r->s.train.stride : length);
    r->val_set = hd_windows_new(r->val_tokens, length, length);
    r->s.model.vocab_size = hd_tokenizer_size(r->tokenizer);
    if (ok &&
        (hd_dataset_len(r->train_set) < r->s.train.batch_size || hd_dataset_len(r->val_set) == 0))
        return hd_error_set(HD_VALUE,
                            "train_gpt: %lld and %lld windows of %lld tokens to train and validate "
                            "with: expected at least a batch of %lld, and 1",
                            (long long)hd_dataset_len(r->train_set),
                            (long long)hd_dataset_len(r->val_set), (long long)length,
                            (long long)r->s.train.batch_size);
    return ok;
}

bool run_make_loaders(run *r)
{
    hd_loader_options o = hd_loader_defaults();
    o.batch_size = r->s.train.batch_size;
    o.shuffle = o.drop_last = true;
    r->loader = hd_loader_new(r->train_set, &o);
    r->val_generator = hd_generator_new(0);
    r->sample_generator = hd_generator_new(0);
    o.shuffle = o.drop_last = false;
    o.generator = r->val_generator;
    r->val_loader = hd_loader_new(r->val_set, &o);
    return r->loader != NULL && r->val_loader != NULL;
}

static hd_schedule *make_schedule(const settings *s, hd_optim *optim)
{
    if (s->train.schedule == SCHEDULE_CONSTANT)
        return hd_constant_lr_new(optim, 1, 0);
    hd_cosine_warmup_options o = hd_cosine_warmup_defaults();
    o.warmup_steps = s->train.warmup_steps;
    o.total_steps = s->train.steps;
    o.initial_lr = s->train.lr / (double)(s->train.warmup_steps + 1);
    o.min_lr = s->train.min_lr;
    return hd_cosine_warmup_new(optim, &o);
}

bool run_make_model(run *r)
{
    hd_manual_seed(r->s.train.seed);
    r->model = gpt_model_new(&r->s.model);
    r->parameters = hd_module_parameters(r->model);
    hd_adamw_options o = hd_adamw_defaults();
    o.lr = r->s.train.lr;
    o.weight_decay = r->s.train.weight_decay;
    r->optim = hd_adamw_new(r->parameters, &o);
    r->schedule = make_schedule(&r->s, r->optim);
    return r->schedule != NULL;
}

void run_free(run *r)
{
    log_close(&r->log);
    hd_schedule_free(r->schedule);
    hd_optim_free(r->optim);
    hd_module_free(r->model);
    hd_loader_free(r->loader);
    hd_loader_free(r->val_loader);
    hd_generator_free(r->val_generator);
    hd_generator_free(r->sample_generator);
    hd_dataset_free(r->train_set);
    hd_dataset_free(r->val_set);
    hd_tokens_free(r->train_tokens);
    hd_tokens_free(r->val_tokens);
    hd_tokenizer_free(r->tokenizer);
}
