/* pretrained.h - texts and chats of a model in a folder of Hugging Face. */
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
    double first;            /* the time of the first token */
    int64_t tokens;          /* the number of tokens so far */
} pretrained;

/* Loads the folder a->from. On failure *p is empty. */
bool pretrained_load(pretrained *p, const arguments *a);
void pretrained_free(pretrained *p);

/* A signal handler sets it, which ends the text. */
extern volatile sig_atomic_t pretrained_stop;

/* The ids (1, t) with the tokens that the model writes after them: (1, t + n). The text of the
 * tokens goes to stdout as it grows, in whole characters. */
hd_tensor *pretrained_write(pretrained *p, hd_tensor *ids);

/* Prints the prompt and the text that continues it; *speed gets the speed of the text. */
bool pretrained_text(const arguments *a, const char *prompt, writing_speed *speed);

/* Answers each line of stdin until it ends. A line that has no answer is an error, which ends the
 * chat unless stdin and stdout are a terminal. */
bool chat(const arguments *a);

#endif
