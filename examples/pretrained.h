/* pretrained.h - writes texts and holds chats with a model from a Hugging Face folder. */
#ifndef HEED_EXAMPLES_PRETRAINED_H
#define HEED_EXAMPLES_PRETRAINED_H

#include <signal.h>

#include "generate.h"
#include "heed/hf.h"
#include "sample_gpt.h"

typedef struct {
    hd_module *model;
    hd_tokenizer *tokenizer;
    hd_generate_options how; /* from generation_config.json and the arguments */
    double first;            /* the time at which the first token was known */
    int64_t tokens;          /* the number of tokens so far */
} pretrained;

/* Loads the model and the tokenizer in the folder a->from. Returns false with an error on failure;
 * *p is then empty. */
bool pretrained_load(pretrained *p, const arguments *a);
void pretrained_free(pretrained *p);

/* If it is not 0, the model stops writing. A signal handler sets it. */
extern volatile sig_atomic_t pretrained_stop;

/* Returns ids (1, t) followed by the n tokens that the model writes, (1, t + n), or NULL with an
 * error. The text of the tokens goes to stdout as it grows, in whole characters. */
hd_tensor *pretrained_write(pretrained *p, hd_tensor *ids);

/* Prints the prompt and the text that continues it, and sets *speed to the speed of the text.
 * Returns false with an error on failure. */
bool pretrained_text(const arguments *a, const char *prompt, writing_speed *speed);

/* Answers each line of stdin until stdin ends. If a line cannot be answered, returns false with an
 * error. But if stdin and stdout are a terminal, prints the error and continues. */
bool chat(const arguments *a);

#endif
