/* generate.c - the function generate() of Raschka's book (gpt.h), with top-p and a cache of keys
 * and values. */
#include "generate.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "program.h"

/* ---------------------------------------------------------------- a token */

int64_t sample_token(hd_tensor *logits, const sampling *s) /* (vocab_size,) */
{
    HD_SCOPE;
    HD_NO_GRAD;
    if (s->temperature < COLDEST) {
        return hd_item_int(hd_argmax(logits));
    }
    int64_t vocab_size = hd_size(logits, 0);
    int64_t k = s->top_k > 0 && s->top_k < vocab_size ? s->top_k : vocab_size;
    hd_tensor *ids;                                                       /* (k,) */
    hd_tensor *top = hd_topk(logits, k, 0, true, &ids);                   /* (k,), largest first */
    hd_tensor *probs = hd_softmax(hd_div_scalar(top, s->temperature), 0); /* (k,) */
    /* A token stays if the probabilities of the tokens before it sum to less than top_p. The first
     * token, whose sum is 0, always stays. fmax ensures this if top_p is 0 as a float. */
    hd_tensor *before = hd_sub(hd_cumsum(probs, 0), probs); /* (k,) */
    if (s->top_p < 1) {
        probs = hd_masked_fill(probs, hd_ge_scalar(before, fmax(s->top_p, FLT_MIN)), 0);
    }
    hd_tensor *drawn = hd_multinomial(probs, 1, false); /* (1,) */
    return hd_error_code() == HD_OK ? hd_get_int(ids, hd_item_int(drawn)) : -1;
}

/* Returns the logits (vocab_size,) of the token that follows window (num_tokens,), or NULL with an
 * error. With the cache, c already has the first tokens of window, and gets the others. */
static hd_tensor *next_logits(hd_module *gpt, hd_tensor *window, const gpt_cache *c, bool cache)
{
    hd_tensor *logits; /* (1, num_tokens, vocab_size) */
    if (cache) {
        hd_tensor *rest = hd_slice(window, 0, gpt_cache_len(c), HD_END); /* (num_tokens - seen,) */
        logits = gpt_forward_cached(gpt, hd_unsqueeze(rest, 0), c);
    } else {
        logits = hd_forward(gpt, hd_unsqueeze(window, 0));
    }
    return hd_select(hd_select(logits, 0, 0), 0, -1);
}

/* ---------------------------------------------------------------- writing */

/* Writes the bytes of tokens to a file. A token may end inside a character. Then the writer keeps
 * the first bytes of this character until the next tokens complete it, so that it never writes a
 * part of a character. */
typedef struct {
    FILE *f;
    unsigned char kept[4]; /* the first n bytes of a character; n is at most 3 between two tokens */
    int n;
} text_writer;

/* Returns the length of the UTF-8 character that begins with the n bytes at s, or 0 if no character
 * begins with them. */
static int character_length(const unsigned char *s, int n)
{
    int length = s[0] < 0x80 ? 1 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;
    bool possible = s[0] < 0x80 || (s[0] >= 0xC2 && s[0] <= 0xF4);
    if (n > 1) {
        bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
        bool surrogate = s[0] == 0xED && s[1] > 0x9F;
        bool beyond = s[0] == 0xF4 && s[1] > 0x8F; /* U+10FFFF */
        possible = possible && !overlong && !surrogate && !beyond;
    }
    for (int i = 1; i < n; i++) {
        possible = possible && s[i] >= 0x80 && s[i] <= 0xBF;
    }
    return possible ? length : 0;
}

static bool write_kept(text_writer *w)
{
    size_t n = (size_t)w->n;
    w->n = 0;
    return fwrite(w->kept, 1, n, w->f) == n;
}

/* Adds a byte to the kept ones. If they are then a whole character, or can never become one, writes
 * them. Returns false if they cannot be written. */
static bool write_byte(text_writer *w, unsigned char byte)
{
    bool ok = true;
    w->kept[w->n] = byte;
    if (w->n > 0 && character_length(w->kept, w->n + 1) == 0) {
        ok = write_kept(w);
        w->kept[0] = byte;
    }
    w->n++;
    return (character_length(w->kept, w->n) > w->n || write_kept(w)) && ok;
}

