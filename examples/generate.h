/* generate.h - lets a GPT write a text, token by token. */
#ifndef HEED_EXAMPLES_GENERATE_H
#define HEED_EXAMPLES_GENERATE_H

#include "gpt.h"

typedef struct {
    double temperature; /* 0, or below 1e-5: always the likeliest token; 1: the model's
                         * probabilities; above 1: unlikely tokens come more often */
    int64_t top_k;      /* draw from the k likeliest tokens; 0: from all */
    double top_p;       /* draw from the likeliest tokens that together have probability p, and from
                         * one token at least; 1: from all */
    bool cache;         /* keep keys and values: the same text in less time */
} sampling;

/* Draws one token from logits (vocab_size,) with the thread's generator; -1 on error. */
int64_t sample_token(hd_tensor *logits, const sampling *s);

/* Writes n tokens that continue ids (num_tokens,) to f, each one as soon as it is known. The model
 * sees at most context_length tokens. When there are more, it forgets the first half and continues
 * with the second. gpt is in evaluation mode afterwards.
 *
 * A token may end inside a UTF-8 character. The bytes of this character are written together, once
 * it is whole. Bytes that are not UTF-8 are written as they are, and so is a character that is not
 * whole when the text ends. */
bool generate(hd_module *gpt, const gpt_config *cfg, const hd_tokenizer *tokenizer, hd_tensor *ids,
              int64_t n, const sampling *s, FILE *f);

#endif
