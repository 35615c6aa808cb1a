/* train_settings.c - the table of train_gpt's settings: path, default, what is allowed. */
#include "train_settings.h"

#define INT(field, ...) HD_CONFIG_INT_OF(settings, field, #field, __VA_ARGS__)
#define DOUBLE(field, ...) HD_CONFIG_DOUBLE_OF(settings, field, #field, __VA_ARGS__)
#define BOOL(field, value) HD_CONFIG_BOOL_OF(settings, field, #field, value)
#define STRING(field, text) HD_CONFIG_STRING_OF(settings, field, #field, text)
#define ENUM(field, ...) HD_CONFIG_ENUM_OF(settings, field, #field, __VA_ARGS__)

static const hd_config_field fields[] = {
    STRING(out, ""),       /* the run's directory; "": the first free of gpt-1, gpt-2, ... */
    STRING(data.text, ""), /* a file, or a directory of .c and .h files; "": heed's own */
    ENUM(data.tokenizer, "chars", "chars|bytes|bpe"),
    STRING(data.vocab, ""), /* bpe: GPT-2's vocab.json and merges.txt */
    STRING(data.merges, ""),
    DOUBLE(data.train_fraction, 0.9, 0.01, 0.99),
    INT(model.context_length, 64, 1, 1 << 20),
    INT(model.emb_dim, 96, 1, 1 << 16),
    INT(model.n_heads, 4, 1, 1024),
    INT(model.n_layers, 3, 1, GPT_MOST_LAYERS),
    DOUBLE(model.drop_rate, 0, 0, 1),
    BOOL(model.qkv_bias, false),
    INT(train.steps, 1000, 1, 1e9),
    INT(train.batch_size, 16, 1, 1 << 20),
    INT(train.accumulate, 1, 1, 1 << 20), /* batches whose gradients make one step */
    INT(train.stride, 0, 0, 1 << 20),     /* between windows; 0: context_length */
    DOUBLE(train.lr, 2e-3, 0, 10),
    ENUM(train.schedule, "cosine", "constant|cosine"),
    INT(train.warmup_steps, 50, 0, 1e9), /* of cosine */
    DOUBLE(train.min_lr, 1e-4, 0, 10),   /* of cosine: where it ends */
    DOUBLE(train.weight_decay, 0.1, 0, 10),
    DOUBLE(train.clip_norm, 1, 0, 1e9), /* 0: gradients are not clipped */
    INT(train.eval_every, 100, 1, 1e9),
    INT(train.eval_batches, 20, 1, 1e9),
    INT(train.save_every, 100, 1, 1e9),
    INT(train.sample_every, 500, 0, 1e9), /* 0: at the end alone */
    INT(train.report_every, 25, 1, 1e9),  /* lines in a pipe */
    INT(train.seed, 123, -1e15, 1e15),
    STRING(sample.prompt, "static "),
    INT(sample.length, 400, 0, 1e9),
    DOUBLE(sample.temperature, 0.8, 0, 100),
    INT(sample.top_k, 0, 0, 1e9),
    DOUBLE(sample.top_p, 1, 0, 1),
};

static bool check(const void *config, const hd_config_source *from)
{
    const settings *s = config;
    if (s->model.emb_dim % s->model.n_heads != 0)
        return hd_config_refuse(from, "model.emb_dim", "%lld: expected a multiple of n_heads %lld",
                                (long long)s->model.emb_dim, (long long)s->model.n_heads);
    if (s->train.schedule == SCHEDULE_COSINE && s->train.warmup_steps >= s->train.steps)
        return hd_config_refuse(from, "train.warmup_steps", "%lld: expected less than steps %lld",
                                (long long)s->train.warmup_steps, (long long)s->train.steps);
    if (s->data.tokenizer == TOKENIZER_BPE && (!s->data.vocab[0] || !s->data.merges[0]))
        return hd_config_refuse(from, "data.tokenizer",
                                "bpe: expected data.vocab and data.merges to name its files");
    return true;
}

const hd_config_table settings_table = HD_CONFIG_TABLE(settings, fields, check);