/* Flushes the file. Returns false with an error if that fails, or if ok is false because a write
 * before it failed. */
static bool flush_text(const text_writer *w, bool ok)
{
    return (ok && fflush(w->f) == 0) ||
           hd_error_set(HD_IO, "generate: the text cannot be written: %s", strerror(errno));
}

static bool write_token(text_writer *w, const hd_tokenizer *tokenizer, hd_tensor *id)
{
    int64_t n = 0;
    const char *text = hd_tokenizer_decode_bytes(tokenizer, id, &n);
    bool ok = true;
    for (int64_t i = 0; text && ok && i < n; i++) {
        ok = write_byte(w, (unsigned char)text[i]);
    }
    return text && flush_text(w, ok);
}

/* ---------------------------------------------------------------- the loop */

/* Returns the window (num_tokens,), or its second half if it is longer than the context. In the
 * second case also empties the cache. */
static hd_tensor *forget(hd_tensor *window, const gpt_config *cfg, const gpt_cache *c)
{
    if (hd_size(window, 0) <= cfg->context_length) {
        return window;
    }
    gpt_cache_truncate(c, 0);
    return hd_slice(window, 0, -(cfg->context_length + 1) / 2, HD_END);
}

bool generate(hd_module *gpt, const gpt_config *cfg, const hd_tokenizer *tokenizer, hd_tensor *ids,
              int64_t n, const sampling *s, FILE *f, writing_speed *speed)
{
    HD_SCOPE;
    HD_NO_GRAD;
    gpt_cache c = {0};
    text_writer w = {.f = f};
    hd_module_eval(gpt);
    if (s->cache && !gpt_cache_new(&c, gpt, 1)) {
        return false;
    }
    hd_tensor *window = hd_retain(forget(ids, cfg, &c)); /* (num_tokens,) */
    bool ok = window;
    double start = seconds_now(), first = start; /* the times when the prompt and the text began */
    for (int64_t i = 0; ok && i < n; i++) {
        HD_SCOPE;
        hd_tensor *logits = next_logits(gpt, window, &c, s->cache); /* (vocab_size,) */
        first = i == 0 ? seconds_now() : first;
        int64_t id = sample_token(logits, s);
        hd_tensor *token = hd_tensor_of(&id, 1); /* (1,) */
        ok = hd_error_code() == HD_OK && write_token(&w, tokenizer, token) &&
             hd_assign(&window, forget(hd_cat(0, window, token), cfg, &c));
    }
    if (w.n > 0) {
        ok = flush_text(&w, write_kept(&w)) && ok;
    }
    if (ok && speed) {
        *speed = (writing_speed){hd_numel(ids), n, first - start, seconds_now() - first};
    }
    hd_release(window);
    gpt_cache_free(&c);
    return ok;
}

/* ---------------------------------------------------------------- its speed */

static const char *tokens_word(int64_t n)
{
    return n == 1 ? "token" : "tokens";
}

enum { DURATION = 64 };

static const char *duration(double seconds, char out[DURATION])
{
    if (seconds < 0.1) {
        snprintf(out, DURATION, "%.1f ms", 1e3 * seconds);
    } else {
        snprintf(out, DURATION, "%.2f s", seconds);
    }
    return out;
}

const char *speed_line(const writing_speed *speed, char out[SPEED_LINE])
{
    char rate[64] = "", prompt[DURATION], text[DURATION];
    if (speed->tokens > 1) {
        double v = (double)(speed->tokens - 1) / (speed->seconds > 1e-9 ? speed->seconds : 1e-9);
        snprintf(rate, sizeof rate, ", %.*f tokens/s", v < 10 ? 1 : 0, v);
    }
    snprintf(out, SPEED_LINE, "prompt of %lld %s: %s; %lld %s in %s%s",
             (long long)speed->prompt_tokens, tokens_word(speed->prompt_tokens),
             duration(speed->prompt_seconds, prompt), (long long)speed->tokens,
             tokens_word(speed->tokens), duration(speed->seconds, text), rate);
    return out;
}
