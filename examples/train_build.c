/* train_build.c - makes a run from its settings: its text, windows, model and optimizer. */
#include <stdlib.h>
#include <string.h>

#include "train_run.h"
#include "train_text.h"

static hd_tokenizer *make_tokenizer(const settings *s, const char *text, int64_t n)
{
    if (s->data.tokenizer == TOKENIZER_BYTES) {
        return hd_tokenizer_bytes();
    }
    if (s->data.tokenizer == TOKENIZER_BPE) {
        return hd_tokenizer_bpe(s->data.vocab, s->data.merges);
    }
    return hd_tokenizer_chars(text, n);
}

static int64_t fnv(const char *text, size_t n)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ (unsigned char)text[i]) * 1099511628211u;
    }
    return (int64_t)h;
}

static bool same_text(const run *r, const hd_dict *state)
{
    int64_t hash;
    if (!state) {
        return true;
    }
    return hd_dict_get_int(state, "text.hash", &hash) &&
           (hash == r->text_hash ||
            hd_error_set(HD_VALUE,
                         "the text has changed since %s began. A resumed run needs the same text",
                         r->dir));
}

/* Puts the path of a file before the message of the current error. */
static void name_in_error(const char *path)
{
    hd_code code = hd_error_code();
    char text[512];
    snprintf(text, sizeof text, "%s", hd_error_message());
    hd_error_clear();
    hd_error_set(code, "%s: %s", path, text);
}

/* Makes the tokenizer, or loads that of a resumed run from state. Returns the ids (count,) of the
 * text, which is in the file at path, or NULL with an error. */
static hd_tensor *encode(run *r, const hd_dict *state, const char *path, const char *text, size_t n)
{
    r->tokenizer =
        state ? hd_tokenizer_load(state, "tokenizer") : make_tokenizer(&r->s, text, (int64_t)n);
    bool at_text = r->tokenizer || r->s.data.tokenizer != TOKENIZER_BPE;
    hd_tensor *ids = hd_tokenizer_encode(r->tokenizer, text, (int64_t)n, HD_SPECIAL_ALLOW);
    if (!ids && at_text) {
        name_in_error(path);
    }
    return ids;
}

/* ---------------------------------------------------------------- the prompt */

enum { PROMPT = 32 };

/* Copies the first words of the first line that is not blank to prompt. They have at most PROMPT
 * characters. */
static void begin_prompt(char prompt[], size_t room, const char *text, size_t n)
{
    size_t at = 0, length = 0, words = 0, characters = 0;
    while (at < n && (unsigned char)text[at] <= ' ') {
        at++;
    }
    const char *line = at < n ? text + at : text;
    size_t most = line + room - 1 < text + n ? room - 1 : (size_t)(text + n - line);
    for (; length < most && (length == 0 || (line[length] != '\n' && line[length] != '\r'));
         length++) {
        characters += ((unsigned char)line[length] & 0xC0) != 0x80; /* a character begins here */
        if (characters > PROMPT) {
            break;
        }
        if (line[length] == ' ') {
            words = length;
        }
    }
    bool cut = characters > PROMPT;
    memcpy(prompt, line, cut && words > 0 ? words : length); /* prompt is all zeros before */
}

/* Returns the number of bytes of the UTF-8 character at c. *code gets its code point. */
static int character(const char *c, unsigned *code)
{
    unsigned lead = (unsigned char)c[0];
    int length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    *code = length == 1 ? lead : lead & (0x7Fu >> length);
    for (int i = 1; i < length; i++) {
        *code = *code << 6 | ((unsigned char)c[i] & 0x3F);
    }
    return length;
}

/* Returns false with an error if the prompt is wrong. Without this check, the first sample would
 * fail after many steps. */
static bool check_prompt(const run *r)
{
    bool chars = r->s.data.tokenizer == TOKENIZER_CHARS;
    unsigned code;
    for (const char *c = r->prompt; chars && *c != '\0';) {
        int length = character(c, &code);
        if (hd_tokenizer_id(r->tokenizer, c, length) < 0) {
            return hd_error_set(HD_VALUE, "sample.prompt: '%.*s' (U+%04X) is not in the text",
                                length, c, code);
        }
        c += length;
    }
    return hd_numel(hd_tokenizer_encode(r->tokenizer, r->prompt, -1, HD_SPECIAL_ALLOW)) > 0 ||
           hd_error_set(HD_VALUE, "sample.prompt is empty: expected some text");
}

static bool make_prompt(run *r, const char *text, size_t n)
{
    if (r->s.sample.prompt[0] != '\0') {
        memcpy(r->prompt, r->s.sample.prompt, sizeof r->prompt);
    } else if (r->s.data.text[0] == '\0') {
        strcpy(r->prompt, "static "); /* suits heed's own sources */
    } else {
        begin_prompt(r->prompt, sizeof r->prompt, text, n);
    }
    return check_prompt(r);
}

