/* generate.h - texts from a GPT, token by token. */
#ifndef HEED_EXAMPLES_GENERATE_H
#define HEED_EXAMPLES_GENERATE_H

#include "gpt.h"

typedef struct {
    double temperature; /* 0: always the likeliest token; 1: as the model says; more: bolder */
    int64_t top_k;      /* only the k likeliest tokens; 0: all */
    double top_p;       /* only the likeliest tokens that together have probability p; 1: all */
    bool cache;         /* remember keys and values (the same text, sooner) */
} sampling;

/* One token of logits (vocab_size,), drawn from the thread's generator; -1 on error. */
int64_t sample_token(hd_tensor *logits, const sampling *s);

/* Writes the text of n tokens that go on from ids (num_tokens,) to f, each as soon as it is known.
 * The model sees the last context_length tokens at most: when they are that many, it forgets all
 * but the last half, and goes on. gpt is left in evaluation mode. */
bool generate(hd_module *gpt, const gpt_config *cfg, const hd_tokenizer *tokenizer, hd_tensor *ids,
              int64_t n, const sampling *s, FILE *f);

#endif
