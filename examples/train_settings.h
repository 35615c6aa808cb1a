/* train_settings.h - the settings of train_gpt. With the defaults it learns heed's own sources. */
#ifndef HEED_EXAMPLES_TRAIN_SETTINGS_H
#define HEED_EXAMPLES_TRAIN_SETTINGS_H

#include "generate.h"
#include "heed/config.h"

enum { PATH_SIZE = 1024 };
enum { TOKENIZER_CHARS, TOKENIZER_BYTES, TOKENIZER_BPE };
enum { SCHEDULE_CONSTANT, SCHEDULE_COSINE };

typedef struct {
    char out[PATH_SIZE];
    struct {
        char text[PATH_SIZE], vocab[PATH_SIZE], merges[PATH_SIZE];
        int tokenizer;
        double train_fraction;
    } data;
    gpt_config model; /* vocab_size comes from the tokenizer */
    struct {
        int64_t steps, batch_size, accumulate, stride, warmup_steps, seed;
        double lr, min_lr, weight_decay, clip_norm;
        int schedule;
        int64_t eval_every, eval_batches, save_every, sample_every, report_every;
        bool tensorboard, shard_optimizer;
    } train;
    struct {
        char prompt[256];
        int64_t length;
        double temperature, top_p;
        int64_t top_k;
    } sample;
} settings;

extern const hd_config_table settings_table;

/* What --help-settings says about a setting. */
typedef struct {
    const char *help; /* the meaning in whole sentences */
    bool free;        /* a resumed run may change it */
} setting_meaning;

extern const setting_meaning settings_meaning[]; /* in the order of the table's fields */

/* Returns the path of the setting with this name, such as "train.batch_size" for "batch-size=8".
 * The name ends at the first "=". It is the whole path or the part after its dot, and may have
 * dashes for underscores. NULL: there is no such setting. */
const char *settings_find(const char *name);

/* Makes the paths of the files in the settings absolute. Returns false with an error if one becomes
 * too long. */
bool settings_find_files(settings *s);
int64_t settings_warmup(const settings *s); /* the number of warm-up steps */

/* Checks whether the run in dir, which had the settings `was`, may continue with `now`. If it may,
 * prints the changes. Otherwise returns false with an error. */
bool settings_go_on(const settings *was, const settings *now, const char *dir);

#endif