/* ---------------------------------------------------------------- text, windows */

static bool check_windows(const run *r)
{
    long long length = r->s.model.context_length, batch = r->s.train.batch_size;
    long long n = hd_dataset_len(r->train_set);
    if (hd_dataset_len(r->val_set) == 0 || n == 0) {
        return hd_error_set(HD_VALUE,
                            "model.context_length: %lld: the text gives %lld tokens for training "
                            "and %lld for validation: expected more than context_length of each",
                            length, (long long)hd_tokens_len(r->train_tokens),
                            (long long)hd_tokens_len(r->val_tokens));
    }
    if (batch % ranks_count() != 0) {
        return hd_error_set(HD_VALUE, "train.batch_size: %lld: expected a multiple of the %d ranks",
                            batch, ranks_count());
    }
    return batch <= n || hd_error_set(HD_VALUE,
                                      "train.batch_size: %lld: the text gives %lld windows of "
                                      "context_length %lld: expected a batch of at most %lld",
                                      batch, n, length, n);
}

static bool make_windows(run *r, const hd_tensor *ids) /* (count,) */
{
    hd_tokens *tokens = hd_tokens_from(ids);
    bool ok = hd_tokens_split(tokens, r->s.data.train_fraction, &r->train_tokens, &r->val_tokens);
    hd_tokens_free(tokens);
    int64_t length = r->s.model.context_length;
    r->train_set =
        hd_windows_new(r->train_tokens, length, r->s.train.stride ? r->s.train.stride : length);
    r->val_set = hd_windows_new(r->val_tokens, length, length);
    r->s.model.vocab_size = hd_tokenizer_size(r->tokenizer);
    return ok && r->train_set && r->val_set && check_windows(r);
}

bool run_read_data(run *r, const hd_dict *state)
{
    HD_SCOPE;
    size_t n = 0;
    const char *path = r->s.data.text[0] ? r->s.data.text : HEED_SOURCES;
    char *text = read_text(path, &n);
    if (!text) {
        return false;
    }
    r->text_hash = fnv(text, n);
    hd_tensor *ids = same_text(r, state) ? encode(r, state, path, text, n) : NULL; /* (count,) */
    bool ok = ids && make_prompt(r, text, n) && make_windows(r, ids);
    free(text);
    return ok;
}

/* Makes the loader of this rank's part of each batch. On one rank, the loader of a new run draws
 * the order from the generator. On several ranks, the order depends on the seed alone, even after
 * the run is resumed on one rank. */
static hd_loader *make_train_loader(const run *r)
{
    hd_loader_options o = hd_loader_defaults();
    o.batch_size = r->s.train.batch_size / ranks_count();
    o.shuffle = o.drop_last = true;
    if (r->dealt) {
        o.num_replicas = ranks_count();
        o.rank = ranks_this();
        o.seed = r->s.train.seed;
    }
    return hd_loader_new(r->train_set, &o);
}

bool run_make_loaders(run *r)
{
    r->dealt = r->dealt || ranks_count() > 1;
    r->loader = make_train_loader(r);
    r->val_generator = hd_generator_new(0);
    r->sample_generator = hd_generator_new(0);
    hd_loader_options o = hd_loader_defaults();
    o.batch_size = r->s.train.batch_size;
    o.generator = r->val_generator;
    r->val_loader = hd_loader_new(r->val_set, &o);
    return r->loader && r->val_loader;
}

static hd_schedule *make_schedule(const settings *s, hd_optim *optim)
{
    if (s->train.schedule == SCHEDULE_CONSTANT) {
        return hd_constant_lr_new(optim, 1, 0);
    }
    hd_cosine_warmup_options o = hd_cosine_warmup_defaults();
    o.warmup_steps = settings_warmup(s);
    o.total_steps = s->train.steps;
    o.initial_lr = s->train.lr / (double)(o.warmup_steps + 1);
    o.min_lr = s->train.min_lr;
    return hd_cosine_warmup_new(optim, &o);
}

/* Makes the same model on all ranks. After that each rank draws random numbers from its own stream,
 * so that dropout differs. Rank 0 has the stream of a run on one rank. */
bool run_make_model(run *r)
{
    hd_manual_seed(r->s.train.seed);
    r->model = gpt_model_new(&r->s.model);
    if (!ranks_join(r->model, r->s.train.shard_optimizer)) {
        return false;
    }
    if (!ranks_first()) {
        hd_manual_seed(r->s.train.seed + ranks_this());
    }
    r->parameters = hd_module_parameters(r->model);
    hd_adamw_options o = hd_adamw_defaults();
    o.lr = r->s.train.lr;
    o.weight_decay = r->s.train.weight_decay;
    r->optim = hd_adamw_new(ranks_parameters(r->parameters), &o);
    r->schedule = make_schedule(&r->s, r->optim);
    return r->schedule;
}

void run_free(run *r)
{
    ranks_leave();
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
