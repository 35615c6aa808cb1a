/* generate.h - lets a GPT write a text, token by token. */
#ifndef HEED_EXAMPLES_GENERATE_H
#define HEED_EXAMPLES_GENERATE_H

#include "gpt.h"

/* Below this temperature the softmax could overflow, so the likeliest token is taken without a
 * draw. */
#define COLDEST 1e-5

typedef struct {
    double temperature; /* 0, or below 1e-5: always the likeliest token; 1: the model's
                         * probabilities; above 1: unlikely tokens come more often */
    int64_t top_k;      /* draw from the k likeliest tokens; 0: from all */
    double top_p;       /* draw from the likeliest tokens that together have probability p, and from
                         * one token at least; 1: from all */
    bool cache;         /* keep keys and values, which takes less time; the logits differ from those
                         * without the cache by rounding */
} sampling;

/* Draws one token from logits (vocab_size,) with the thread's generator. Returns its id, or -1 on
 * error. */
int64_t sample_token(hd_tensor *logits, const sampling *s);

/* The speed of generate. prompt_seconds is the time until the logits of the first new token are
 * known, and seconds is the time after it. */
typedef struct {
    int64_t prompt_tokens, tokens;
    double prompt_seconds, seconds;
} writing_speed;

/* Continues ids (num_tokens,) by n tokens, and writes each of them to f as soon as it is known. The
 * model sees at most context_length tokens. If there are more, generate drops the first half and
 * continues with the second. gpt is in evaluation mode afterwards. Returns false with an error on
 * failure.
 *
 * A token may end inside a UTF-8 character. generate writes the bytes of a character together, when
 * all of them are known. It writes bytes that are not UTF-8 as they are. If the text ends inside a
 * character, it writes the first bytes of this character. *speed is set on success, unless speed is
 * NULL. */
bool generate(hd_module *gpt, const gpt_config *cfg, const hd_tokenizer *tokenizer, hd_tensor *ids,
              int64_t n, const sampling *s, FILE *f, writing_speed *speed);

/* Writes a line such as "prompt of 128 tokens: 0.16 s; 201 tokens in 1.25 s, 160 tokens/s" to out,
 * without a newline, and returns out. The first token comes with the prompt, so the rate counts the
 * other tokens. If there are fewer than two tokens, the line has no rate. */
enum { SPEED_LINE = 256 };
const char *speed_line(const writing_speed *speed, char out[SPEED_LINE]);

#endif
